"""Background jobs of exports."""

from typing import Any
from uuid import UUID

from annotation_app.celery import app
from annotation_app.exports import selectors, services
from annotation_app.exports.schemas import ExportFilters, ExportOut, ExportPlan


@app.task(name="exports.write")
def export_write_job(export_id: str) -> None:
    """Write one export; running it again does no harm."""
    services.export_write(export_id=UUID(export_id))


@app.task(name="exports.again")
def exports_requeue_job() -> None:
    """Have exports written whose worker died or never heard of them."""
    for export_id in services.exports_requeue_stale():
        export_write_job.delay(str(export_id))


def export_start(
    *, user: Any, pool_id: int | None, filters: ExportFilters, plan: ExportPlan, destination: str = ""
) -> ExportOut:
    """Ask for an export and have it written. Raises Forbidden and NotFound."""
    export = services.export_request(user=user, pool_id=pool_id, filters=filters, plan=plan, destination=destination)
    export_write_job.delay(str(export.id))
    return selectors.export_out(export)


def export_resume(*, user: Any, export_id: UUID) -> ExportOut:
    """Take up a failed or cancelled export again. Raises Forbidden, NotFound and Conflict."""
    services.export_retry(user=user, export_id=export_id)
    export_write_job.delay(str(export_id))
    return selectors.export_out(selectors.export_of(user=user, export_id=export_id))
