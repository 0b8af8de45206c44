"""Batches: a model writes of the thoughts of many sessions, one session after the other."""

from contextlib import AbstractContextManager
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, NotFound, TooLarge
from annotation_app.heartbeats import abandoned_jobs, heartbeat
from annotation_app.reviews.batch_schemas import MAX_SESSIONS, BatchIn
from annotation_app.reviews.models import UNDER_WAY, Batch, Job, JobState
from annotation_app.reviews.selectors.batches import batches_of, sessions_matching
from annotation_app.reviews.selectors.refinement import WRITERS, refining_model

MAX_ATTEMPTS = 3
"""Workers that a batch may lose before it has failed."""


@transaction.atomic(durable=True)
def batch_create(*, user: User, wanted: BatchIn) -> Batch:
    """Note that a model is to write of many sessions. Of a session of which it does already, nothing is noted. Raises
    Forbidden, NotFound where nothing is left, and TooLarge."""
    role_check(user, *WRITERS)
    policy = refining_model(wanted.policy)
    found = sessions_matching(user, wanted.filters)
    if wanted.episodes is not None:
        found = found.filter(pk__in=wanted.episodes)
    sessions = list(found.values_list("pk", flat=True)[: MAX_SESSIONS + 1])
    if len(sessions) > MAX_SESSIONS:
        raise TooLarge(f"A batch has {MAX_SESSIONS} sessions at most. Narrow the filters.", code="too_many_sessions")
    busy = set(
        Job.objects.filter(episode__in=sessions, kind=wanted.kind, status__in=UNDER_WAY).values_list(
            "episode_id", flat=True
        )
    )
    left = [session for session in sessions if session not in busy]
    if not left:
        raise NotFound("No recorded session is left to write of.", code="no_sessions")
    chosen = len(set(wanted.episodes)) if wanted.episodes is not None else len(sessions)
    batch = Batch.objects.create(kind=wanted.kind, policy=policy, requested_by=user, left_out=chosen - len(left))
    Job.objects.bulk_create(
        (Job(kind=wanted.kind, batch=batch, episode_id=session, policy=policy, requested_by=user) for session in left),
        ignore_conflicts=True,
    )
    details = {"kind": wanted.kind, "policy": str(policy), "sessions": len(left)}
    audit_record(actor=user, verb="batch.started", subject=f"batch:{batch.pk}", details=details)
    return batch


@transaction.atomic(durable=True)
def batch_cancel(*, user: User, batch_id: UUID) -> None:
    """Stop a batch and the session that it is at; one that has ended is left as it is. Raises Forbidden and
    NotFound."""
    batch = _own_batch(user, batch_id)
    if _close(batch.pk, JobState.CANCELLED):
        waiting = batch.jobs.filter(status__in=UNDER_WAY)
        waiting.update(status=JobState.CANCELLED, finished_at=timezone.now())
        audit_record(actor=user, verb="batch.cancelled", subject=f"batch:{batch.pk}")


@transaction.atomic(durable=True)
def batch_resume(*, user: User, batch_id: UUID) -> None:
    """Have the sessions written of that failed or were cancelled; what is written stays. Raises Forbidden, NotFound,
    and Conflict where it is under way or nothing is left."""
    batch = _own_batch(user, batch_id)
    ended = batch.jobs.filter(status__in=(JobState.FAILED, JobState.CANCELLED))
    others = Job.objects.filter(kind=batch.kind, status__in=UNDER_WAY).exclude(batch=batch)
    left = ended.exclude(episode__in=others.values("episode"))
    if batch.status in UNDER_WAY or not left.exists():
        raise Conflict("Nothing of this batch is left to do.", code="nothing_left")
    now = timezone.now()
    left.update(status=JobState.QUEUED, error="", heard_at=now, finished_at=None)
    Batch.objects.filter(pk=batch.pk).update(
        status=JobState.QUEUED, error="", attempts=0, heard_at=now, finished_at=None
    )
    audit_record(actor=user, verb="batch.resumed", subject=f"batch:{batch.pk}")


def batch_begin(*, batch_id: UUID) -> int | None:
    """Take up a queued batch. Returns the number of the attempt, which the worker names from then on; None for a batch
    that is not queued."""
    queued = Batch.objects.filter(pk=batch_id, status=JobState.QUEUED)
    started = queued.update(status=JobState.RUNNING, attempts=F("attempts") + 1, heard_at=timezone.now())
    return Batch.objects.values_list("attempts", flat=True).get(pk=batch_id) if started else None


def batch_heartbeat(*, batch_id: UUID, attempt: int) -> AbstractContextManager[None]:
    """Heartbeats of a batch that this worker has, while the block runs."""
    return heartbeat(Batch.objects.filter(pk=batch_id, status=JobState.RUNNING, attempts=attempt))


def batch_next_job(*, batch_id: UUID, attempt: int) -> UUID | None:
    """The session to go on with; None where none is left, or the batch is another worker's or has ended."""
    own = Batch.objects.filter(pk=batch_id, status=JobState.RUNNING, attempts=attempt)
    waiting = Job.objects.filter(batch__in=own, status=JobState.QUEUED)
    return waiting.order_by("episode__created_at", "episode").values_list("pk", flat=True).first()


@transaction.atomic(durable=True)
def batch_end(*, batch_id: UUID, attempt: int, error: str = "") -> None:
    """The batch is through, or was stopped for an `error`: then its waiting sessions are cancelled. One that was
    cancelled stays so."""
    own = Batch.objects.filter(pk=batch_id, status=JobState.RUNNING, attempts=attempt)
    status = JobState.FAILED if error else JobState.DONE
    if own.update(status=status, error=error, finished_at=timezone.now()):
        waiting = Job.objects.filter(batch=batch_id, status__in=UNDER_WAY)
        waiting.update(status=JobState.CANCELLED, finished_at=timezone.now())


@transaction.atomic(durable=True)
def batches_requeue_stale() -> tuple[UUID, ...]:
    """Batches whose worker died, queued again with the session that they were at; one that lost several workers has
    failed. Returns which are to be gone on with."""
    stale = abandoned_jobs(Batch.objects.select_for_update(skip_locked=True))
    requeued = []
    for batch in stale:
        running = batch.jobs.filter(status=JobState.RUNNING)
        batch.heard_at = timezone.now()
        if batch.attempts >= MAX_ATTEMPTS:
            batch.status, batch.finished_at = JobState.FAILED, timezone.now()
            batch.error = f"Its worker went away {MAX_ATTEMPTS} times."
            batch.jobs.filter(status__in=UNDER_WAY).update(status=JobState.CANCELLED, finished_at=timezone.now())
        else:
            batch.status = JobState.QUEUED
            running.update(status=JobState.QUEUED, heard_at=timezone.now())
            requeued.append(batch.pk)
        batch.save(update_fields=["status", "error", "heard_at", "finished_at"])
    return tuple(requeued)


def _own_batch(user: User, batch_id: UUID) -> Batch:
    if not batches_of(user).filter(pk=batch_id).exists():
        raise NotFound("There is no such batch.")
    return Batch.objects.select_for_update().get(pk=batch_id)


def _close(batch_id: UUID, status: JobState) -> bool:
    under_way = Batch.objects.filter(pk=batch_id, status__in=UNDER_WAY)
    return bool(under_way.update(status=status, finished_at=timezone.now()))
