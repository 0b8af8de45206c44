"""Schemas of recordings."""

from datetime import datetime

from protocol.base import FrozenModel
from protocol.blobs import BlobRef, Sha256


class StoredPart(FrozenModel):
    """One video file, and when its content began and ended. The end is unknown if a bridge was killed."""

    blob: BlobRef
    started_at: datetime
    ended_at: datetime | None


class StepMark(FrozenModel):
    """When a step began and ended, in seconds of the part that shows it."""

    index: int
    begins: float
    ends: float


class RecordingPart(FrozenModel):
    """One video file (a blob of the episode); `seconds` is its length if known."""

    number: int
    sha256: Sha256
    started_at: datetime
    seconds: float | None
    steps: tuple[StepMark, ...]


class RecordingOut(FrozenModel):
    """An episode's video; `pending`: parts of it are not stored yet."""

    pending: bool
    parts: tuple[RecordingPart, ...]
