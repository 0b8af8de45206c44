"""Storing bytes."""

import os
import secrets

from annotation_app.blobs.models import Blob
from annotation_app.blobs.selectors import blob_path
from annotation_app.errors import Invalid, TooLarge
from vocabulary.blobs import BlobRef

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
    path = blob_path(ref.sha256)
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f".{ref.sha256}.{secrets.token_hex(4)}.tmp")
        with aside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fdatasync(file.fileno())
        aside.replace(path)


def blob_record(*, ref: BlobRef) -> None:
    """Note that these bytes are kept. Runs inside the caller's transaction."""
    media_type = ref.media_type if ref.media_type in SHOWN else BYTES
    blob = Blob(sha256=ref.sha256, media_type=media_type, size=ref.size)
    Blob.objects.bulk_create([blob], ignore_conflicts=True)
