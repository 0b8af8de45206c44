"""Queries on export jobs."""

from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from annotation_app.accounts.models import Role, User
from annotation_app.episodes.models import Episode
from annotation_app.errors import Conflict, Forbidden, NotFound
from annotation_app.exports.models import Export, ExportState, Version
from annotation_app.exports.schemas import ExportFilters, ExportOut, ExportPlan, FormatOut, MissingPicture, VersionOut
from annotation_app.policies.models import Evaluation
from annotation_app.tasks.models import Pool
from protocol.formats.registry import FORMATS

MAX_LISTED = 100


def exporter_check(user: User) -> None:
    """Raises Forbidden for all but researchers and admins."""
    if not user.has_role(Role.RESEARCHER, Role.ADMIN):
        raise Forbidden("Only researchers and admins export.")


def export_of(*, user: User, export_id: UUID) -> Export:
    """One job. Raises Forbidden and NotFound."""
    exporter_check(user)
    export = Export.objects.select_related("requested_by", "pool").filter(pk=export_id).first()
    if export is None:
        raise NotFound("There is no such export.", field="export_id")
    return export


def exports_list(*, user: User) -> list[ExportOut]:
    """The newest jobs. Raises Forbidden."""
    exporter_check(user)
    return [export_out(export) for export in Export.objects.select_related("requested_by", "pool")[:MAX_LISTED]]


def export_out(export: Export) -> ExportOut:
    """A job as it is shown."""
    return ExportOut(
        id=export.id,
        pool_id=export.pool_id,
        pool=_pool_name(export),
        filters=ExportFilters.model_validate(export.filters),
        plan=ExportPlan.model_validate(export.plan),
        status=export.status,
        progress=export.progress,
        trajectories=export.trajectories,
        records=export.records,
        bytes=export.bytes,
        error=export.error,
        missing=tuple(MissingPicture.model_validate(one) for one in export.missing),
        refused=export.refused,
        refused_codes=export.refused_codes,
        variants=export.variants,
        destination=export.destination,
        pushed=export.pushed,
        requested_by=export.requested_by.username,
        created_at=export.created_at,
        finished_at=export.finished_at,
    )


def _pool_name(export: Export) -> str:
    """The pool it was asked for, or the one its filter names; empty where it is of all."""
    if export.pool is not None:
        return export.pool.name
    pool_id = export.filters.get("pool")
    if pool_id is None:
        return ""
    return Pool.objects.filter(pk=pool_id).values_list("name", flat=True).first() or str(pool_id)


def formats_list(*, user: User) -> tuple[FormatOut, ...]:
    """What may be chosen. Raises Forbidden."""
    exporter_check(user)
    return tuple(FormatOut(name=one.name, layout=one.layout, dialect=one.dialect) for one in FORMATS.values())


def evaluated_task_kinds() -> frozenset[str]:
    """Kinds of task that policies are evaluated at."""
    return frozenset(kind for kinds in Evaluation.objects.values_list("kinds", flat=True) for kind in kinds)


def export_folder(export_id: UUID) -> Path:
    """Where a finished export lies."""
    folder: Path = settings.ENV.data / "exports" / str(export_id)
    return folder


def finished_export_folder(*, user: User, export_id: UUID) -> tuple[Path, str]:
    """A finished export's folder, and the SHA-256 of its manifest. Raises Forbidden, NotFound and Conflict."""
    export = export_of(user=user, export_id=export_id)
    if export.status != ExportState.DONE:
        raise Conflict("This export is not finished.", code="not_finished")
    return export_folder(export.id), export.manifest_sha256


def version_of(*, user: User, name: str, number: int) -> Version:
    """One dataset version. Raises Forbidden and NotFound."""
    exporter_check(user)
    found = Version.objects.select_related("export__pool", "created_by").filter(name=name, number=number).first()
    if found is None:
        raise NotFound("There is no such dataset version.")
    return found


def versions_list(*, user: User) -> tuple[VersionOut, ...]:
    """Every dataset version, by name, the newest number first. Raises Forbidden."""
    exporter_check(user)
    return tuple(version_out(one) for one in Version.objects.select_related("export__pool", "created_by"))


def version_out(version: Version) -> VersionOut:
    """A version as it is cited, with what was withdrawn since and what was trained from it."""
    export = version.export
    kept_out = Episode.objects.filter(
        Q(annotator__work_removed=True) | Q(withdrawal__isnull=False), pk__in=version.members.values("episode")
    )
    return VersionOut(
        name=version.name,
        number=version.number,
        citation=f"{version} sha256:{export.manifest_sha256}",
        export_id=export.pk,
        notes=version.notes,
        pool=_pool_name(export),
        filters=ExportFilters.model_validate(export.filters),
        plan=ExportPlan.model_validate(export.plan),
        manifest_sha256=export.manifest_sha256,
        trajectories=export.trajectories,
        withdrawn=kept_out.count(),
        checkpoints=tuple(str(one.revision) for one in version.lineages.select_related("revision")),
        created_by=version.created_by.username,
        created_at=version.created_at,
    )
