"""A person's hand on the machine: inputs at once, one step when they rest."""

import pytest

from agent_backend.errors import EpisodeFenced
from tests.unit.agent_backend.conftest import Desk, warming
from vocabulary.actions import Gesture, InputEvent, MouseDown, MouseUp, MoveTo, Point, Press, Release, TypeText
from vocabulary.messages import Act, FinishEpisode, LeaveEpisode, Rejected, Takeover, TakeoverInput

DOWN = MouseDown(point=Point(x=10, y=10))
UP = MouseUp(point=Point(x=90, y=90))


def takeover(number: int, on: bool, thought: str = "") -> Takeover:
    return Takeover(command_id=f"takeover-{number}", on=on, thought=thought)


def inputs(number: int, *events: InputEvent) -> TakeoverInput:
    return TakeoverInput(command_id=f"inputs-{number}", inputs=events)


def performed(desk: Desk) -> list[InputEvent]:
    """What the machine did, input by input."""
    return [timed.input for act in desk.sandbox.acts if isinstance(act, Gesture) for timed in act.inputs]


def done(desk: Desk, index: int = 0) -> list[InputEvent]:
    action = desk.store.state.steps[index].action
    assert isinstance(action, Gesture)
    return [timed.input for timed in action.inputs]


async def test_ending_makes_one_step_of_the_inputs(desk: Desk) -> None:
    await desk.started()
    assert await desk.code(takeover(1, True)) == ""
    assert desk.store.state.takeover
    assert await desk.code(inputs(1, DOWN, MoveTo(x=50, y=50))) == ""
    assert desk.store.state.pending is not None
    assert await desk.code(inputs(2, UP)) == ""
    assert await desk.code(takeover(2, False, "I draw a line.")) == ""
    step = desk.store.state.steps[0]
    assert done(desk) == [DOWN, MoveTo(x=50, y=50), UP] == performed(desk)
    assert (step.decision, step.actor, step.thought) == ("takeover", "human", "I draw a line.")
    assert step.before.rest == "skipped"
    assert step.after is not None
    assert step.after.settled
    assert not desk.store.state.takeover
    await desk.ready()


async def test_a_pause_closes_the_gesture_when_its_thought_is_known(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True, "I trace the outline."))
    await desk.answer(inputs(1, DOWN, UP))
    await desk.steps(1)
    assert desk.store.state.steps[0].thought == "I trace the outline."
    assert desk.store.state.takeover
    assert desk.store.state.proposals == ()
    await desk.answer(inputs(2, DOWN, UP))
    await desk.steps(2)


async def test_a_pause_waits_for_what_is_held(desk: Desk) -> None:
    desk.store.state = warming(thought_required=False)
    await desk.started()
    await desk.answer(takeover(1, True))
    await desk.answer(inputs(1, DOWN))
    await desk.answer(inputs(2, Press(key="shift"), MoveTo(x=20, y=20)))
    await desk.answer(takeover(2, False))
    assert len(desk.store.state.steps) == 1
    assert done(desk)[-2:] == [MouseUp(), Release(key="shift")], "ending lets go of what is held"


async def test_a_gesture_without_a_thought_stays_open(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True))
    await desk.answer(inputs(1, DOWN, UP))
    assert await desk.code(takeover(2, False)) == "thought_required"
    assert desk.store.state.takeover
    assert desk.store.state.steps == ()
    assert await desk.code(takeover(3, False, "I meant it.")) == ""
    assert len(desk.store.state.steps) == 1


async def test_nothing_done_makes_no_step(desk: Desk) -> None:
    await desk.started()
    offered = desk.store.state.proposals
    await desk.answer(takeover(1, True))
    assert await desk.code(takeover(2, False)) == ""
    assert desk.store.state.steps == ()
    assert desk.store.state.proposals == offered


async def test_resent_inputs_are_done_once(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True))
    await desk.answer(inputs(1, DOWN))
    await desk.answer(inputs(2, UP))
    assert await desk.code(inputs(2, UP)) == ""
    assert await desk.code(inputs(2, DOWN)) == "command_conflict"
    await desk.answer(takeover(2, False, "A click."))
    assert done(desk) == [DOWN, UP]


