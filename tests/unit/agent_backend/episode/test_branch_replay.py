"""An episode that begins where an earlier one came to: its acts are done again, and what they show is compared."""

from datetime import timedelta

import pytest

from agent_backend.episode.branch_replay import ClickSpacing
from protocol.actions.types import Click
from protocol.trajectory.observations import ActionError, Observation
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Branch
from tests.unit.agent_backend.conftest import EpisodeHarness
from tests.unit.agent_backend.episode.test_undo import typed, undo


@pytest.fixture
async def earlier(harness: EpisodeHarness) -> tuple[Step, ...]:
    """What was done in an attempt before, in two steps; its pictures are kept."""
    await harness.started()
    await typed(harness, "one", "two")
    return harness.store.state.steps


def branch(before: EpisodeHarness, steps: tuple[Step, ...]) -> EpisodeHarness:
    """A desk whose episode begins after these steps."""
    made = EpisodeHarness()
    made.store.state = made.store.state.model_copy(update={"branch_of": Branch(episode="e0", steps=len(steps))})
    made.store.earlier = steps
    made.store.blobs = dict(before.store.blobs)
    return made


def looking(seen: Observation | None, other: Observation) -> Observation:
    """The same look with the picture of another."""
    assert seen is not None
    return seen.model_copy(update={"screenshot": other.screenshot})


async def test_it_begins_where_the_earlier_one_was(harness: EpisodeHarness, earlier: tuple[Step, ...]) -> None:
    later = branch(harness, earlier)
    await later.started()
    assert later.sandbox.typed == "onetwo"
    state = later.store.state
    assert [(step.decision, step.policy, step.thought) for step in state.steps] == [
        ("again", None, "It is asked for."),
        ("again", None, "It is asked for."),
    ]
    assert state.branch_of == Branch(episode="e0", steps=2, state="reached")
    assert [step.action for step in later.policy.asked[-1]] == [step.action for step in earlier]
    assert state.observation is not None
    assert earlier[-1].after is not None
    assert state.observation.screenshot == earlier[-1].after.screenshot
    await later.kill()


@pytest.mark.parametrize("redrawn", [False, True])
async def test_an_act_ends_at_the_screen_it_led_to_where_the_next_one_found_that(
    harness: EpisodeHarness, earlier: tuple[Step, ...], redrawn: bool
) -> None:
    first, last = earlier
    assert first.after is not None
    assert last.after is not None
    if redrawn:
        last = last.model_copy(update={"before": looking(last.before, last.after)})
    later = branch(harness, (first, last))
    later.start()
    await later.until(lambda: later.store.state.status == "running")
    assert later.sandbox.expected[0] == (None if redrawn else first.after.screenshot)
    assert set(later.sandbox.expected[1:]) <= {None}, "the last act is waited for"
    await later.kill()


@pytest.mark.parametrize(
    ("between", "moved", "pause"), [(2.0, 3, 0.5), (0.2, 3, 0.0), (2.0, 30, 0.0)], ids=["apart", "double", "elsewhere"]
)
def test_two_clicks_at_a_place_do_not_become_a_double_click(
    earlier: tuple[Step, ...], between: float, moved: int, pause: float
) -> None:
    first = earlier[0].model_copy(update={"action": Click(x=100, y=100)})
    later = first.started_at + timedelta(seconds=between)
    again = first.model_copy(update={"action": Click(x=100 + moved, y=100), "started_at": later})
    clicks = ClickSpacing()
    assert clicks.pause_before(first, 10.0) == 0.0
    assert clicks.pause_before(earlier[1], 10.05) == 0.0, "typing is no click"
    assert clicks.pause_before(again, 10.1) == pytest.approx(pause)


async def test_what_was_done_again_is_nothing_to_take_back(harness: EpisodeHarness, earlier: tuple[Step, ...]) -> None:
    later = branch(harness, earlier[:1])
    await later.started()
    assert await later.code(undo(1)) == "cannot_undo"
    assert later.sandbox.typed == "one"
    await later.kill()


async def test_another_picture_on_the_way_and_it_begins_at_the_start(
    harness: EpisodeHarness, earlier: tuple[Step, ...]
) -> None:
    first = earlier[0].model_copy(update={"after": looking(earlier[0].after, earlier[0].before)})
    later = branch(harness, (first, earlier[1]))
    await later.started()
    assert later.sandbox.typed == ""
    assert later.store.state.steps == ()
    told = later.store.state.branch_of
    assert told is not None
    assert told.state == "missed"
    assert "the screen after step 1 is another" in told.reason
    await later.kill()


async def test_an_act_that_failed_must_fail_alike(harness: EpisodeHarness, earlier: tuple[Step, ...]) -> None:
    failed = earlier[0].model_copy(update={"error": ActionError(code="no_such_window", message="it was closed")})
    later = branch(harness, (failed,))
    await later.started()
    told = later.store.state.branch_of
    assert told is not None
    assert (told.state, told.reason) == ("missed", "step 1: what failed then was done now")
    await later.kill()


async def test_a_picture_that_nobody_kept(harness: EpisodeHarness, earlier: tuple[Step, ...]) -> None:
    assert earlier[0].before.screenshot is not None
    lost = earlier[0].before.screenshot.model_copy(update={"sha256": "0" * 64})
    first = earlier[0].model_copy(update={"before": earlier[0].before.model_copy(update={"screenshot": lost})})
    later = branch(harness, (first,))
    await later.started()
    told = later.store.state.branch_of
    assert told is not None
    assert told.reason == "the screen before step 1 is not kept any more"
    await later.kill()


async def test_a_crash_while_its_steps_are_stored(harness: EpisodeHarness, earlier: tuple[Step, ...]) -> None:
    later = branch(harness, earlier)
    later.store.broken = {"change": RuntimeError("the database is gone")}
    with pytest.raises(RuntimeError):
        await later.start()
    later.store.broken = {}
    await later.started()
    assert later.sandbox.typed == "onetwo"
    assert [step.index for step in later.store.state.steps] == [0, 1]
    await later.kill()
