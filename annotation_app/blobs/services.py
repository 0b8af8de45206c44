"""Storing bytes."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.models import Exists, ForeignObjectRel, OuterRef

from annotation_app.blobs.models import Blob, SharedFolder
from annotation_app.errors import Conflict, Invalid, TooLarge
from annotation_app.settings.env import database_settings
from protocol.blobs import BlobRef

if TYPE_CHECKING:
    from annotation_app.blobs.bucket import BlobBucket

DELETION_LOCK_KEY = 0x70696C6F74
"""The lock that prevents deletion of blobs while they are read."""
MARK_NAME = "installation"
"""The file that identifies the installation of a data folder."""
BLOB_LIMIT_BYTES = 32 * 1024 * 1024
"""Largest blob (bytes)."""
SERVED_MEDIA_TYPES = frozenset({"image/jpeg", "image/png", "video/mp4"})
"""Media types that are served unchanged."""
FALLBACK_MEDIA_TYPE = "application/octet-stream"
"""The media type of everything else. Files from a machine may be anything, and none may run in a browser."""


def blob_write(*, ref: BlobRef, data: bytes) -> None:
    """Store bytes once under their digest: written to a temporary name, synced, renamed. Raises Invalid and
    TooLarge."""
    if len(data) > BLOB_LIMIT_BYTES:
        raise TooLarge(f"A blob may have {BLOB_LIMIT_BYTES} bytes.")
    if BlobRef.of(data, ref.media_type) != ref:
        raise Invalid("The bytes are not those of their digest.", code="digest_mismatch")
    _write_bytes(ref, data)


def data_folder_claim() -> None:
    """Register this folder as the installation's data folder, if it has none yet. Raises Conflict if another is
    registered, because no process would read what is written here."""
    file: Path = settings.ENV.data / MARK_NAME
    if not SharedFolder.objects.exists():
        SharedFolder.objects.bulk_create([SharedFolder(mark=_read_or_create_mark(file))], ignore_conflicts=True)
    expected_mark = str(SharedFolder.objects.get().mark)
    if not file.exists() or file.read_text().strip() != expected_mark:
        message = (
            f"{file.parent.absolute()} is not the data folder of this installation, which its programs on all hosts "
            f"share. If its files were brought here by hand, write {expected_mark} into {file.absolute()}."
        )
        raise Conflict(message, code="other_folder")


def _read_or_create_mark(file: Path) -> UUID:
    """The folder's mark, created if missing. Two processes that create it at once get the same one."""
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    aside.write_text(str(uuid4()))
    with suppress(FileExistsError):
        file.hardlink_to(aside)
    aside.unlink()
    return UUID(file.read_text())


def _write_bytes(ref: BlobRef, data: bytes) -> None:
    """With a bucket, only the bucket decides what is stored: a local copy may have outlived its deletion elsewhere."""
    if (blob_store := blob_bucket()) is not None and blob_store.size(ref.sha256) != ref.size:
        blob_store.put(ref.sha256, data)
    path = local_blob_path(ref.sha256)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{ref.sha256}.{secrets.token_hex(4)}.tmp")
        try:
            with aside.open("wb") as file:
                file.write(data)
                file.flush()
                os.fdatasync(file.fileno())
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)  # exists only if the disk refused it for lack of room


def blob_record(*, ref: BlobRef, data: bytes | None = None) -> None:
    """Record that these bytes are stored, and block their deletion until the caller's transaction ends. Runs inside
    that transaction. If they were being deleted, they are written again from `data`."""
    blobs_record([ref])
    if data is not None:
        _write_bytes(ref, data)


def blobs_record(refs: Iterable[BlobRef]) -> None:
    """Like `blob_record`, for many blobs at once, without their bytes."""
    digests = {ref.sha256: ref for ref in refs}
    blobs = [
        Blob(
            sha256=sha256,
            media_type=ref.media_type if ref.media_type in SERVED_MEDIA_TYPES else FALLBACK_MEDIA_TYPE,
            size=ref.size,
        )
        for sha256, ref in sorted(digests.items())  # in a fixed order, to avoid deadlocks
    ]
    Blob.objects.bulk_create(blobs, ignore_conflicts=True)
    while not _lock_rows([blob.sha256 for blob in blobs]):  # one was deleted in between
        Blob.objects.bulk_create(blobs, ignore_conflicts=True)


def _lock_rows(digests: list[str]) -> bool:
    """Whether all of these have rows. They stay until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM blobs_blob WHERE sha256 = ANY(%s) ORDER BY sha256 FOR KEY SHARE", [digests])
        return len(cursor.fetchall()) == len(digests)


@contextmanager
def blob_deletion_paused() -> Iterator[None]:
    """Block all deletion of blobs while the block runs. Any number of processes may hold the lock at once, and it is
    released when a process dies. It outlives transactions, so it uses a connection of its own that bypasses any pooler.
    """
    lock_connection = connection.copy()
    lock_connection.settings_dict["OPTIONS"].pop("pool", None)
    if direct := settings.ENV.database_direct_url:
        direct_settings = database_settings(direct)
        lock_connection.settings_dict.update(
            {name: direct_settings.get(name, "") for name in ("HOST", "PORT", "USER", "PASSWORD")}
        )
        lock_connection.settings_dict["OPTIONS"].update(direct_settings["OPTIONS"])
    try:
        with lock_connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock_shared(%s)", [DELETION_LOCK_KEY])
        try:
            yield
        finally:
            # PostgreSQL notices a closed connection late. Until then the next deletion would find the lock held.
            with suppress(DatabaseError), lock_connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock_shared(%s)", [DELETION_LOCK_KEY])
    finally:
        lock_connection.close()


def blob_deletion_try_begin() -> bool:
    """Whether blobs may be deleted in this transaction: not while deletion is paused."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [DELETION_LOCK_KEY])
        return bool(cursor.fetchone()[0])


def blobs_delete(digests: Iterable[str]) -> tuple[int, int]:
    """Delete those of these blobs that are no longer referenced. Returns how many, and their bytes. Runs at the end of
    the caller's transaction. Files are deleted before it commits: a process that stores the same bytes meanwhile waits,
    and writes them again."""
    locked = Blob.objects.filter(pk__in=list(digests)).order_by("pk").select_for_update(skip_locked=True)
    unreferenced = Blob.objects.filter(
        pk__in=[blob.pk for blob in locked]
    )  # check again: now they are no longer referenced
    for relation in Blob._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel):
            rows = relation.related_model._default_manager.filter(**{relation.field.name: OuterRef("pk")})
            unreferenced = unreferenced.exclude(Exists(rows))
    deleted = list(unreferenced)
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('pilothouse.retention', 'blobs_blob', true)")
        Blob.objects.filter(pk__in=[blob.pk for blob in deleted]).delete()
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    blob_store = blob_bucket()
    for blob in deleted:
        if blob_store is not None:
            blob_store.delete(blob.pk)
        local_blob_path(blob.pk).unlink(missing_ok=True)
    return len(deleted), sum(blob.size for blob in deleted)


def blob_bucket() -> "BlobBucket | None":
    """The bucket of this installation's blobs; None if they are only files of its folder."""
    if not settings.ENV.blobs_url:
        return None
    from annotation_app.blobs.bucket import open_bucket  # importing boto3 takes a tenth of a program's start

    return open_bucket(settings.ENV.blobs_url)


def local_blob_path(sha256: str) -> Path:
    """The path of the bytes with this digest on this host, if it has them."""
    folder: Path = settings.ENV.data / "blobs" / sha256[:2]
    return folder / sha256
