"""Trimming and splitting: parts hold what they should, end as they should, and the whole stays as it was."""

import pytest

from protocol.trajectory.memory import Memory
from protocol.trajectory.observations import Verdict
from protocol.trajectory.reviews import Segment
from protocol.trajectory.segments import InvalidSegments, split_segment, split_trajectory, trim_segments, whole_segment
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from tests.contract.test_store import NOW, POLICY, proposal, step

WHOLE = Trajectory(
    id="e",
    task=Task(id="t", instruction="Do it", suite="fake", name="type", parameters={}),
    origin="annotation",
    steps=tuple(step(index, f"command-{index}") for index in range(4)),
    proposals=tuple((proposal(index + 1),) for index in range(4)),
    memories=(Memory(through=1, text="So far", policy=POLICY, written_at=NOW),),
    outcome="success",
    answer="42",
    verdict=Verdict(success=True, score=1.0),
    terminated=True,
    truncated=False,
    created_at=NOW,
)


def ids(part: Trajectory) -> list[str]:
    return [step.command_id for step in part.steps]


def test_a_whole_attempt_stays_itself() -> None:
    assert split_trajectory(WHOLE, ()) == (WHOLE,)
    assert split_trajectory(WHOLE, whole_segment(4)) == (WHOLE,)


def test_trimming_drops_both_ends_and_numbers_anew() -> None:
    (part,) = split_trajectory(WHOLE, trim_segments(whole_segment(4), 1, 2))
    assert ids(part) == ["command-1", "command-2"]
    assert [step.index for step in part.steps] == [0, 1]
    assert [offered[0].id for offered in part.proposals] == ["proposal-2", "proposal-3"]
    assert [note.through for note in part.memories] == [0]
    assert (part.id, part.outcome, part.answer) == ("e", "success", "42")


def test_only_the_last_part_ended_as_the_whole_did() -> None:
    first, second = split_trajectory(WHOLE, split_segment(whole_segment(4), 3, before="Open it", after="Close it"))
    assert (ids(first), ids(second)) == (["command-0", "command-1", "command-2"], ["command-3"])
    assert (first.id, second.id) == ("e.1", "e.2")
    assert (first.outcome, first.verdict, first.terminated, first.truncated) == (None, None, False, True)
    assert (second.outcome, second.terminated) == ("success", True)
    assert (first.task.instruction, second.task.instruction) == ("Open it", "Close it")
    assert second.memories == ()


def test_trimming_a_split_one_keeps_the_parts_it_touches() -> None:
    parts = split_segment(whole_segment(4), 2)
    assert trim_segments(parts, 1, 3) == (Segment(first=1, last=1), Segment(first=2, last=3))
    assert trim_segments(parts, 2, 2) == (Segment(first=2, last=2),)


@pytest.mark.parametrize("at", [0, 4, 9])
def test_a_split_where_there_is_nothing_to_split_is_refused(at: int) -> None:
    with pytest.raises(InvalidSegments):
        split_segment(whole_segment(4), at)


def test_a_cut_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(InvalidSegments):
        trim_segments(whole_segment(4), 3, 2)
    with pytest.raises(InvalidSegments):
        trim_segments(whole_segment(4), 7, 9)
    with pytest.raises(InvalidSegments):
        whole_segment(0)
