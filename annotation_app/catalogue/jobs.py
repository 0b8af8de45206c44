"""Periodic update of the catalogue from the episodes."""

from annotation_app.catalogue import services
from annotation_app.celery import app

MAX_ENTRIES = 2_000
"""Episodes that are indexed in one run."""


@app.task(name="catalogue.refresh")
def entries_refresh_job() -> None:
    """Index episodes that have ended or changed since the last run."""
    services.entries_refresh(most=MAX_ENTRIES)
