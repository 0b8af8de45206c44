"""Uploads in parts: created, filled, finished, cancelled, expired."""

import hashlib
import os
import shutil
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Sum
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.errors import ChecksumMismatch, Conflict, DiskFull, NotFound, TooLarge
from annotation_app.imports.models import Import, Upload
from annotation_app.imports.schemas import UploadIn
from annotation_app.imports.selectors import (
    IMPORTERS,
    UploadAccess,
    import_folder,
    importer_check,
    upload_file,
    upload_offset,
)
from annotation_app.imports.services.jobs import choose_pool_name, display_name

MAX_OPEN_UPLOADS = 20
"""Unfinished uploads of one person."""
MIN_FREE_BYTES = 2**30
"""What uploads leave free on the disk."""
ADMISSION_LOCK_KEY = 0x75706C64
"""PostgreSQL's advisory lock under which uploads are admitted, so that two cannot share the last free bytes."""


def upload_create(*, user: User, size: int, wish: UploadIn) -> Upload:
    """Admit a file that is to arrive in parts. Raises Forbidden, TooLarge, DiskFull and Conflict."""
    importer_check(user)
    if size > settings.ENV.import_limit:
        raise TooLarge(f"A file to import may have {settings.ENV.import_limit} bytes.")
    name = display_name(wish.filename)
    choose_pool_name(wish.pool, name)
    with transaction.atomic(durable=True):
        return upload_admit(
            Upload(
                owner=user,
                name=name,
                size=size,
                sha256=wish.sha256,
                fingerprint=wish.fingerprint,
                pool_name=wish.pool,
                format=wish.format,
            )
        )


def upload_admit(upload: Upload) -> Upload:
    """Store an upload that has room. Runs inside the caller's transaction. Raises TooLarge and DiskFull."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [ADMISSION_LOCK_KEY])
    _check_space(upload.owner, upload.size)
    upload.expires_at = _expiry()
    upload.save(force_insert=True)
    return upload


def upload_append(
    *,
    user: User,
    upload_id: UUID,
    offset: int,
    data: bytes,
    sha256: bytes | None = None,
    access: UploadAccess = IMPORTERS,
) -> Upload:
    """Write one part. A part that was written before changes nothing.

    Args:
        offset: Where the part begins in the file.
        sha256: Digest of the part, where the client sent one.

    Raises:
        Conflict: `upload_offset`, with the right `offset` in `extra`; nothing was written.
        ChecksumMismatch: The part was damaged on its way; nothing was written.
        TooLarge: It reaches past the announced size; nothing was written.
        Forbidden, NotFound, OSError
    """
    access.check(user)
    if sha256 is not None and hashlib.sha256(data).digest() != sha256:
        raise ChecksumMismatch("The part was damaged on its way. Send it again.")
    with transaction.atomic(durable=True):
        upload = _lock_upload(user, upload_id, access)
        expected = upload_offset(upload)
        if offset + len(data) > upload.size:
            raise TooLarge(f"The upload was announced with {upload.size} bytes; this part reaches past them.")
        if offset != expected:
            if offset + len(data) > expected or not _is_written(upload, offset, data):
                raise Conflict(f"The next part begins at {expected}.", code="upload_offset", extra={"offset": expected})
        elif data:  # an empty part makes no file: the whole one may be with its import already
            _write(upload, offset, data)
            upload.received = offset + len(data)
        upload.expires_at = _expiry()
        upload.save(update_fields=["received", "expires_at"])
    return upload


def upload_finish(
    *, user: User, upload_id: UUID, pool: str = "", form: str = "", access: UploadAccess = IMPORTERS
) -> Import:
    """Turn a complete upload into an import of the same id, which is to be run. Repeated, it returns that import.

    Raises:
        Conflict: `upload_incomplete`, or `pool_taken` where the pool holds no imports; the upload stays.
        Forbidden, NotFound, OSError
    """
    with transaction.atomic(durable=True):
        upload = access.own_uploads(user).select_for_update(of=("self",)).filter(pk=upload_id).first()
        if upload is None:
            return _finished_import(user, upload_id, access)
        offset = upload_offset(upload)
        if offset != upload.size:
            raise Conflict(
                f"{upload.size - offset} bytes are missing.", code="upload_incomplete", extra={"offset": offset}
            )
        job = Import(
            id=upload.id,
            name=upload.name,
            format=form or upload.format,
            pool=upload.pool,
            pool_name=upload.pool_name if upload.pool else choose_pool_name(pool or upload.pool_name, upload.name),
            session=upload.session,
            sha256=upload.sha256,
            requested_by=user,
        )
        _move_to_import(upload)
        job.save(force_insert=True)
        upload.delete()
        details = {"name": job.name, "pool": job.pool_name, "format": job.format}
        audit_record(actor=user, verb="import.requested", subject=f"import:{job.id}", details=details)
    return job


@transaction.atomic(durable=True)
def upload_cancel(*, user: User, upload_id: UUID, access: UploadAccess = IMPORTERS) -> None:
    """Forget an upload and what came of it. Raises Forbidden and NotFound."""
    _remove_upload(_lock_upload(user, upload_id, access))


def uploads_expire() -> int:
    """Remove uploads that got no part for too long. Returns how many."""
    count = 0
    for upload_id in Upload.objects.filter(expires_at__lte=timezone.now()).values_list("pk", flat=True):
        with transaction.atomic(durable=True):
            expired = Upload.objects.select_for_update(skip_locked=True).filter(
                pk=upload_id, expires_at__lte=timezone.now()
            )
            if (upload := expired.first()) is not None:
                _remove_upload(upload)
                count += 1
    return count


def _check_space(user: User, size: int) -> None:
    """Raises TooLarge for a person's share that is used up, and DiskFull."""
    own_uploads = Upload.objects.filter(owner=user)
    used = _sum_of(own_uploads.aggregate(sum=Sum("size")))
    most = settings.ENV.uploads_per_person_bytes
    if own_uploads.count() >= MAX_OPEN_UPLOADS or used + size > most:
        raise TooLarge(
            f"Your unfinished uploads may have {most} bytes, and {MAX_OPEN_UPLOADS} at once. "
            "Finish or cancel one first.",
            code="upload_quota",
            extra={"used": used, "most": most},
        )
    everyone = Upload.objects.aggregate(sum=Sum("size"))
    if _sum_of(everyone) + size > settings.ENV.uploads_total_bytes:
        raise DiskFull("All space for uploads is taken. Try again later.", code="upload_space")
    pending_bytes = _sum_of(Upload.objects.aggregate(sum=Sum(F("size") - F("received"))))
    free = shutil.disk_usage(settings.ENV.data).free
    if free - pending_bytes - size < MIN_FREE_BYTES:
        raise DiskFull("The disk has no room for this file. Try again later.", code="upload_space")


