"""Keeping the catalogue up with the episodes, now and then."""

from annotation_app.catalogue import services
from annotation_app.celery import app

MAX_ENTRIES = 2_000
"""Episodes that are entered in one go."""


@app.task(name="catalogue.refresh")
def entries_refresh_job() -> None:
    """Enter what has ended, or changed, since."""
    services.entries_refresh(most=MAX_ENTRIES)
