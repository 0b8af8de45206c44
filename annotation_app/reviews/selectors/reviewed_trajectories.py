"""Attempts as reviews have left them: with what was said of each step, mended, trimmed and split."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from uuid import UUID

from annotation_app.episodes.models import Episode
from annotation_app.reviews.models import Cut, Fix, Remark
from protocol.base import FrozenModel
from protocol.trajectory.reviews import Fix as FixValue
from protocol.trajectory.reviews import StepReview
from protocol.trajectory.segments import Segments, split_trajectory
from protocol.trajectory.trajectories import Trajectory

BATCH_SIZE = 50


class EpisodeReviews(FrozenModel):
    """What reviews have left of one episode."""

    steps: dict[int, StepReview] = {}
    segments: Segments = ()


NO_REVIEWS = EpisodeReviews()


def segments_of(episode: Episode) -> Segments:
    """Which parts of an episode count; empty: all of it."""
    last = episode.cuts.filter(undone_at__isnull=True).last()
    return () if last is None else last.segments


def reviews_of(episodes: Iterable[UUID]) -> dict[UUID, EpisodeReviews]:
    """What reviews have left of these episodes, in three queries; nothing of those that were left as they are."""
    ids = tuple(episodes)
    steps: defaultdict[UUID, dict[int, StepReview]] = defaultdict(dict)
    for remark in Remark.objects.filter(episode__in=ids).order_by("round", "written_at", "id"):
        step_review = StepReview(verdict=remark.verdict or None, comment=remark.comment)
        steps[remark.episode_id][remark.index] = step_review
    for fix in Fix.objects.filter(episode__in=ids).order_by("revision"):
        of = steps[fix.episode_id]
        of[fix.index] = of.get(fix.index, StepReview()).model_copy(update={"fix": fix_value(fix)})
    segments: dict[UUID, Segments] = {}
    for cut in Cut.objects.filter(episode__in=ids, undone_at__isnull=True).order_by("revision"):
        segments[cut.episode_id] = cut.segments
    return {
        key: EpisodeReviews(steps=steps.get(key, {}), segments=segments.get(key, ()))
        for key in ids
        if key in steps or key in segments
    }


def fix_value(fix: Fix) -> FixValue:
    """A fix as steps carry it."""
    return FixValue(revision=fix.revision, thought=fix.thought, action=fix.action, reason=fix.reason)


def with_reviews(trajectory: Trajectory, reviewed: EpisodeReviews) -> Trajectory:
    """The attempt with what was said of each step; whole."""
    if not reviewed.steps:
        return trajectory
    steps = tuple(
        step.model_copy(update={"review": reviewed.steps.get(step.index)}) if step.index in reviewed.steps else step
        for step in trajectory.steps
    )
    return trajectory.model_copy(update={"steps": steps})


def trajectories_reviewed(trajectories: Iterable[Trajectory]) -> Iterator[Trajectory]:
    """Each attempt as reviews have left it, in the same order; one that was split gives one for each part. Memory is
    bounded: a few at a time."""
    for some in _batches(trajectories):
        found = reviews_of(UUID(trajectory.id) for trajectory in some)
        for trajectory in some:
            reviewed = found.get(UUID(trajectory.id), NO_REVIEWS)
            yield from split_trajectory(with_reviews(trajectory, reviewed), reviewed.segments)


def _batches(trajectories: Iterable[Trajectory]) -> Iterator[list[Trajectory]]:
    some: list[Trajectory] = []
    for trajectory in trajectories:
        some.append(trajectory)
        if len(some) == BATCH_SIZE:
            yield some
            some = []
    if some:
        yield some
