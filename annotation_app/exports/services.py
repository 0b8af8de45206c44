"""Making exports."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.blobs.services import blob_deletion_paused
from annotation_app.catalogue.selectors import exportable_episodes
from annotation_app.catalogue.services import entries_refresh
from annotation_app.errors import Conflict, Forbidden, NotFound, storage_code
from annotation_app.exports import bucket_upload
from annotation_app.exports.folder_writer import ExportOrder, ExportResult, MissingBlobs, read_members, write_export
from annotation_app.exports.models import Export, ExportState, Lineage, Version, VersionMember
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.selectors import evaluated_task_kinds, export_folder, export_of, exporter_check, version_of
from annotation_app.exports.splits import split_of
from annotation_app.heartbeats import abandoned_jobs, heartbeat
from annotation_app.notifications.services.notices import notice_create
from annotation_app.notifications.services.webhooks import event_emit
from annotation_app.notifications.webhook_events import ExportEnded
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Pool

"""A worker that did not get further for so long, or never began, is taken for dead."""
MAX_ATTEMPTS = 3
MEMBER_BATCH = 5_000
"""Trajectories of a version that are stored at once."""
ACTIVE_STATES = (ExportState.QUEUED, ExportState.RUNNING)


class ExportStopped(Exception):
    """It was cancelled, or another worker is at it."""


@transaction.atomic(durable=True)
def export_request(
    *,
    user: User,
    pool_id: int | None,
    filters: ExportFilters,
    plan: ExportPlan | None = None,
    destination: str = "",
) -> Export:
    """Note that an export is wanted. Raises Forbidden and NotFound."""
    exporter_check(user)
    if destination and not user.has_role("admin"):
        raise Forbidden("Only admins push data to other places.")
    if pool_id is not None and not Pool.objects.filter(pk=pool_id).exists():
        raise NotFound("There is no such pool.", field="pool_id")
    export = Export.objects.create(
        pool_id=pool_id,
        filters=filters.model_dump(mode="json"),
        plan=(plan or ExportPlan()).model_dump(mode="json"),
        destination=destination,
        requested_by=user,
    )
    details = {"filters": export.filters, "plan": export.plan, "destination": destination}
    audit_record(actor=user, verb="export.requested", subject=f"export:{export.id}", details=details)
    return export


@transaction.atomic(durable=True)
def export_cancel(*, user: User, export_id: UUID) -> None:
    """Stop an export; one that has ended is left as it is. Raises Forbidden and NotFound."""
    export = export_of(user=user, export_id=export_id)
    under_way = Export.objects.filter(pk=export_id, status__in=ACTIVE_STATES)
    if under_way.update(status=ExportState.CANCELLED, finished_at=timezone.now()):
        audit_record(actor=user, verb="export.cancelled", subject=f"export:{export.id}", details={})


@transaction.atomic(durable=True)
def export_retry(*, user: User, export_id: UUID) -> None:
    """Have a failed or cancelled export written after all, from where it was. Raises Forbidden, NotFound, Conflict."""
    export_of(user=user, export_id=export_id)
    ended = Export.objects.filter(pk=export_id, status__in=(ExportState.FAILED, ExportState.CANCELLED))
    if not ended.update(status=ExportState.QUEUED, attempts=0, heard_at=timezone.now(), finished_at=None, error=""):
        raise Conflict("Only an export that failed or was cancelled is taken up again.", code="not_ended")
    audit_record(actor=user, verb="export.retried", subject=f"export:{export_id}", details={})


def export_write(*, export_id: UUID) -> None:
    """Write a queued export's folder, and say how it went; one that is done, or being written, is left as it is."""
    queued = Export.objects.filter(pk=export_id, status=ExportState.QUEUED)
    started = {"attempts": F("attempts") + 1, "heard_at": timezone.now(), "error": "", "missing": []}
    if not queued.update(status=ExportState.RUNNING, **started):
        return
    export = Export.objects.select_related("pool").get(pk=export_id)
    try:
        with heartbeat(_claimed_export(export)):
            with blob_deletion_paused():
                result = write_export(_export_order(export))
            _push_to_bucket(export)
    except ExportStopped:
        return
    except MissingBlobs as error:
        missing_rows = [{"sha256": sha256, "episode": episode} for sha256, episode in error.first]
        _export_finish(export, status=ExportState.FAILED, error=str(error), missing=missing_rows)
    except OSError as error:
        _export_finish(export, status=ExportState.FAILED, error=f"{storage_code(error)}: {error.strerror}")
    except bucket_upload.UploadFailed as error:
        _export_finish(export, status=ExportState.FAILED, error=str(error))
    else:
        _export_finish(export, status=ExportState.DONE, progress=1, **_result_fields(result))


