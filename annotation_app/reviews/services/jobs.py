"""Requests for checks and duplicate searches, and their progress."""

from contextlib import AbstractContextManager
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.errors import Conflict, NotFound
from annotation_app.heartbeats import abandoned_jobs, heartbeat
from annotation_app.reviews.models import UNDER_WAY, WRITING_KINDS, Duplicate, Job, JobKind, JobState
from annotation_app.reviews.schemas import CheckReport
from annotation_app.reviews.selectors.refinement import WRITERS
from annotation_app.reviews.services.access import reviewable_episode, reviewer_check
from annotation_app.tasks.models import Pool
from protocol.base import FrozenModel
from protocol.trajectory.speech import RefinedThoughts

CANCELLED_VERBS: dict[str, Verb] = {
    JobKind.CHECK: "check.cancelled",
    JobKind.DUPLICATES: "duplicates.cancelled",
    JobKind.REFINEMENT: "refinement.cancelled",
    JobKind.ENRICHED: "variants.cancelled",
    JobKind.DIVERSIFIED: "variants.cancelled",
}


class DuplicateMatch(FrozenModel):
    """Two episodes that are nearly the same."""

    one: UUID
    other: UUID
    text: float
    screens: float | None


def check_request(*, user: User, episode_id: UUID) -> Job:
    """Note that an episode's acts are to be done again. Raises NotFound, Forbidden, and Conflict where it is being
    checked."""
    try:
        with transaction.atomic(durable=True):
            episode = reviewable_episode(user=user, episode_id=episode_id)
            job = Job.objects.create(kind=JobKind.CHECK, episode=episode, requested_by=user)
            audit_record(actor=user, verb="episode.check", subject=f"episode:{episode_id}")
    except IntegrityError:
        raise Conflict("It is being checked already.", code="under_way") from None
    return job


def duplicates_request(*, user: User, pool_id: int) -> Job:
    """Note that a pool is to be searched for duplicates. Raises NotFound, Forbidden and Conflict."""
    reviewer_check(user)
    try:
        with transaction.atomic(durable=True):
            pool = Pool.objects.filter(pk=pool_id).first()
            if pool is None:
                raise NotFound("There is no such pool.", field="pool_id")
            job = Job.objects.create(kind=JobKind.DUPLICATES, pool=pool, requested_by=user)
            audit_record(actor=user, verb="pool.duplicates", subject=f"pool:{pool_id}")
    except IntegrityError:
        raise Conflict("This pool is being searched already.", code="under_way") from None
    return job


@transaction.atomic(durable=True)
def job_cancel(*, user: User, job_id: UUID) -> None:
    """Cancel a job. One that has ended stays unchanged. Researchers may cancel a model's writing. Raises Forbidden and
    NotFound."""
    job = Job.objects.filter(pk=job_id).first()
    if job is not None and job.kind in WRITING_KINDS:
        role_check(user, *WRITERS)
    else:
        reviewer_check(user)
    if job is None:
        raise NotFound("There is no such job.", field="job_id")
    if _close(job_id, JobState.CANCELLED):
        audit_record(actor=user, verb=CANCELLED_VERBS[job.kind], subject=f"job:{job_id}")


def job_begin(*, job_id: UUID, total: int, prompt_sha256: str = "") -> bool:
    """Take up a queued job; False for any other. `prompt_sha256`: of what a model is asked with."""
    queued = Job.objects.filter(pk=job_id, status=JobState.QUEUED)
    started = {"total": total, "prompt_sha256": prompt_sha256, "heard_at": timezone.now()}
    return bool(queued.update(status=JobState.RUNNING, **started))


def job_progress_set(*, job_id: UUID, done: int) -> bool:
    """Record the progress. Returns whether to continue."""
    running = Job.objects.filter(pk=job_id, status=JobState.RUNNING)
    return bool(running.update(done=done, heard_at=timezone.now()))


def job_heartbeat(*, job_id: UUID) -> AbstractContextManager[None]:
    """Heartbeats of a job that this worker has, while the block runs."""
    return heartbeat(Job.objects.filter(pk=job_id, status=JobState.RUNNING))


def check_end(*, job_id: UUID, report: CheckReport) -> None:
    """Store what came of a check; one that was cancelled stays so."""
    _close(job_id, JobState.DONE, report=report)


@transaction.atomic(durable=True)
def duplicates_end(*, job_id: UUID, found: tuple[DuplicateMatch, ...]) -> None:
    """Put what was found in the place of what was found before; nothing happens to a search that was cancelled."""
    if not _close(job_id, JobState.DONE):
        return
    pool_id = Job.objects.values_list("pool_id", flat=True).get(pk=job_id)
    Duplicate.objects.filter(pool_id=pool_id).delete()
    Duplicate.objects.bulk_create(
        Duplicate(pool_id=pool_id, one_id=pair.one, other_id=pair.other, text=pair.text, screens=pair.screens)
        for pair in found
    )


def refinement_store(*, job_id: UUID, refined: RefinedThoughts, done: int) -> bool:
    """Store what was refined so far; whether to go on."""
    running = Job.objects.filter(pk=job_id, status=JobState.RUNNING)
    return bool(running.update(refined=refined, done=done, heard_at=timezone.now()))


def writing_end(*, job_id: UUID) -> None:
    """The model has written of all thoughts; a job that was cancelled stays so."""
    _close(job_id, JobState.DONE)


def job_fail(*, job_id: UUID, error: str) -> None:
    """Record why the job failed."""
    _close(job_id, JobState.FAILED, error=error)


def jobs_stale() -> int:
    """Fail jobs whose worker died. Returns how many. Those of a batch are resumed with it."""
    dead = abandoned_jobs(Job.objects.filter(batch__isnull=True))
    return dead.update(status=JobState.FAILED, finished_at=timezone.now(), error="Its worker went away.")


def _close(job_id: UUID, status: JobState, **fields: object) -> bool:
    """End a queued or running job. Returns whether it was one."""
    under_way = Job.objects.filter(pk=job_id, status__in=UNDER_WAY)
    return bool(under_way.update(status=status, finished_at=timezone.now(), **fields))
