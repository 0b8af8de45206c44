"""Reading stored bytes."""

import os
from pathlib import Path

from django.conf import settings

from annotation_app.blobs.services import blob_bucket, local_blob_path


def blob_path(sha256: str) -> Path:
    """The path of the bytes with this digest, whether or not they exist. Bytes of a bucket are fetched first, once.
    Raises OSError if the bucket does not answer."""
    path, blob_store = local_blob_path(sha256), blob_bucket()
    if blob_store is not None and not path.exists():
        blob_store.fetch(sha256, path)
    return path


def blob_exists(sha256: str) -> bool:
    """Whether the bytes with this digest exist. Bytes of a bucket are fetched. Raises OSError if the bucket does not
    answer."""
    if settings.ENV.blobs_url:
        return blob_path(sha256).exists()
    return os.path.exists(f"{settings.ENV.data}/blobs/{sha256[:2]}/{sha256}")  # creating a Path takes longer


def blob_read(sha256: str) -> bytes:
    """The stored bytes. Raises FileNotFoundError, and OSError if the bucket does not answer."""
    return blob_path(sha256).read_bytes()


def blob_size(sha256: str) -> int | None:
    """The size of the stored bytes; None if there are none. Raises OSError if the bucket does not answer."""
    if (blob_store := blob_bucket()) is not None:
        return blob_store.size(sha256)
    path = local_blob_path(sha256)
    return path.stat().st_size if path.is_file() else None
