"""Queries on import jobs."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.errors import NotFound
from annotation_app.imports.models import Import, Upload
from annotation_app.imports.schemas import ImportOut, RefusalOut, RefusalPage, UploadOut

MAX_LISTED = 100
PAGE_SIZE = 100
PART_BYTES = 8 * 2**20
"""Most bytes of one part of an upload; a process holds a part in memory while it is written."""


@dataclass(frozen=True, slots=True)
class UploadAccess:
    """Who may upload, and which uploads they have to do with: those of recorded sessions, or all others."""

    check: Callable[[User], None]
    """Raises Forbidden."""
    sessions: bool

    def own_uploads(self, user: User) -> QuerySet[Upload]:
        """The person's own uploads of this kind. Raises Forbidden."""
        self.check(user)
        return Upload.objects.filter(owner=user, session__isnull=not self.sessions)


def importer_check(user: User) -> None:
    """Raises Forbidden for all but researchers and admins."""
    role_check(user, Role.RESEARCHER, Role.ADMIN)


def recorder_check(user: User) -> None:
    """Raises Forbidden for all but annotators."""
    role_check(user, Role.ANNOTATOR)


IMPORTERS = UploadAccess(importer_check, sessions=False)
RECORDERS = UploadAccess(recorder_check, sessions=True)


def import_of(*, user: User, import_id: UUID) -> Import:
    """One job. Raises Forbidden and NotFound."""
    importer_check(user)
    found = Import.objects.select_related("requested_by").filter(pk=import_id).first()
    if found is None:
        raise NotFound("There is no such import.")
    return found


def imports_list(*, user: User) -> list[ImportOut]:
    """The newest jobs. Raises Forbidden."""
    importer_check(user)
    return [import_out(one) for one in Import.objects.select_related("requested_by")[:MAX_LISTED]]


def import_out(job: Import) -> ImportOut:
    """A job as it is shown."""
    return ImportOut(
        id=job.id,
        name=job.name,
        format=job.format,
        pool_id=job.pool_id,
        pool=job.pool_name,
        status=job.status,
        progress=job.progress,
        imported=job.imported,
        steps=job.steps,
        known=job.known,
        refused=job.refused,
        code=job.code,
        error=job.error,
        requested_by=job.requested_by.username if job.requested_by else None,
        created_at=job.created_at,
        finished_at=job.finished_at,
    )


def refusals_page(*, user: User, import_id: UUID, after: int = 0) -> RefusalPage:
    """Rows that did not come in, in order. Raises Forbidden and NotFound."""
    rows = list(import_of(user=user, import_id=import_id).refusals.filter(pk__gt=after)[: PAGE_SIZE + 1])
    items = (RefusalOut(file=row.file, line=row.line, code=row.code, message=row.message) for row in rows[:PAGE_SIZE])
    return RefusalPage(items=tuple(items), next=rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None)


def import_folder(import_id: UUID) -> Path:
    """Where an upload lies while it is taken in."""
    folder: Path = settings.ENV.data / "imports" / str(import_id)
    return folder


def upload_of(*, user: User, upload_id: UUID, access: UploadAccess = IMPORTERS) -> Upload:
    """One of the person's unfinished uploads. Raises Forbidden, and NotFound for those of others too."""
    found = access.own_uploads(user).filter(pk=upload_id, expires_at__gt=timezone.now()).first()
    if found is None:
        raise NotFound("There is no such upload.")
    return found


def uploads_list(*, user: User, access: UploadAccess = IMPORTERS) -> list[UploadOut]:
    """The person's unfinished uploads, the newest first. Raises Forbidden."""
    return [upload_out(one) for one in access.own_uploads(user).filter(expires_at__gt=timezone.now())]


def upload_out(upload: Upload) -> UploadOut:
    """An upload as it is shown."""
    return UploadOut(
        id=upload.id,
        name=upload.name,
        size=upload.size,
        offset=upload_offset(upload),
        sha256=upload.sha256,
        fingerprint=upload.fingerprint,
        pool=upload.pool_name,
        format=upload.format,
        part_bytes=PART_BYTES,
        expires_at=upload.expires_at,
        created_at=upload.created_at,
    )


def upload_file(upload_id: UUID) -> Path:
    """Where the parts of an upload lie."""
    file: Path = settings.ENV.data / "uploads" / str(upload_id)
    return file


def upload_offset(upload: Upload) -> int:
    """Where the next part begins: what was received and is still on the disk."""
    file = upload_file(upload.id)
    moved = import_folder(upload.id) / "upload"
    """A finished upload whose import was not stored yet, since the process ended in between."""
    size = next((place.stat().st_size for place in (file, moved) if place.exists()), 0)
    return min(upload.received, size)
