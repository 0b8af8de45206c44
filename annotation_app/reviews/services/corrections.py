"""Remarks on steps, corrections, trims and splits. The recorded episode is never changed."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.episodes.models import Episode
from annotation_app.errors import Conflict, Invalid
from annotation_app.reviews.models import Cut, Fix, Remark
from annotation_app.reviews.selectors.opinions import is_blind, visible_fixes
from annotation_app.reviews.selectors.reviewed_trajectories import segments_of
from annotation_app.reviews.services.access import claimed_episode, correctable_episode, current_round, step_check
from protocol.actions.types import Action
from protocol.trajectory.reviews import StepVerdict
from protocol.trajectory.segments import InvalidSegments, Segments, split_segment, trim_segments, whole_segment


@transaction.atomic(durable=True)
def remark_set(*, user: User, episode_id: UUID, index: int, verdict: StepVerdict | None, comment: str) -> None:
    """Set the remark on a step: whether it is right, and a text. If both are empty, the remark is removed. Raises
    NotFound, Forbidden and Conflict."""
    episode = claimed_episode(user=user, episode_id=episode_id)
    step_check(episode, index)
    own: dict[str, Any] = {"episode": episode, "index": index, "round": current_round(episode), "reviewer": user}
    if verdict is None and not comment.strip():
        Remark.objects.filter(**own).delete()
    else:
        Remark.objects.update_or_create(**own, defaults={"verdict": verdict or "", "comment": comment})
    details = {"index": index, "verdict": verdict, "comment": comment}
    audit_record(actor=user, verb="step.judged", subject=f"episode:{episode_id}", details=details)


@transaction.atomic(durable=True)
def step_fix(*, user: User, episode_id: UUID, index: int, base: int, thought: str, action: Action, reason: str) -> Fix:
    """Correct a step's thought and action, as a new revision based on `base`. Raises NotFound, Forbidden, and Conflict
    if another revision was made meanwhile."""
    episode = correctable_episode(user=user, episode_id=episode_id)
    step_check(episode, index)
    revisions = episode.fixes.filter(index=index).order_by("revision").values_list("revision", flat=True)
    seen = visible_fixes(episode, user).filter(index=index).order_by("revision").values_list("revision", flat=True)
    last = revisions.last() or 0
    if base != (seen.last() or 0):
        raise Conflict(
            "Another person has changed this step; reload the page.", code="fix_conflict", extra={"revision": last}
        )
    fix = Fix.objects.create(
        episode=episode,
        index=index,
        revision=last + 1,
        thought=thought,
        action=action,
        reason=reason,
        round=current_round(episode),
        author=user,
    )
    details = {"index": index, "revision": fix.revision, "reason": reason}
    audit_record(actor=user, verb="step.mended", subject=f"episode:{episode_id}", details=details)
    return fix


@transaction.atomic(durable=True)
def episode_trim(*, user: User, episode_id: UUID, first: int, last: int) -> Segments:
    """Let only the steps from `first` to `last` count. Raises NotFound, Forbidden, Conflict, and Invalid where nothing
    would be left."""
    episode = claimed_episode(user=user, episode_id=episode_id)
    return _cut(user, episode, lambda parts: trim_segments(parts, first, last))


@transaction.atomic(durable=True)
def episode_split(*, user: User, episode_id: UUID, at: int, before: str, after: str) -> Segments:
    """Make two attempts of one, the second beginning at step `at`, each with its own instruction where one is given.
    Raises NotFound, Forbidden, Conflict and Invalid."""
    episode = claimed_episode(user=user, episode_id=episode_id)
    return _cut(user, episode, lambda parts: split_segment(parts, at, before=before, after=after))


@transaction.atomic(durable=True)
def cut_undo(*, user: User, episode_id: UUID) -> Segments:
    """Take the last cut back. Raises NotFound, Forbidden, and Conflict where there is none."""
    episode = claimed_episode(user=user, episode_id=episode_id)
    last = episode.cuts.filter(undone_at__isnull=True).last()
    _cut_check(user, episode)
    if last is None:
        raise Conflict("Nothing was cut.", code="nothing_cut")
    last.undone_at = timezone.now()
    last.save(update_fields=["undone_at"])
    audit_record(actor=user, verb="episode.cut_undone", subject=f"episode:{episode_id}")
    return segments_of(episode)


def _cut_check(user: User, episode: Episode) -> None:
    """Raises Conflict for one of two independent reviewers, whose cut the other one would see."""
    if is_blind(user, episode):
        raise Conflict("Two review this independently: cut it once it is decided.", code="blind_review")


def _cut(user: User, episode: Episode, make: Callable[[Segments], Segments]) -> Segments:
    _cut_check(user, episode)
    try:
        segments = make(segments_of(episode) or whole_segment(episode.steps.count()))
    except InvalidSegments as error:
        raise Invalid(f"This cannot be cut: {error}.", code="bad_cut") from None
    revision = episode.cuts.count() + 1
    Cut.objects.create(episode=episode, revision=revision, segments=segments, author=user)
    details = {"segments": [part.model_dump() for part in segments]}
    audit_record(actor=user, verb="episode.cut", subject=f"episode:{episode.id}", details=details)
    return segments
