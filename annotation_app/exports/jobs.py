"""Exports in the background."""

from uuid import UUID

from celery import shared_task

from annotation_app.exports import services


@shared_task(name="exports.write")
def export_write_job(export_id: str) -> None:
    """Write one export; running it again does no harm."""
    services.export_write(export_id=UUID(export_id))
