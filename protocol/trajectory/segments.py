"""Trimming and splitting an attempt: views of it, the record stays whole."""

from protocol.trajectory.proposals import Proposal
from protocol.trajectory.reviews import ReviewText, Segment
from protocol.trajectory.trajectories import Trajectory

Segments = tuple[Segment, ...]
"""In order, none over another; empty: the whole attempt."""


class InvalidSegments(ValueError):
    """What was asked for leaves no step, or is not where it could be cut."""


def whole_segment(count: int) -> Segments:
    """All steps as one part. Raises InvalidSegments where there are none."""
    if count < 1:
        raise InvalidSegments("there is no step to keep")
    return (Segment(first=0, last=count - 1),)


def trim_segments(segments: Segments, first: int, last: int) -> Segments:
    """What lies from `first` to `last`. Raises InvalidSegments where nothing would be left."""
    remaining = tuple(
        part.model_copy(update={"first": max(part.first, first), "last": min(part.last, last)})
        for part in segments
        if part.first <= last and part.last >= first
    )
    if first > last or not remaining:
        raise InvalidSegments("nothing would be left")
    return remaining


def split_segment(segments: Segments, at: int, *, before: ReviewText = "", after: ReviewText = "") -> Segments:
    """Split the part that holds step `at`; the second half begins there.

    Raises InvalidSegments where `at` begins a part or lies in none."""
    if not any(part.first < at <= part.last for part in segments):
        raise InvalidSegments(f"no part can be split before step {at + 1}")
    parts: list[Segment] = []
    for part in segments:
        if part.first < at <= part.last:
            parts.append(Segment(first=part.first, last=at - 1, instruction=before or part.instruction))
            parts.append(Segment(first=at, last=part.last, instruction=after or part.instruction))
        else:
            parts.append(part)
    return tuple(parts)


def split_trajectory(trajectory: Trajectory, segments: Segments) -> tuple[Trajectory, ...]:
    """Each part as a trajectory, its steps numbered from 0. Only the last one ended as the whole did, the others were
    cut off. The policy's notes go with the part they are about."""
    if not segments:
        return (trajectory,)
    offered = dict(zip((step.index for step in trajectory.steps), trajectory.proposals, strict=False))
    return tuple(
        _segment_trajectory(
            trajectory, offered, part, number=number if len(segments) > 1 else 0, ends=number == len(segments)
        )
        for number, part in enumerate(segments, start=1)
    )


def _segment_trajectory(
    trajectory: Trajectory, offered: dict[int, tuple[Proposal, ...]], part: Segment, *, number: int, ends: bool
) -> Trajectory:
    steps = tuple(step for step in trajectory.steps if part.first <= step.index <= part.last)
    places = {step.index: place for place, step in enumerate(steps)}
    task = trajectory.task
    changes: dict[str, object] = {
        "id": f"{trajectory.id}.{number}" if number else trajectory.id,
        "task": task.model_copy(update={"instruction": part.instruction}) if part.instruction else task,
        "steps": tuple(step.model_copy(update={"index": places[step.index]}) for step in steps),
        "proposals": tuple(offered[step.index] for step in steps if step.index in offered),
        "memories": tuple(
            note.model_copy(update={"through": places[note.through]})
            for note in trajectory.memories
            if note.through in places
        ),
    }
    if not ends:
        changes |= {"outcome": None, "answer": "", "verdict": None, "terminated": False, "truncated": True}
    return trajectory.model_copy(update=changes)
