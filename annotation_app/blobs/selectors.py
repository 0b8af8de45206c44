"""Finding stored bytes."""

from pathlib import Path

from django.conf import settings


def blob_path(sha256: str) -> Path:
    """Where the bytes of this digest lie (whether or not they do)."""
    folder: Path = settings.ENV.data / "blobs" / sha256[:2]
    return folder / sha256


def blob_read(sha256: str) -> bytes:
    """The stored bytes. Raises FileNotFoundError."""
    return blob_path(sha256).read_bytes()
