"""A person's hand on the machine: inputs at once, one step when they rest."""

from dataclasses import replace

import pytest

from agent_backend.errors import EpisodeFenced
from agent_backend.interfaces import PassControl
from protocol.actions.types import Gesture, InputEvent, MouseDown, MouseUp, MoveTo, Point, Press, Release, TypeText
from protocol.messages.events import Act, FinishEpisode, LeaveEpisode, Rejected, Takeover, TakeoverInput, WriteThought
from tests.unit.agent_backend.conftest import EpisodeHarness, new_episode

DOWN = MouseDown(point=Point(x=10, y=10))
UP = MouseUp(point=Point(x=90, y=90))


def takeover(number: int, on: bool, thought: str = "") -> Takeover:
    return Takeover(command_id=f"takeover-{number}", on=on, thought=thought)


def inputs(number: int, *events: InputEvent) -> TakeoverInput:
    return TakeoverInput(command_id=f"inputs-{number}", inputs=events)


def performed(harness: EpisodeHarness) -> list[InputEvent]:
    """What the machine did, input by input."""
    return [timed.input for act in harness.sandbox.acts if isinstance(act, Gesture) for timed in act.inputs]


def done(harness: EpisodeHarness, index: int = 0) -> list[InputEvent]:
    action = harness.store.state.steps[index].action
    assert isinstance(action, Gesture)
    return [timed.input for timed in action.inputs]


async def test_ending_makes_one_step_of_the_inputs(harness: EpisodeHarness) -> None:
    await harness.started()
    assert await harness.code(takeover(1, True)) == ""
    assert harness.store.state.takeover
    assert await harness.code(inputs(1, DOWN, MoveTo(x=50, y=50))) == ""
    assert harness.store.state.pending is not None
    assert await harness.code(inputs(2, UP)) == ""
    assert await harness.code(takeover(2, False, "I draw a line.")) == ""
    step = harness.store.state.steps[0]
    assert done(harness) == [DOWN, MoveTo(x=50, y=50), UP] == performed(harness)
    assert (step.decision, step.actor, step.thought) == ("takeover", "human", "I draw a line.")
    assert step.before.rest == "skipped"
    assert step.after is not None
    assert step.after.settled
    assert not harness.store.state.takeover
    await harness.ready()


async def test_a_pause_closes_the_gesture_when_its_thought_is_known(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True, "I trace the outline."))
    await harness.answer(inputs(1, DOWN, UP))
    await harness.steps(1)
    assert harness.store.state.steps[0].thought == "I trace the outline."
    assert harness.store.state.takeover
    assert harness.store.state.proposals == ()
    await harness.answer(inputs(2, DOWN, UP))
    await harness.steps(2)


async def test_a_pause_waits_for_what_is_held(harness: EpisodeHarness) -> None:
    harness.store.state = new_episode(thought_required=False)
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, DOWN))
    await harness.answer(inputs(2, Press(key="shift"), MoveTo(x=20, y=20)))
    await harness.answer(takeover(2, False))
    assert len(harness.store.state.steps) == 1
    assert done(harness)[-2:] == [MouseUp(), Release(key="shift")], "ending lets go of what is held"


async def test_a_silence_lets_go_of_what_is_held(harness: EpisodeHarness) -> None:
    """The page is gone, or frozen: a key that nobody holds any more would repeat."""
    harness.limits = replace(harness.limits, executor=replace(harness.limits.executor, hold_silence=0.05))
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, Press(key="a"), DOWN))
    await harness.until(lambda: performed(harness)[-2:] == [MouseUp(), Release(key="a")])
    assert harness.store.state.takeover
    assert await harness.code(inputs(2, TypeText(text="@"))) == ""
    assert await harness.code(takeover(2, False, "I held a key.")) == ""
    assert done(harness) == [Press(key="a"), DOWN, MouseUp(), Release(key="a"), TypeText(text="@")]


async def test_what_the_page_says_it_holds_stays_down(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, Press(key="a")))
    executor = harness.runner._executor
    first = executor.releases_at
    assert first is not None
    assert await harness.code(inputs(2)) == ""
    assert executor.releases_at is not None
    assert executor.releases_at > first
    assert await harness.code(takeover(2, False, "I held a key.")) == ""
    assert done(harness) == [Press(key="a"), Release(key="a")]


async def test_where_the_thought_may_come_later_a_gesture_owes_it(harness: EpisodeHarness) -> None:
    harness.store.state = new_episode(thought_later=True)
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, DOWN, UP))
    await harness.steps(1)
    assert await harness.code(takeover(2, False)) == ""
    assert [step.thought_timing for step in harness.store.state.steps] == ["owed"]
    assert await harness.code(WriteThought(command_id="thought-1", index=0, thought="I drew a line.")) == ""
    (step,) = harness.store.state.steps
    assert (step.thought, step.thought_timing) == ("I drew a line.", "later")
    again = WriteThought(command_id="thought-2", index=0, thought="I drew two.")
    assert await harness.code(again) == "no_thought_owed"


async def test_saying_that_nothing_is_held_begins_no_gesture(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    assert await harness.code(inputs(1)) == ""
    assert await harness.code(takeover(2, False)) == ""
    assert harness.store.state.steps == ()


async def test_a_gesture_without_a_thought_stays_open(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, DOWN, UP))
    assert await harness.code(takeover(2, False)) == "thought_required"
    assert harness.store.state.takeover
    assert harness.store.state.steps == ()
    assert await harness.code(takeover(3, False, "I meant it.")) == ""
    assert len(harness.store.state.steps) == 1


async def test_nothing_done_makes_no_step(harness: EpisodeHarness) -> None:
    await harness.started()
    offered = harness.store.state.proposals
    await harness.answer(takeover(1, True))
    assert await harness.code(takeover(2, False)) == ""
    assert harness.store.state.steps == ()
    assert harness.store.state.proposals == offered


