"""Storing bytes."""

import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import UUID, uuid4

from django.conf import settings
from django.db import connection
from django.db.models import Exists, ForeignObjectRel, OuterRef

from annotation_app.blobs.models import Blob, SharedFolder
from annotation_app.blobs.selectors import blob_file, bucket
from annotation_app.errors import Conflict, Invalid, TooLarge
from annotation_app.settings.env import database_settings
from vocabulary.blobs import BlobRef

DELETION = 0x70696C6F74
"""The lock that keeps blobs from being deleted while they are read."""
MARK = "installation"
"""The file that says whose a data folder is."""
BLOB_LIMIT = 32 * 1024 * 1024
"""Largest blob (bytes)."""
SHOWN = frozenset({"image/jpeg", "image/png", "video/mp4"})
"""What is served as what it is."""
BYTES = "application/octet-stream"
"""What all else is served as: files out of a machine may be anything, and nothing of it may run in a browser."""


def blob_write(*, ref: BlobRef, data: bytes) -> None:
    """Keep bytes once under their digest: written aside, synced, renamed. Raises Invalid and TooLarge."""
    if len(data) > BLOB_LIMIT:
        raise TooLarge(f"A blob may have {BLOB_LIMIT} bytes.")
    if BlobRef.of(data, ref.media_type) != ref:
        raise Invalid("The bytes are not those of their digest.", code="digest_mismatch")
    _bytes_write(ref, data)


def folder_claim() -> None:
    """Let this be the installation's data folder, where none is yet. Raises Conflict where another is: what is written
    here would be read by nobody."""
    file: Path = settings.ENV.data / MARK
    if not SharedFolder.objects.exists():
        SharedFolder.objects.bulk_create([SharedFolder(mark=_mark_of(file))], ignore_conflicts=True)
    wanted = str(SharedFolder.objects.get().mark)
    if not file.exists() or file.read_text().strip() != wanted:
        message = (
            f"{file.parent.absolute()} is not the data folder of this installation, which its programs on all hosts "
            f"share. If its files were brought here by hand, write {wanted} into {file.absolute()}."
        )
        raise Conflict(message, code="other_folder")


def _mark_of(file: Path) -> UUID:
    """The folder's mark, made where it has none; two who make it at once have the same."""
    file.parent.mkdir(parents=True, exist_ok=True)
    aside = file.with_name(f".{file.name}.{secrets.token_hex(4)}.tmp")
    aside.write_text(str(uuid4()))
    with suppress(FileExistsError):
        file.hardlink_to(aside)
    aside.unlink()
    return UUID(file.read_text())


def _bytes_write(ref: BlobRef, data: bytes) -> None:
    """Where there is a bucket it alone says what is kept: a copy here may have outlived its deletion elsewhere."""
    if (kept := bucket()) is not None and kept.size(ref.sha256) != ref.size:
        kept.put(ref.sha256, data)
    path = blob_file(ref.sha256)
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
            aside.unlink(missing_ok=True)  # there only where the disk refused it, which is short of room


def blob_record(*, ref: BlobRef, data: bytes | None = None) -> None:
    """Note that these bytes are kept, and let nobody delete them before the caller's transaction, inside which this
    runs, has ended. Where they were being deleted they are written once more, from `data`."""
    blobs_record([ref])
    if data is not None:
        _bytes_write(ref, data)


def blobs_record(refs: Iterable[BlobRef]) -> None:
    """The same of many at once, without their bytes."""
    digests = {ref.sha256: ref for ref in refs}
    blobs = [
        Blob(sha256=sha256, media_type=ref.media_type if ref.media_type in SHOWN else BYTES, size=ref.size)
        for sha256, ref in sorted(digests.items())  # in one order, so that two do not wait for each other in a circle
    ]
    Blob.objects.bulk_create(blobs, ignore_conflicts=True)
    while not _locked([blob.sha256 for blob in blobs]):  # one was deleted between the two
        Blob.objects.bulk_create(blobs, ignore_conflicts=True)


def _locked(digests: list[str]) -> bool:
    """Whether there are rows of all of these; they stay until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM blobs_blob WHERE sha256 = ANY(%s) ORDER BY sha256 FOR KEY SHARE", [digests])
        return len(cursor.fetchall()) == len(digests)


@contextmanager
def blobs_held() -> Iterator[None]:
    """Nothing is deleted while this lasts, by whomever; as many as like may hold at once. A process that dies lets
    go. The lock outlives transactions, so it has a connection of its own, past any pooler."""
    own = connection.copy()
    own.settings_dict["OPTIONS"].pop("pool", None)
    if direct := settings.ENV.database_direct_url:
        there = database_settings(direct)
        own.settings_dict.update({name: there.get(name, "") for name in ("HOST", "PORT", "USER", "PASSWORD")})
        own.settings_dict["OPTIONS"].update(there["OPTIONS"])
    try:
        with own.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock_shared(%s)", [DELETION])
        yield
    finally:
        own.close()


def deletion_begin() -> bool:
    """Whether blobs may be deleted in this transaction: not while somebody holds them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [DELETION])
        return bool(cursor.fetchone()[0])


def blobs_delete(digests: Iterable[str]) -> tuple[int, int]:
    """Delete those of these that nothing refers to any more; how many, and their bytes. Runs at the end of the caller's
    transaction. Files go before it commits: who stores the same bytes meanwhile waits, and writes them again."""
    locked = Blob.objects.filter(pk__in=list(digests)).order_by("pk").select_for_update(skip_locked=True)
    free = Blob.objects.filter(pk__in=[blob.pk for blob in locked])  # asked again: now nobody refers to them any more
    for relation in Blob._meta.get_fields(include_hidden=True):
        if isinstance(relation, ForeignObjectRel):
            rows = relation.related_model._default_manager.filter(**{relation.field.name: OuterRef("pk")})
            free = free.exclude(Exists(rows))
    doomed = list(free)
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('pilothouse.retention', 'blobs_blob', true)")
        Blob.objects.filter(pk__in=[blob.pk for blob in doomed]).delete()
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    kept = bucket()
    for blob in doomed:
        if kept is not None:
            kept.delete(blob.pk)
        blob_file(blob.pk).unlink(missing_ok=True)
    return len(doomed), sum(blob.size for blob in doomed)
