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
from annotation_app.blobs.services import blobs_held
from annotation_app.catalogue.selectors import chosen
from annotation_app.catalogue.services import entries_refresh
from annotation_app.errors import Conflict, Forbidden, NotFound, storage_code
from annotation_app.exports import pushing
from annotation_app.exports.folder import Made, MissingBlobs, Order, folder_write, members_read
from annotation_app.exports.models import Export, ExportState, Lineage, Version, VersionMember
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.selectors import evaluated_kinds, export_folder, export_of, exporter_check, version_of
from annotation_app.exports.splits import split_of
from annotation_app.heartbeats import abandoned_jobs, heartbeat
from annotation_app.notices.services import notice_create
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Pool
from annotation_app.webhooks.services import event_emit

"""A worker that did not get further for so long, or never began, is taken for dead."""
ATTEMPTS = 3
MEMBERS = 5_000
"""Trajectories of a version that are stored at once."""
UNDER_WAY = (ExportState.QUEUED, ExportState.RUNNING)


class Stopped(Exception):
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
        raise NotFound("There is no such pool.")
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
    under_way = Export.objects.filter(pk=export_id, status__in=UNDER_WAY)
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
        with heartbeat(_held(export)):
            with blobs_held():
                made = folder_write(_order(export))
            _pushed(export)
    except Stopped:
        return
    except MissingBlobs as error:
        lost = [{"sha256": sha256, "episode": episode} for sha256, episode in error.first]
        _export_close(export, status=ExportState.FAILED, error=str(error), missing=lost)
    except OSError as error:
        _export_close(export, status=ExportState.FAILED, error=f"{storage_code(error)}: {error.strerror}")
    except pushing.PushFailed as error:
        _export_close(export, status=ExportState.FAILED, error=str(error))
    else:
        _export_close(export, status=ExportState.DONE, progress=1, **_told(made))


@transaction.atomic(durable=True)
def exports_stale() -> tuple[UUID, ...]:
    """Exports nobody works on, queued again; one that broke every attempt has failed. Which are to be written."""
    silent = abandoned_jobs(Export.objects.all())
    tired = silent.filter(attempts__gte=ATTEMPTS)
    for export in tired.select_related("requested_by").select_for_update(skip_locked=True, of=("self",)):
        export.status, export.finished_at = ExportState.FAILED, timezone.now()
        export.error = f"It broke off {ATTEMPTS} times."
        export.save(update_fields=["status", "finished_at", "error"])
        _export_tell(export)
    again = tuple(silent.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Export.objects.filter(pk__in=again).update(status=ExportState.QUEUED, heard_at=timezone.now())
    return again


def export_to(*, target: Path, pool_name: str | None, filters: ExportFilters, plan: ExportPlan | None = None) -> Made:
    """Write an export to a folder of the caller's choice. Raises NotFound, MissingBlobs and OSError."""
    pool = Pool.objects.filter(name=pool_name).first() if pool_name else None
    if pool_name and pool is None:
        raise NotFound(f"There is no pool {pool_name!r}.")
    asked, shape = _narrowed(filters, pool), plan or ExportPlan()
    order = Order(
        target=target,
        filters=filters,
        plan=shape,
        pool=pool_name,
        created_at=timezone.now(),
        chosen=_chosen(asked, shape),
    )
    with blobs_held():
        return folder_write(order)


def _held(export: Export) -> QuerySet[Export]:
    """The export's row while this worker writes it."""
    return Export.objects.filter(pk=export.pk, status=ExportState.RUNNING, attempts=export.attempts)


def _order(export: Export) -> Order:
    filters, plan = ExportFilters.model_validate(export.filters), ExportPlan.model_validate(export.plan)
    mine = _held(export)

    def progress(share: float) -> None:
        if not mine.update(progress=share, heard_at=timezone.now()):
            raise Stopped

    return Order(
        target=export_folder(export.id),
        filters=filters,
        plan=plan,
        pool=export.pool.name if export.pool else None,
        created_at=export.created_at,
        chosen=_chosen(_narrowed(filters, export.pool), plan),
        progress=progress,
    )


def _narrowed(filters: ExportFilters, pool: Pool | None) -> ExportFilters:
    return filters if pool is None else filters.model_copy(update={"pool": pool.pk})


def _chosen(filters: ExportFilters, plan: ExportPlan) -> Callable[[], Iterator[tuple[UUID, str]]]:
    """Which episodes, each with its split: what is evaluated at is in `test` at the most."""

    def found() -> Iterator[tuple[UUID, str]]:
        entries_refresh()
        barred = evaluated_kinds() if plan.bars else frozenset()
        for episode, kind in chosen(filters):
            yield episode, "test" if kind in barred else split_of(kind, plan.shares)

    return found


def _pushed(export: Export) -> None:
    if export.destination:
        pushing.push(export_folder(export.id), export.destination)
        Export.objects.filter(pk=export.pk).update(pushed=True)


def _told(made: Made) -> dict[str, object]:
    return {
        "trajectories": made.counts.trajectories,
        "records": made.counts.records,
        "bytes": made.bytes,
        "refused": sum(made.refused.values()),
        "refused_codes": made.refused,
        "missing": [{"sha256": sha256, "episode": episode} for sha256, episode in made.missing],
        "manifest_sha256": made.manifest_sha256,
    }


@transaction.atomic(durable=True)
def _export_close(export: Export, **fields: object) -> None:
    mine = Export.objects.filter(pk=export.pk, status=ExportState.RUNNING, attempts=export.attempts)
    if mine.update(finished_at=timezone.now(), **fields):
        _export_tell(Export.objects.select_related("requested_by").get(pk=export.pk))


def _export_tell(export: Export) -> None:
    """Say to programs and to who asked for it how it went, in the transaction in which it ends."""
    kind: Literal["export.finished", "export.failed"]
    kind = "export.finished" if export.status == ExportState.DONE else "export.failed"
    told = {"id": str(export.pk), "status": export.status, "trajectories": export.trajectories}
    event_emit(kind=kind, data={**told, "manifest_sha256": export.manifest_sha256, "error": export.error})
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
        raise Conflict("Somebody else made this version just now; try again.", code="version_taken") from None
    rows = (
        VersionMember(version=version, episode=one, split=split)
        for one, split in members_read(export_folder(export_id))
    )
    while batch := list(islice(rows, MEMBERS)):
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
