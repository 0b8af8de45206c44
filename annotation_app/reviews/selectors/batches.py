"""Batches: many sessions whose thoughts a model writes."""

from uuid import UUID

from django.db.models import Count, Q, QuerySet

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import episodes_visible
from annotation_app.errors import NotFound
from annotation_app.reviews.batch_schemas import (
    BatchesOut,
    BatchOut,
    BatchSessionOut,
    BatchSummary,
    SessionFilters,
)
from annotation_app.reviews.models import Batch, Job
from annotation_app.reviews.selectors.queue import RECORDED
from annotation_app.reviews.selectors.refinement import WRITERS, models_out

LISTED = 20
"""Batches that are shown, the newest."""


def sessions_matching(user: User, filters: SessionFilters) -> QuerySet[Episode]:
    """The recorded sessions that this person may see and that match, the oldest first. Withdrawn ones are none."""
    wanted = RECORDED & Q(status="finished", withdrawal__isnull=True)
    if filters.pool is not None:
        wanted &= Q(task__pool_id=filters.pool)
    if filters.annotator:
        wanted &= Q(annotator__username=filters.annotator) | Q(annotator__first_name__iexact=filters.annotator)
    if filters.outcome:
        wanted &= Q(outcome=filters.outcome)
    if filters.review:
        wanted &= Q(review=filters.review)
    return episodes_visible(user).filter(wanted).order_by("created_at", "id")


def batches_of(user: User) -> QuerySet[Batch]:
    """A person's own batches; all of them for admins. Raises Forbidden."""
    role_check(user, *WRITERS)
    counted = {state: Count("jobs", filter=Q(jobs__status=state)) for state in ("done", "failed")}
    found = Batch.objects.select_related("policy", "requested_by").annotate(total=Count("jobs"), **counted)
    return found if user.has_role(Role.ADMIN) else found.filter(requested_by=user)


def batch_out(*, user: User, batch_id: UUID) -> BatchOut:
    """A batch with the state of each of its sessions. Raises Forbidden and NotFound."""
    batch = batches_of(user).filter(pk=batch_id).first()
    if batch is None:
        raise NotFound("There is no such batch.")
    jobs = batch.jobs.select_related("episode__task").order_by("episode__created_at", "episode")
    return BatchOut(**_summary(batch).model_dump(), sessions=tuple(map(_session_out, jobs)))


def batches_out(*, user: User) -> BatchesOut:
    """The newest batches, and the models there are. Raises Forbidden."""
    return BatchesOut(batches=tuple(map(_summary, batches_of(user)[:LISTED])), models=models_out())


def _summary(batch: Batch) -> BatchSummary:
    counted = {name: getattr(batch, name) for name in ("total", "done", "failed")}
    return BatchSummary(
        id=batch.pk,
        kind=batch.kind,
        model=str(batch.policy),
        status=batch.status,
        error=batch.error,
        left_out=batch.left_out,
        requested_by=batch.requested_by.name,
        created_at=batch.created_at,
        finished_at=batch.finished_at,
        **counted,
    )


def _session_out(job: Job) -> BatchSessionOut:
    assert job.episode is not None
    return BatchSessionOut(
        episode=job.episode.pk,
        instruction=job.episode.task.definition.instruction,
        status=job.status,
        total=job.total,
        done=job.done,
        error=job.error,
    )
