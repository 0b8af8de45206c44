"""Storing bytes."""

import os
import secrets

from annotation_app.blobs.models import Blob
from annotation_app.blobs.selectors import blob_path
from annotation_app.errors import Invalid, TooLarge
from vocabulary.blobs import BlobRef

BLOB_LIMIT = 32 * 1024 * 1024
"""Largest blob (bytes)."""
MEDIA_TYPES = frozenset({"image/jpeg", "image/png", "video/mp4"})
"""What may be stored: nothing a browser would run."""


def blob_write(*, ref: BlobRef, data: bytes) -> None:
    """Keep bytes once under their digest: written aside, synced, renamed. Raises Invalid and TooLarge."""
    if ref.media_type not in MEDIA_TYPES:
        raise Invalid(f"Blobs of type {ref.media_type} are not stored.", code="media_type")
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
    blob = Blob(sha256=ref.sha256, media_type=ref.media_type, size=ref.size)
    Blob.objects.bulk_create([blob], ignore_conflicts=True)
