"""Background jobs of judges."""

from typing import Any
from uuid import UUID

from annotation_app.celery import app
from annotation_app.judges import selectors, services
from annotation_app.judges.runs import run_execute
from annotation_app.judges.schemas import RunIn, RunOut


@app.task(name="judges.run")
def run_job(run_id: str) -> None:
    """Do one run; running it again does no harm."""
    run_execute(run_id=UUID(run_id))


@app.task(name="judges.again")
def runs_again_job() -> None:
    """Have runs done whose worker died or never heard of them."""
    for run_id in services.runs_stale():
        run_job.delay(str(run_id))


def run_start(*, user: Any, pool_id: int, judge_id: int, scope: RunIn) -> RunOut:
    """Ask for a run and have it done. Raises Forbidden, NotFound and Conflict."""
    run = services.run_request(user=user, pool_id=pool_id, judge_id=judge_id, scope=scope)
    run_job.delay(str(run.pk))
    run.refresh_from_db()
    return selectors.run_out(run)
