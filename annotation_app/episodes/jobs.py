"""Leases that ran out, looked for now and then."""

from annotation_app.celery import app
from annotation_app.episodes import services


@app.task(name="episodes.leases_expire")
def leases_expire_job() -> None:
    """Give abandoned tasks back to their pools."""
    services.leases_expire()
