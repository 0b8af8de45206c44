"""Schemas of imports."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import StringConstraints

from protocol.base import FrozenModel

ImportStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ImportFormat = Literal["", "canonical", "atif", "agentnet", "recording"]
"""Empty: each row is read as what it says it is."""


class ImportIn(FrozenModel):
    """What goes with an upload: what its rows have to be, and the pool of what comes in; empty, one named after it."""

    pool: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100, pattern=r"^[^\x00-\x1f]*$")] = ""
    format: ImportFormat = ""


class UploadIn(ImportIn):
    """A file that is to arrive in parts, as its `Upload-Metadata` describes it."""

    filename: Annotated[str, StringConstraints(min_length=1, max_length=1_000)] = "upload"
    sha256: Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{64})?$")] = ""
    """Of the whole file; checked before it is imported."""
    fingerprint: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00-\x1f]*$")] = ""
    """Whatever the client needs to recognize the file when it resumes; not interpreted."""


class UploadOut(FrozenModel):
    """An upload in parts; `offset` is where the next part begins."""

    id: UUID
    name: str
    size: int
    offset: int
    sha256: str
    fingerprint: str
    pool: str
    format: ImportFormat
    part_bytes: int
    """Most bytes of one part."""
    expires_at: datetime
    created_at: datetime


class ImportOut(FrozenModel):
    """An import job; `progress` runs from 0 to 1."""

    id: UUID
    name: str
    format: ImportFormat
    pool_id: int | None
    """The pool of what came in; null while nothing has."""
    pool: str
    status: ImportStatus
    progress: float
    imported: int
    steps: int
    known: int
    """Trajectories that were here already."""
    refused: int
    code: str
    error: str
    requested_by: str | None
    created_at: datetime
    finished_at: datetime | None


class RefusalOut(FrozenModel):
    """A row that did not come in, and why; lines count from 1."""

    file: str
    line: int
    code: str
    message: str


class RefusalPage(FrozenModel):
    """Refused rows, in order; `next` asks for what follows."""

    items: tuple[RefusalOut, ...]
    next: int | None