async def test_resent_inputs_are_done_once(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, DOWN))
    await harness.answer(inputs(2, UP))
    assert await harness.code(inputs(2, UP)) == ""
    assert await harness.code(inputs(2, DOWN)) == "command_conflict"
    await harness.answer(takeover(2, False, "A click."))
    assert done(harness) == [DOWN, UP]


async def test_inputs_under_the_id_of_another_command_are_refused_together(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    before = len(harness.events)
    reused = TakeoverInput(command_id="takeover-1", inputs=(DOWN,))
    await harness.send(reused, inputs(2, MoveTo(x=20, y=20)))
    await harness.until(lambda: len(harness.events) >= before + 2)
    refused = [event for event in harness.events[before:] if isinstance(event, Rejected)]
    assert [(event.command_id, event.code) for event in refused] == [
        ("takeover-1", "command_conflict"),
        ("inputs-2", "command_conflict"),
    ]
    assert performed(harness) == []
    assert await harness.code(inputs(2, DOWN, UP)) == "", "a refused input may come again"
    await harness.answer(takeover(2, False, "A click."))
    assert done(harness) == [DOWN, UP]


async def test_who_lost_the_episode_moves_nothing_more(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, DOWN))
    harness.store.fence()
    await harness.send(inputs(2, MoveTo(x=50, y=50)))
    with pytest.raises(EpisodeFenced):
        await harness.end()
    assert performed(harness) == [DOWN]


async def test_takeover_excludes_other_ways(harness: EpisodeHarness) -> None:
    await harness.started()
    assert await harness.code(inputs(1, DOWN)) == "not_in_takeover"
    assert await harness.code(takeover(0, False)) == "not_in_takeover"
    await harness.answer(takeover(1, True))
    assert await harness.code(Act(command_id="command-1", action=TypeText(text="x"), thought="t")) == "in_takeover"
    assert await harness.code(FinishEpisode(command_id="command-2", outcome="success")) == "in_takeover"
    assert await harness.code(inputs(2, MoveTo(x=1280, y=0))) == "off_screen"
    assert harness.sandbox.acts == []


async def test_leaving_keeps_what_was_done(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, DOWN))
    await harness.answer(LeaveEpisode(command_id="command-1", how="release"))
    await harness.end()
    assert done(harness) == [DOWN, MouseUp()]
    assert harness.store.state.status == "left"


async def test_a_fast_hand_is_followed_in_order_and_in_few_calls(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    path = [MoveTo(x=x, y=x) for x in range(60)]
    for at in range(0, 60, 20):
        await harness.send(*(inputs(number, path[number]) for number in range(at, at + 20)))
        await harness.until(lambda: len(performed(harness)) == at + 20)  # noqa: B023 - waited for at once
    await harness.answer(takeover(2, False, "A long way."))
    assert done(harness) == path == performed(harness)
    assert len(harness.sandbox.acts) < 20


async def test_the_frame_before_a_long_gesture_is_kept(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    harness.sandbox.screen.pixels[:50, :50] = 255  # a frame nobody has seen yet
    for number in range(harness.limits.executor.pictures + 2):
        await harness.answer(inputs(number, MoveTo(x=10 * number, y=200)))
    await harness.answer(takeover(2, False, "A long way."))
    before = harness.store.state.steps[0].before.screenshot
    assert before is not None
    assert before.sha256 in harness.store.blobs


async def test_a_crash_in_a_takeover_says_so_and_ends_it(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, DOWN))
    await harness.kill()
    await harness.started()
    step = harness.store.state.steps[0]
    assert (step.decision, step.after, step.error and step.error.code) == ("takeover", None, "outcome_unknown")
    assert not harness.store.state.takeover
    assert performed(harness) == [DOWN]


async def test_a_machine_lost_in_a_takeover_fails_the_episode(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True))
    await harness.answer(inputs(1, DOWN))
    harness.sandbox.crash()
    await harness.send(inputs(2, UP))
    await harness.until(lambda: harness.store.state.status == "failed")
    step = harness.store.state.steps[0]
    assert (step.after, step.error and step.error.code) == (None, "outcome_unknown")


async def test_gestures_count_as_steps(harness: EpisodeHarness) -> None:
    harness.store.state = new_episode(task=harness.store.state.task.model_copy(update={"max_steps": 1}))
    await harness.started()
    await harness.answer(takeover(1, True, "I draw."))
    await harness.answer(inputs(1, DOWN, UP))
    await harness.steps(1)
    assert await harness.code(inputs(2, DOWN, UP)) == "step_limit"


@pytest.mark.parametrize("kinds", [("click",), ()])
async def test_a_machine_without_gestures_cannot_be_taken_over(harness: EpisodeHarness, kinds: tuple[str, ...]) -> None:
    harness.sandbox.capabilities = harness.sandbox.capabilities.model_copy(update={"kinds": kinds})
    await harness.started()
    assert await harness.code(takeover(1, True)) == "unsupported_action"


async def test_another_person_goes_on_with_a_step_of_their_own(harness: EpisodeHarness) -> None:
    await harness.started()
    await harness.answer(takeover(1, True, "I draw a line."))
    await harness.answer(inputs(1, DOWN))
    assert await harness.code(PassControl(command_id="pass-1")) == ""
    assert harness.store.state.takeover
    assert await harness.code(inputs(2, DOWN, UP)) == ""
    assert await harness.code(takeover(2, False, "I select the file.")) == ""
    said = [(step.command_id, step.thought) for step in harness.store.state.steps]
    assert said == [("inputs-1", "I draw a line."), ("inputs-2", "I select the file.")]
    assert done(harness, 1) == [DOWN, UP]