async def test_inputs_under_the_id_of_another_command_are_refused_together(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True))
    before = len(desk.events)
    reused = TakeoverInput(command_id="takeover-1", inputs=(DOWN,))
    await desk.send(reused, inputs(2, MoveTo(x=20, y=20)))
    await desk.until(lambda: len(desk.events) >= before + 2)
    refused = [event for event in desk.events[before:] if isinstance(event, Rejected)]
    assert [(event.command_id, event.code) for event in refused] == [
        ("takeover-1", "command_conflict"),
        ("inputs-2", "command_conflict"),
    ]
    assert performed(desk) == []
    assert await desk.code(inputs(2, DOWN, UP)) == "", "a refused input may come again"
    await desk.answer(takeover(2, False, "A click."))
    assert done(desk) == [DOWN, UP]


async def test_who_lost_the_episode_moves_nothing_more(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True))
    await desk.answer(inputs(1, DOWN))
    desk.store.fence()
    await desk.send(inputs(2, MoveTo(x=50, y=50)))
    with pytest.raises(EpisodeFenced):
        await desk.end()
    assert performed(desk) == [DOWN]


async def test_takeover_excludes_other_ways(desk: Desk) -> None:
    await desk.started()
    assert await desk.code(inputs(1, DOWN)) == "not_in_takeover"
    assert await desk.code(takeover(0, False)) == "not_in_takeover"
    await desk.answer(takeover(1, True))
    assert await desk.code(Act(command_id="command-1", action=TypeText(text="x"), thought="t")) == "in_takeover"
    assert await desk.code(FinishEpisode(command_id="command-2", outcome="success")) == "in_takeover"
    assert await desk.code(inputs(2, MoveTo(x=1280, y=0))) == "off_screen"
    assert desk.sandbox.acts == []


async def test_leaving_keeps_what_was_done(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True))
    await desk.answer(inputs(1, DOWN))
    await desk.answer(LeaveEpisode(command_id="command-1", how="release"))
    await desk.end()
    assert done(desk) == [DOWN, MouseUp()]
    assert desk.store.state.status == "left"


async def test_a_fast_hand_is_followed_in_order_and_in_few_calls(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True))
    path = [MoveTo(x=x, y=x) for x in range(60)]
    for at in range(0, 60, 20):
        await desk.send(*(inputs(number, path[number]) for number in range(at, at + 20)))
        await desk.until(lambda: len(performed(desk)) == at + 20)  # noqa: B023 - waited for at once
    await desk.answer(takeover(2, False, "A long way."))
    assert done(desk) == path == performed(desk)
    assert len(desk.sandbox.acts) < 20


async def test_the_frame_before_a_long_gesture_is_kept(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True))
    desk.sandbox.screen.pixels[:50, :50] = 255  # a frame nobody has seen yet
    for number in range(desk.limits.acting.pictures + 2):
        await desk.answer(inputs(number, MoveTo(x=10 * number, y=200)))
    await desk.answer(takeover(2, False, "A long way."))
    before = desk.store.state.steps[0].before.screenshot
    assert before is not None
    assert before.sha256 in desk.store.blobs


async def test_a_crash_in_a_takeover_says_so_and_ends_it(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True))
    await desk.answer(inputs(1, DOWN))
    await desk.kill()
    await desk.started()
    step = desk.store.state.steps[0]
    assert (step.decision, step.after, step.error and step.error.code) == ("takeover", None, "outcome_unknown")
    assert not desk.store.state.takeover
    assert performed(desk) == [DOWN]


async def test_a_machine_lost_in_a_takeover_fails_the_episode(desk: Desk) -> None:
    await desk.started()
    await desk.answer(takeover(1, True))
    await desk.answer(inputs(1, DOWN))
    desk.sandbox.crash()
    await desk.send(inputs(2, UP))
    await desk.until(lambda: desk.store.state.status == "failed")
    step = desk.store.state.steps[0]
    assert (step.after, step.error and step.error.code) == (None, "outcome_unknown")


async def test_gestures_count_as_steps(desk: Desk) -> None:
    desk.store.state = warming(task=desk.store.state.task.model_copy(update={"max_steps": 1}))
    await desk.started()
    await desk.answer(takeover(1, True, "I draw."))
    await desk.answer(inputs(1, DOWN, UP))
    await desk.steps(1)
    assert await desk.code(inputs(2, DOWN, UP)) == "step_limit"


@pytest.mark.parametrize("kinds", [("click",), ()])
async def test_a_machine_without_gestures_cannot_be_taken_over(desk: Desk, kinds: tuple[str, ...]) -> None:
    desk.sandbox.capabilities = desk.sandbox.capabilities.model_copy(update={"kinds": kinds})
    await desk.started()
    assert await desk.code(takeover(1, True)) == "unsupported_action"
