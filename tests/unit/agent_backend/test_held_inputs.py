"""Keys and buttons that single acts hold: let go by whatever ends the work, once, and never left down."""

import pytest

from agent_backend.gesture import gesture_of
from agent_backend.held_inputs import held_after
from agent_backend.ports import EpisodeCommand
from tests.unit.agent_backend.conftest import Desk
from tests.unit.vocabulary.examples import step
from vocabulary.actions import Action, Click, MouseDown, MouseUp, NoAction, Point, Press, Release
from vocabulary.messages import Act, FinishEpisode, LeaveEpisode, Takeover, TakeoverInput
from vocabulary.observations import ActionError

SHIFT, DOWN = Press(key="shift"), MouseDown(point=Point(x=10, y=10))
RELEASED = gesture_of((MouseUp(), Release(key="shift")))
FAILED = ActionError(code="no_such_file", message="there is none")


@pytest.mark.parametrize(
    ("actions", "left"),
    [
        ((SHIFT, Press(key="ctrl")), (Release(key="ctrl"), Release(key="shift"))),
        ((SHIFT, Release(key="shift")), ()),
        ((SHIFT, DOWN, Click(x=1, y=1)), RELEASED.inputs),
        ((DOWN, MouseUp()), ()),
        ((SHIFT, gesture_of((Press(key="a"), Release(key="a")))), ()),
    ],
)
def test_what_is_held_follows_from_the_steps(actions: tuple[Action, ...], left: tuple[object, ...]) -> None:
    releases = held_after([step(index, action) for index, action in enumerate(actions)]).releases
    assert releases == tuple(getattr(one, "input", one) for one in left)


def test_a_failed_act_let_go_and_what_was_no_action_did_not() -> None:
    first, second = step(0, SHIFT), step(1, Click(x=1, y=1), error=FAILED)
    assert held_after([first, second]).releases == ()
    assert held_after([first, step(1, NoAction(said="?"), error=FAILED)]).releases == (Release(key="shift"),)
    assert held_after([first.model_copy(update={"undone": True})]).releases == ()


async def held(desk: Desk) -> None:
    """A running episode in which a key and a button are down."""
    await desk.started()
    for number, action in enumerate((SHIFT, DOWN)):
        await desk.send(Act(command_id=f"holding-{number}", action=action, thought="I hold it."))
        await desk.steps(number + 1)
        await desk.ready()


@pytest.mark.parametrize(
    "command",
    [
        FinishEpisode(command_id="command-1", outcome="success"),
        LeaveEpisode(command_id="command-1", how="skip", reason="tea"),
        Takeover(command_id="command-1", on=True),
    ],
    ids=lambda command: command.type,
)
async def test_what_ends_the_work_lets_go(desk: Desk, command: EpisodeCommand) -> None:
    await held(desk)
    assert await desk.code(command) == ""
    assert desk.sandbox.acts == [SHIFT, DOWN, RELEASED]


async def test_a_takeover_begins_with_nothing_held_and_ends_so(desk: Desk) -> None:
    await held(desk)
    await desk.answer(Takeover(command_id="command-1", on=True, thought="I type it."))
    await desk.answer(TakeoverInput(command_id="command-2", inputs=(Press(key="a"), Release(key="a"))))
    await desk.answer(Takeover(command_id="command-3", on=False))
    await desk.steps(3)
    await desk.answer(FinishEpisode(command_id="command-4", outcome="success"))
    assert desk.sandbox.acts.count(RELEASED) == 1


async def test_an_act_that_fails_lets_go_and_says_so(desk: Desk) -> None:
    await held(desk)
    desk.sandbox.capabilities = desk.sandbox.capabilities.model_copy(update={"kinds": ("press", "gesture")})
    await desk.send(Act(command_id="command-1", action=Click(x=5, y=5), thought="I click."))
    await desk.steps(3)
    failed = desk.store.state.steps[2]
    assert failed.error is not None
    assert (failed.error.code, "let go" in failed.error.message) == ("unsupported_action", True)
    assert desk.sandbox.acts == [SHIFT, DOWN, RELEASED]
