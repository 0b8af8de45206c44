"""Keys and buttons that single acts hold: let go by whatever ends the work, once, and never left down."""

import pytest

from agent_backend.episode.held_inputs import held_after
from agent_backend.episode.takeover import build_gesture
from agent_backend.interfaces import EpisodeCommand
from protocol.actions.types import Action, Click, MouseDown, MouseUp, NoAction, Point, Press, Release
from protocol.messages.events import Act, FinishEpisode, LeaveEpisode, Takeover, TakeoverInput
from protocol.trajectory.observations import ActionError
from tests.unit.agent_backend.conftest import EpisodeHarness
from tests.unit.protocol.examples import step

SHIFT, DOWN = Press(key="shift"), MouseDown(point=Point(x=10, y=10))
RELEASED = build_gesture((MouseUp(), Release(key="shift")))
FAILED = ActionError(code="no_such_file", message="there is none")


@pytest.mark.parametrize(
    ("actions", "left"),
    [
        ((SHIFT, Press(key="ctrl")), (Release(key="ctrl"), Release(key="shift"))),
        ((SHIFT, Release(key="shift")), ()),
        ((SHIFT, DOWN, Click(x=1, y=1)), RELEASED.inputs),
        ((DOWN, MouseUp()), ()),
        ((SHIFT, build_gesture((Press(key="a"), Release(key="a")))), ()),
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


async def held(harness: EpisodeHarness) -> None:
    """A running episode in which a key and a button are down."""
    await harness.started()
    for number, action in enumerate((SHIFT, DOWN)):
        await harness.send(Act(command_id=f"holding-{number}", action=action, thought="I hold it."))
        await harness.steps(number + 1)
        await harness.ready()


@pytest.mark.parametrize(
    "command",
    [
        FinishEpisode(command_id="command-1", outcome="success"),
        LeaveEpisode(command_id="command-1", how="skip", reason="tea"),
        Takeover(command_id="command-1", on=True),
    ],
    ids=lambda command: command.type,
)
async def test_what_ends_the_work_lets_go(harness: EpisodeHarness, command: EpisodeCommand) -> None:
    await held(harness)
    assert await harness.code(command) == ""
    assert harness.sandbox.acts == [SHIFT, DOWN, RELEASED]


async def test_a_takeover_begins_with_nothing_held_and_ends_so(harness: EpisodeHarness) -> None:
    await held(harness)
    await harness.answer(Takeover(command_id="command-1", on=True, thought="I type it."))
    await harness.answer(TakeoverInput(command_id="command-2", inputs=(Press(key="a"), Release(key="a"))))
    await harness.answer(Takeover(command_id="command-3", on=False))
    await harness.steps(3)
    await harness.answer(FinishEpisode(command_id="command-4", outcome="success"))
    assert harness.sandbox.acts.count(RELEASED) == 1


async def test_an_act_that_fails_lets_go_and_says_so(harness: EpisodeHarness) -> None:
    await held(harness)
    harness.sandbox.capabilities = harness.sandbox.capabilities.model_copy(update={"kinds": ("press", "gesture")})
    await harness.send(Act(command_id="command-1", action=Click(x=5, y=5), thought="I click."))
    await harness.steps(3)
    failed = harness.store.state.steps[2]
    assert failed.error is not None
    assert (failed.error.code, "let go" in failed.error.message) == ("unsupported_action", True)
    assert harness.sandbox.acts == [SHIFT, DOWN, RELEASED]
