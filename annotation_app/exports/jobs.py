"""Exports in the background."""

from typing import Any
from uuid import UUID

from annotation_app.celery import app
from annotation_app.exports import selectors, services
from annotation_app.exports.schemas import ExportFilters, ExportOut


@app.task(name="exports.write")
def export_write_job(export_id: str) -> None:
    """Write one export; running it again does no harm."""
    services.export_write(export_id=UUID(export_id))


@app.task(name="exports.again")
def exports_again_job() -> None:
    """Have exports written whose worker died or never heard of them."""
    for export_id in services.exports_stale():
        export_write_job.delay(str(export_id))


def export_start(*, user: Any, pool_id: int | None, filters: ExportFilters) -> ExportOut:
    """Ask for an export and have it written. Raises Forbidden and NotFound."""
    export = services.export_request(user=user, pool_id=pool_id, filters=filters)
    export_write_job.delay(str(export.id))
    return selectors.export_out(export)
