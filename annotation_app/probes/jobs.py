"""Celery jobs that run probes."""

from uuid import UUID

from annotation_app.celery import app
from annotation_app.probes import runs, services

LIMIT_SECONDS = 900
"""How long one probe may take."""


@app.task(name="probes.run", time_limit=LIMIT_SECONDS + 60, soft_time_limit=LIMIT_SECONDS)
def probe_run_job(probe_id: str) -> None:
    """Run one probe. Running it again is harmless."""
    runs.probe_execute(probe_id=UUID(probe_id))


@app.task(name="probes.again")
def probes_again_job() -> None:
    """Requeue probes whose worker died or never received them."""
    for probe_id in services.probes_stale():
        probe_run_job.delay(str(probe_id))


@app.task(name="probes.due")
def probes_due_job() -> None:
    """Probe the models whose probe is due."""
    for probe_id in runs.probes_request_due():
        probe_run_job.delay(str(probe_id))
