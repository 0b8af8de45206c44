"""Checks and searches in the background."""

from typing import Any
from uuid import UUID

from annotation_app.celery import app
from annotation_app.reviews import services
from annotation_app.reviews.replay_checks import check_run
from annotation_app.reviews.schemas import JobOut
from annotation_app.reviews.selectors.details import job_out


@app.task(name="reviews.check")
def check_job(job_id: str, episode_id: str) -> None:
    """Do one episode again."""
    check_run(job_id=UUID(job_id), episode_id=UUID(episode_id))


@app.task(name="reviews.duplicates")
def duplicates_job(job_id: str, pool_id: int) -> None:
    """Search one pool."""
    from annotation_app.reviews.duplicates import duplicates_run  # with numpy, which no other program needs

    duplicates_run(job_id=UUID(job_id), pool_id=pool_id)


@app.task(name="reviews.refine")
def refinement_job(job_id: str) -> None:
    """Refine the thoughts of one recorded session."""
    from annotation_app.reviews.refinement import refinement_run  # with the clients of models

    refinement_run(job_id=UUID(job_id))


@app.task(name="reviews.stale")
def jobs_stale_job() -> None:
    """Let jobs fail whose worker went away."""
    services.jobs_stale()


def check_start(*, user: Any, episode_id: UUID) -> JobOut:
    """Ask for a check and have it done. Raises NotFound, Forbidden and Conflict."""
    job = services.check_request(user=user, episode_id=episode_id)
    check_job.delay(str(job.pk), str(episode_id))
    job.refresh_from_db()
    return job_out(job)


def duplicates_start(*, user: Any, pool_id: int) -> JobOut:
    """Ask for a search and have it done. Raises NotFound, Forbidden and Conflict."""
    job = services.duplicates_request(user=user, pool_id=pool_id)
    duplicates_job.delay(str(job.pk), pool_id)
    job.refresh_from_db()
    return job_out(job)


def refinement_start(*, user: Any, episode_id: UUID, policy_id: int) -> None:
    """Ask for a refinement and have it done. Raises NotFound, Forbidden, Invalid and Conflict."""
    job = services.refinement_request(user=user, episode_id=episode_id, policy_id=policy_id)
    refinement_job.delay(str(job.pk))
