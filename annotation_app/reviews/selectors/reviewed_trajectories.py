"""Attempts as reviews have left them: corrected, trimmed and split, with the verdicts of each step."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import zip_longest
from uuid import UUID

from annotation_app.episodes.models import Episode
from annotation_app.reviews.models import Cut, Fix, Remark, ThoughtRevision
from annotation_app.reviews.selectors.chosen_variants import chosen_variants
from protocol.base import FrozenModel
from protocol.trajectory.elements import with_elements_of_part
from protocol.trajectory.reviews import Fix as FixValue
from protocol.trajectory.reviews import StepReview
from protocol.trajectory.segments import Segments, split_trajectory
from protocol.trajectory.speech import (
    Thoughts,
    is_session,
    speech_of,
    speech_of_part,
    with_speech,
    with_thoughts,
    without_levels,
)
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory
from protocol.trajectory.variants import VariantKind, variant_trajectories

BATCH_SIZE = 50


class EpisodeReviews(FrozenModel):
    """What reviews have left of one episode."""

    steps: dict[int, StepReview] = {}
    segments: Segments = ()
    thoughts: Thoughts | None = None
    """Of a recorded session; None: as they came in."""


NO_REVIEWS = EpisodeReviews()


def segments_of(episode: Episode) -> Segments:
    """Which parts of an episode count; empty: all of it."""
    last = episode.cuts.filter(undone_at__isnull=True).last()
    return () if last is None else last.segments


def reviews_of(episodes: Iterable[UUID]) -> dict[UUID, EpisodeReviews]:
    """What reviews have left of these episodes, in four queries; nothing of those that were left as they are."""
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
    thoughts = {
        row.episode_id: row.thoughts
        for row in ThoughtRevision.objects.filter(episode__in=ids, undone_at__isnull=True).order_by("number")
    }
    return {
        key: EpisodeReviews(steps=steps.get(key, {}), segments=segments.get(key, ()), thoughts=thoughts.get(key))
        for key in ids
        if key in steps or key in segments or key in thoughts
    }


def fix_value(fix: Fix) -> FixValue:
    """A fix as steps carry it."""
    return FixValue(revision=fix.revision, thought=fix.thought, action=fix.action, reason=fix.reason)


def with_reviews(trajectory: Trajectory, reviewed: EpisodeReviews) -> Trajectory:
    """The attempt with what was said of each step; whole. A recorded session has the thoughts as reviewers left them:
    nobody executed a thought there."""
    speech = speech_of(trajectory) if reviewed.thoughts is not None else None
    if speech is not None and reviewed.thoughts is not None:
        trajectory = with_thoughts(trajectory, speech, reviewed.thoughts)
    if not reviewed.steps:
        return trajectory
    corrected = is_session(trajectory)
    steps = tuple(
        _with_review(step, reviewed.steps[step.index], corrected=corrected) if step.index in reviewed.steps else step
        for step in trajectory.steps
    )
    return trajectory.model_copy(update={"steps": steps})


def _with_review(step: Step, review: StepReview, *, corrected: bool) -> Step:
    changes: dict[str, object] = {"review": review}
    if corrected and review.fix is not None:
        changes["thought"] = review.fix.thought
    return step.model_copy(update=changes)


def trajectories_reviewed(
    trajectories: Iterable[Trajectory], variants: Collection[VariantKind] = ()
) -> Iterator[Trajectory]:
    """Each attempt as reviews have left it, in the same order; one that was split gives one for each part. Of a
    recorded session nothing is left that was said of steps which do not count, nor how loud it was. After each of its
    parts stand the variants of these kinds that reviewers chose. Memory is bounded: a few at a time."""
    for some in _batches(trajectories):
        ids = [UUID(trajectory.id) for trajectory in some]
        found = reviews_of(ids)
        chosen = chosen_variants(ids, variants) if variants else {}
        for trajectory in some:
            reviewed = found.get(UUID(trajectory.id), NO_REVIEWS)
            whole = with_reviews(trajectory, reviewed)
            if is_session(whole):
                own = chosen.get(UUID(trajectory.id), ())
                for part, first in _session_parts(without_levels(whole), reviewed.segments):
                    yield part
                    yield from variant_trajectories(part, own, variants, first)
            else:
                yield from split_trajectory(whole, reviewed.segments)


def _session_parts(trajectory: Trajectory, segments: Segments) -> Iterator[tuple[Trajectory, int]]:
    """The parts of a recorded session that count, each with what was said of its own steps and their elements, and the
    first of these steps."""
    speech = speech_of(trajectory)
    for part, segment in zip_longest(split_trajectory(trajectory, segments), segments):
        if segment is not None:
            part = with_elements_of_part(part, segment.first, segment.last)
        if speech is None or segment is None:
            yield part, 0 if segment is None else segment.first
        else:
            yield with_speech(part, speech_of_part(speech, segment.first, segment.last)), segment.first


def _batches(trajectories: Iterable[Trajectory]) -> Iterator[list[Trajectory]]:
    some: list[Trajectory] = []
    for trajectory in trajectories:
        some.append(trajectory)
        if len(some) == BATCH_SIZE:
            yield some
            some = []
    if some:
        yield some