@transaction.atomic(durable=True)
def exports_requeue_stale() -> tuple[UUID, ...]:
    """Exports nobody works on, queued again; one that broke every attempt has failed. Which are to be written."""
    stale = abandoned_jobs(Export.objects.all())
    exhausted = stale.filter(attempts__gte=MAX_ATTEMPTS)
    for export in exhausted.select_related("requested_by").select_for_update(skip_locked=True, of=("self",)):
        export.status, export.finished_at = ExportState.FAILED, timezone.now()
        export.error = f"It broke off {MAX_ATTEMPTS} times."
        export.save(update_fields=["status", "finished_at", "error"])
        _export_notify(export)
    requeued = tuple(stale.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Export.objects.filter(pk__in=requeued).update(status=ExportState.QUEUED, heard_at=timezone.now())
    return requeued


def export_write_to(
    *, target: Path, pool_name: str | None, filters: ExportFilters, plan: ExportPlan | None = None
) -> ExportResult:
    """Write an export to a folder of the caller's choice. Raises NotFound, MissingBlobs and OSError."""
    pool = Pool.objects.filter(name=pool_name).first() if pool_name else None
    if pool_name and pool is None:
        raise NotFound(f"There is no pool {pool_name!r}.")
    limited, export_plan = _limit_to_pool(filters, pool), plan or ExportPlan()
    order = ExportOrder(
        target=target,
        filters=filters,
        plan=export_plan,
        pool=pool_name,
        created_at=timezone.now(),
        select_episodes=_episode_selector(limited, export_plan),
    )
    with blob_deletion_paused():
        return write_export(order)


def _claimed_export(export: Export) -> QuerySet[Export]:
    """The export's row while this worker writes it."""
    return Export.objects.filter(pk=export.pk, status=ExportState.RUNNING, attempts=export.attempts)


def _export_order(export: Export) -> ExportOrder:
    filters, plan = ExportFilters.model_validate(export.filters), ExportPlan.model_validate(export.plan)
    claimed = _claimed_export(export)

    def progress(share: float) -> None:
        if not claimed.update(progress=share, heard_at=timezone.now()):
            raise ExportStopped

    return ExportOrder(
        target=export_folder(export.id),
        filters=filters,
        plan=plan,
        pool=export.pool.name if export.pool else None,
        created_at=export.created_at,
        select_episodes=_episode_selector(_limit_to_pool(filters, export.pool), plan),
        progress=progress,
    )


def _limit_to_pool(filters: ExportFilters, pool: Pool | None) -> ExportFilters:
    return filters if pool is None else filters.model_copy(update={"pool": pool.pk})


def _episode_selector(filters: ExportFilters, plan: ExportPlan) -> Callable[[], Iterator[tuple[UUID, str]]]:
    """Which episodes, each with its split: what is evaluated at is in `test` at the most."""

    def select() -> Iterator[tuple[UUID, str]]:
        entries_refresh()
        excluded_kinds = evaluated_task_kinds() if plan.excludes_evaluated else frozenset()
        for episode, kind in exportable_episodes(filters):
            yield episode, "test" if kind in excluded_kinds else split_of(kind, plan.shares)

    return select


def _push_to_bucket(export: Export) -> None:
    if export.destination:
        bucket_upload.upload_folder(export_folder(export.id), export.destination)
        Export.objects.filter(pk=export.pk).update(pushed=True)


def _result_fields(result: ExportResult) -> dict[str, object]:
    return {
        "trajectories": result.counts.trajectories,
        "records": result.counts.records,
        "bytes": result.bytes,
        "refused": sum(result.refused.values()),
        "refused_codes": result.refused,
        "variants": result.variants,
        "missing": [{"sha256": sha256, "episode": episode} for sha256, episode in result.missing],
        "manifest_sha256": result.manifest_sha256,
    }


@transaction.atomic(durable=True)
def _export_finish(export: Export, **fields: object) -> None:
    claimed = Export.objects.filter(pk=export.pk, status=ExportState.RUNNING, attempts=export.attempts)
    if claimed.update(finished_at=timezone.now(), **fields):
        _export_notify(Export.objects.select_related("requested_by").get(pk=export.pk))


def _export_notify(export: Export) -> None:
    """Say to programs and to who asked for it how it went, in the transaction in which it ends."""
    kind: Literal["export.finished", "export.failed"]
    kind = "export.finished" if export.status == ExportState.DONE else "export.failed"
    event_emit(
        ExportEnded(
            kind=kind,
            id=str(export.pk),
            status=export.status,
            trajectories=export.trajectories,
            manifest_sha256=export.manifest_sha256,
            error=export.error,
        )
    )
    details = {"trajectories": export.trajectories, "reason": export.error}
    notice_create(user=export.requested_by, kind=kind, subject=f"export:{export.pk}", details=details)


@transaction.atomic(durable=True)
def version_freeze(*, user: User, export_id: UUID, name: str, notes: str) -> Version:
    """Make a finished export citable: the next number of its name. Raises Forbidden, NotFound and Conflict."""
    Export.objects.select_for_update().filter(pk=export_id).first()  # retention deletes none that is being frozen
    export = export_of(user=user, export_id=export_id)
    if export.status != ExportState.DONE or not export.manifest_sha256:
        raise Conflict("Only a finished export becomes a dataset version.", code="not_finished")
    if Version.objects.filter(export=export).exists():
        raise Conflict("This export is a dataset version already.", code="frozen")
    User.objects.select_for_update().get(pk=user.pk)
    last = Version.objects.filter(name=name).order_by("-number").values_list("number", flat=True).first() or 0
    try:
        with transaction.atomic():
            version = Version.objects.create(name=name, number=last + 1, export=export, notes=notes, created_by=user)
    except IntegrityError:
        raise Conflict("Another person has just made this version; try again.", code="version_taken") from None
    rows = (
        VersionMember(version=version, episode=one, split=split)
        for one, split in read_members(export_folder(export_id))
    )
    while batch := list(islice(rows, MEMBER_BATCH)):
        VersionMember.objects.bulk_create(batch)
    audit_record(actor=user, verb="version.frozen", subject=f"export:{export_id}", details={"version": str(version)})
    return version


@transaction.atomic(durable=True)
def lineage_add(*, user: User, name: str, number: int, policy: str, revision: str) -> Version:
    """Note that a revision was trained from a version. Raises Forbidden and NotFound."""
    version = version_of(user=user, name=name, number=number)
    trained = PolicyRevision.objects.filter(name=policy, revision=revision).first()
    if trained is None:
        raise NotFound("There is no such revision.")
    Lineage.objects.get_or_create(version=version, revision=trained)
    audit_record(actor=user, verb="version.trained", subject=f"version:{version}", details={"revision": str(trained)})
    return version
