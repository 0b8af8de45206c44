"""Background jobs for checks and searches."""

from typing import Any
from uuid import UUID

from annotation_app.celery import app
from annotation_app.reviews import services
from annotation_app.reviews.batch_schemas import BatchIn
from annotation_app.reviews.replay_checks import check_run
from annotation_app.reviews.schemas import JobOut
from annotation_app.reviews.selectors.details import job_out


@app.task(name="reviews.check")
def check_job(job_id: str, episode_id: str) -> None:
    """Replay one episode."""
    check_run(job_id=UUID(job_id), episode_id=UUID(episode_id))


@app.task(name="reviews.duplicates")
def duplicates_job(job_id: str, pool_id: int) -> None:
    """Search one pool."""
    from annotation_app.reviews.duplicates import duplicates_run  # with numpy, which no other program needs

    duplicates_run(job_id=UUID(job_id), pool_id=pool_id)


@app.task(name="reviews.refine")
def refinement_job(job_id: str) -> None:
    """Have a model write of the thoughts of one recorded session."""
    from annotation_app.reviews.refinement import writing_run  # with the clients of models

    writing_run(job_id=UUID(job_id))


@app.task(name="reviews.batch")
def batch_job(batch_id: str) -> None:
    """Have a model write of the thoughts of many recorded sessions; running it again does no harm."""
    from annotation_app.reviews.refinement import batch_run  # with the clients of models

    batch_run(batch_id=UUID(batch_id))


@app.task(name="reviews.stale")
def jobs_stale_job() -> None:
    """Fail jobs whose worker died, and resume batches."""
    services.jobs_stale()
    for batch_id in services.batches_requeue_stale():
        batch_job.delay(str(batch_id))


def check_start(*, user: Any, episode_id: UUID) -> JobOut:
    """Request a check and queue its job. Raises NotFound, Forbidden and Conflict."""
    job = services.check_request(user=user, episode_id=episode_id)
    check_job.delay(str(job.pk), str(episode_id))
    job.refresh_from_db()
    return job_out(job)


def duplicates_start(*, user: Any, pool_id: int) -> JobOut:
    """Request a search and queue its job. Raises NotFound, Forbidden and Conflict."""
    job = services.duplicates_request(user=user, pool_id=pool_id)
    duplicates_job.delay(str(job.pk), pool_id)
    job.refresh_from_db()
    return job_out(job)


def writing_start(*, user: Any, episode_id: UUID, kind: str, policy_id: int) -> None:
    """Have a model write of a session's thoughts. Raises NotFound, Forbidden and Conflict."""
    job = services.writing_request(user=user, episode_id=episode_id, kind=kind, policy_id=policy_id)
    refinement_job.delay(str(job.pk))


def batch_start(*, user: Any, wanted: BatchIn) -> UUID:
    """Have a model write of many sessions. Returns the batch's id. Raises Forbidden, NotFound and TooLarge."""
    batch = services.batch_create(user=user, wanted=wanted)
    batch_job.delay(str(batch.pk))
    return batch.pk


def batch_go_on(*, user: Any, batch_id: UUID) -> None:
    """Resume a batch that failed or was cancelled. Raises Forbidden, NotFound and Conflict."""
    services.batch_resume(user=user, batch_id=batch_id)
    batch_job.delay(str(batch_id))