def _sum_of(total: dict[str, int | None]) -> int:
    return total["sum"] or 0


def _expiry() -> datetime:
    return timezone.now() + timedelta(hours=settings.ENV.uploads_expire_hours)


def _lock_upload(user: User, upload_id: UUID, access: UploadAccess) -> Upload:
    """The row, locked, so that parts of two browsers are written one after the other. Raises NotFound."""
    rows = access.own_uploads(user).select_for_update().filter(pk=upload_id, expires_at__gt=timezone.now())
    found = rows.first()
    if found is None:
        raise NotFound("There is no such upload.")
    return found


def _is_written(upload: Upload, offset: int, data: bytes) -> bool:
    try:
        with upload_file(upload.id).open("rb") as file:
            file.seek(offset)
            return file.read(len(data)) == data
    except FileNotFoundError:
        return False


def _write(upload: Upload, offset: int, data: bytes) -> None:
    """Put a part on the disk before its bytes are counted: after a crash, `received` is never too large."""
    path = upload_file(upload.id)
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.seek(offset)
        file.write(data)
        file.truncate()  # what a write that broke off left behind
        file.flush()
        os.fdatasync(file.fileno())


def _move_to_import(upload: Upload) -> None:
    """Move the file to its import; a process that ended in between may have done so already."""
    target = import_folder(upload.id) / "upload"
    target.parent.mkdir(parents=True, exist_ok=True)
    source = upload_file(upload.id)
    if source.exists():
        source.rename(target)
    elif not target.exists():
        target.touch()


def _finished_import(user: User, upload_id: UUID, access: UploadAccess) -> Import:
    own_jobs = Import.objects.filter(requested_by=user, session__isnull=not access.sessions)
    job = own_jobs.filter(pk=upload_id).first()
    if job is None:
        raise NotFound("There is no such upload.")
    return job


def _remove_upload(upload: Upload) -> None:
    upload_file(upload.id).unlink(missing_ok=True)
    shutil.rmtree(import_folder(upload.id), ignore_errors=True)
    upload.delete()
