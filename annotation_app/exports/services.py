"""Making exports."""

from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.episodes.selectors import trajectories_finished
from annotation_app.errors import NotFound
from annotation_app.exports.folder import folder_write
from annotation_app.exports.models import Export, ExportState
from annotation_app.exports.schemas import ExportFilters
from annotation_app.exports.selectors import export_folder, exporter_check
from annotation_app.tasks.models import Pool
from vocabulary.exports import Manifest

SILENCE = timedelta(minutes=10)
"""A worker that did not get further for so long, or never began, is taken for dead."""
ATTEMPTS = 3


@transaction.atomic(durable=True)
def export_request(*, user: User, pool_id: int | None, filters: ExportFilters) -> Export:
    """Note that an export is wanted. Raises Forbidden and NotFound."""
    exporter_check(user)
    if pool_id is not None and not Pool.objects.filter(pk=pool_id).exists():
        raise NotFound("There is no such pool.")
    export = Export.objects.create(pool_id=pool_id, filters=filters.model_dump(mode="json"), requested_by=user)
    audit_record(actor=user, verb="export.requested", subject=f"export:{export.id}", details=export.filters)
    return export


def export_write(*, export_id: UUID) -> None:
    """Write a queued export's folder, and say how it went; one that is done, or being written, is left as it is."""
    queued = Export.objects.filter(pk=export_id, status=ExportState.QUEUED)
    started = {"progress": 0, "attempts": F("attempts") + 1, "heard_at": timezone.now(), "error": ""}
    if not queued.update(status=ExportState.RUNNING, **started):
        return
    export = Export.objects.select_related("pool").get(pk=export_id)
    try:
        manifest = _folder_fill(export)
    except OSError as error:
        _export_close(export, status=ExportState.FAILED, error=f"{type(error).__name__}: {error.strerror}")
        return
    _export_close(
        export,
        status=ExportState.DONE,
        progress=1,
        trajectories=manifest.counts.trajectories,
        bytes=sum(file.size for file in manifest.files),
    )


@transaction.atomic(durable=True)
def exports_stale() -> tuple[UUID, ...]:
    """Exports nobody works on, queued again; one that broke every attempt has failed. Which are to be written."""
    silent = Export.objects.filter(
        status__in=(ExportState.QUEUED, ExportState.RUNNING), heard_at__lt=timezone.now() - SILENCE
    )
    tired = silent.filter(attempts__gte=ATTEMPTS)
    tired.update(status=ExportState.FAILED, finished_at=timezone.now(), error=f"It broke off {ATTEMPTS} times.")
    again = tuple(silent.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Export.objects.filter(pk__in=again).update(status=ExportState.QUEUED, heard_at=timezone.now())
    return again


def _export_close(export: Export, **fields: object) -> None:
    Export.objects.filter(pk=export.pk).update(finished_at=timezone.now(), **fields)


def _folder_fill(export: Export) -> Manifest:
    filters = ExportFilters.model_validate(export.filters)
    total, trajectories = trajectories_finished(pool_id=export.pool_id, **filters.model_dump())

    def progress(written: int) -> None:
        Export.objects.filter(pk=export.pk).update(
            progress=written / max(total, 1), trajectories=written, heard_at=timezone.now()
        )

    return folder_write(
        target=export_folder(export.id),
        trajectories=trajectories,
        filters=filters,
        pool=export.pool.name if export.pool else None,
        created_at=export.created_at,
        progress=progress,
    )


def export_to(*, target: Path, pool_name: str | None, filters: ExportFilters) -> Manifest:
    """Write an export to a folder of the caller's choice. Raises NotFound."""
    pool = Pool.objects.filter(name=pool_name).first() if pool_name else None
    if pool_name and pool is None:
        raise NotFound(f"There is no pool {pool_name!r}.")
    _total, trajectories = trajectories_finished(pool_id=pool.pk if pool else None, **filters.model_dump())
    return folder_write(
        target=target,
        trajectories=trajectories,
        filters=filters,
        pool=pool_name,
        created_at=timezone.now(),
    )
