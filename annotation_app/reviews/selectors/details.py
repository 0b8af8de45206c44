"""The review sheet of one episode."""

from typing import Literal
from uuid import UUID

from django.db.models import Q

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import can_see_all_work
from annotation_app.episodes.models import Episode, Review
from annotation_app.episodes.selectors import episode_of, episode_summaries
from annotation_app.reviews.models import Adjudication, Claim, Duplicate, Fix, Job, JobKind, Remark
from annotation_app.reviews.schemas import (
    FixOut,
    JobOut,
    RemarkOut,
    ReviewDetails,
    RoundOut,
    Sibling,
    SimilarEpisode,
)
from annotation_app.reviews.selectors.changes import changes_of
from annotation_app.reviews.selectors.opinions import is_blind, open_opinions, opinions_of, visible_fixes
from annotation_app.reviews.selectors.queue import claim_out
from annotation_app.reviews.selectors.reviewed_trajectories import segments_of


def review_details(*, user: User, episode_id: UUID) -> ReviewDetails:
    """The sheet of an episode this person may see. Its annotator reads what was said of it once it was decided; of
    other people's attempts they learn nothing. Raises NotFound."""
    episode = episode_of(user=user, episode_id=episode_id)
    staff = can_see_all_work(user) and episode.annotator_id != user.pk
    rounds = tuple(episode.rounds.select_related("reviewer"))
    before = _previous(episode)
    returned = max((row.number for row in rounds if row.decision == "return"), default=0)
    remarks = episode.remarks.select_related("reviewer")
    if not staff:
        remarks = remarks.filter(round__lte=len(rounds))
    blind = is_blind(user, episode)
    if blind:
        remarks = remarks.filter(Q(round__lte=len(rounds)) | Q(reviewer=user))
    claim = Claim.objects.select_related("reviewer").filter(episode=episode).first()
    (summary,) = episode_summaries(ids=[episode.pk])
    check = Job.objects.filter(episode=episode, kind=JobKind.CHECK).first()
    return ReviewDetails(
        episode=summary,
        round=len(rounds) + 1,
        may=may_do(user, episode),
        claim=claim_out(claim, user) if staff else None,
        rounds=tuple(
            RoundOut(
                number=row.number,
                decision=row.decision,
                reason=row.reason,
                reviewer=row.reviewer.name,
                decided_at=row.decided_at,
            )
            for row in rounds
        ),
        opinions=opinions_of(user, episode) if staff else (),
        blind=blind,
        remarks=tuple(_remark_out(row, user) for row in remarks),
        fixes=tuple(_fix_out(row) for row in visible_fixes(episode, user).select_related("author")),
        segments=segments_of(episode),
        can_undo_cut=episode.cuts.filter(undone_at__isnull=True).exists(),
        previous=before.pk if before else None,
        changes=changes_of(episode, user, before, returned),
        siblings=_siblings(episode) if staff else (),
        check=job_out(check) if check and staff else None,
        duplicates=_similar_episodes(episode) if staff else (),
    )


def job_out(job: Job) -> JobOut:
    """A job as it is shown."""
    return JobOut.model_validate({name: getattr(job, name) for name in JobOut.model_fields})


def may_do(user: User, episode: Episode) -> Literal["review", "mend", "look"]:
    """What this person may do with an episode now."""
    if episode.annotator_id == user.pk:
        return "mend" if episode.review == Review.RETURNED else "look"
    if episode.status != "finished" or episode.task.pool.practice or not user.has_role(Role.REVIEWER, Role.ADMIN):
        return "look"
    if open_opinions(episode).filter(reviewer=user).exists():
        return "look"
    return "review"


def _remark_out(remark: Remark, user: User) -> RemarkOut:
    return RemarkOut(
        index=remark.index,
        round=remark.round,
        reviewer=remark.reviewer.name,
        mine=remark.reviewer_id == user.pk,
        verdict=remark.verdict or None,
        comment=remark.comment,
    )


def _fix_out(fix: Fix) -> FixOut:
    return FixOut(
        index=fix.index,
        revision=fix.revision,
        thought=fix.thought,
        action=fix.action,
        reason=fix.reason,
        author=fix.author.name,
        created_at=fix.created_at,
    )


def _previous(episode: Episode) -> Episode | None:
    """The attempt of the same person that was sent back, and that this one repeats."""
    return (
        Episode.objects.filter(
            task_id=episode.task_id,
            annotator_id=episode.annotator_id,
            review=Review.RETURNED,
            created_at__lt=episode.created_at,
        )
        .order_by("-created_at")
        .first()
    )


def _siblings(episode: Episode) -> tuple[Sibling, ...]:
    chosen = Adjudication.objects.filter(task_id=episode.task_id).first()
    found = Episode.objects.filter(task_id=episode.task_id, status="finished").exclude(pk=episode.pk)
    found = found.exclude(review=Review.RETURNED).exclude(annotator_id=episode.annotator_id)
    summaries = episode_summaries(ids=list(found.order_by("created_at").values_list("pk", flat=True)[:20]))
    return tuple(
        Sibling(
            id=one.id,
            annotator=one.annotator_name,
            outcome=one.outcome,
            steps=one.steps,
            chosen=chosen is not None and chosen.chosen_id == one.id,
        )
        for one in summaries
    )


def _similar_episodes(episode: Episode) -> tuple[SimilarEpisode, ...]:
    pairs = Duplicate.objects.filter(Q(one=episode) | Q(other=episode)).select_related("one__task", "other__task")
    return tuple(
        SimilarEpisode(
            id=beside.pk, instruction=beside.task.definition.instruction, text=pair.text, screens=pair.screens
        )
        for pair in pairs[:20]
        for beside in ((pair.other,) if pair.one_id == episode.pk else (pair.one,))
    )
