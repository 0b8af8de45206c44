"""What is asked of imports, and what is shown of them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import StringConstraints

from vocabulary.base import Frozen

ImportStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ImportFormat = Literal["", "canonical", "atif", "agentnet"]
"""Empty: each row is read as what it says it is."""


class ImportIn(Frozen):
    """What goes with an upload: what its rows have to be, and the pool of what comes in; empty, one named after it."""

    pool: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100, pattern=r"^[^\x00-\x1f]*$")] = ""
    format: ImportFormat = ""


class ImportOut(Frozen):
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


class RefusalOut(Frozen):
    """A row that did not come in, and why; lines count from 1."""

    file: str
    line: int
    code: str
    message: str


class RefusalPage(Frozen):
    """Refused rows, in order; `next` asks for what follows."""

    items: tuple[RefusalOut, ...]
    next: int | None
