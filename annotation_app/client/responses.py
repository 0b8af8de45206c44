"""What the server is asked and what it answers, as far as this client reads it; fields it does not know it leaves be.

A contract test compares every model with the server's own description.
"""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict

from protocol.trajectory.steps import Decision
from protocol.trajectory.trajectories import Outcome

ReviewState = Literal["pending", "accepted", "returned", "rejected"]
ExportStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED_STATUSES: frozenset[ExportStatus] = frozenset({"done", "failed", "cancelled"})


class ServerResponse(BaseModel):
    """An answer of the server; fields that are not read may be there too."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Query(BaseModel):
    """Which ended episodes: each field that is set narrows it."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    text: str = ""
    pool: int | None = None
    decisions: tuple[Decision, ...] = ()
    policy: str | None = None
    application: str | None = None
    action: str | None = None
    level: int | None = None
    outcome: Outcome | None = None
    review: ReviewState | None = None
    annotator: str | None = None
    reward_min: float | None = None
    reward_max: float | None = None
    steps_min: int | None = None
    steps_max: int | None = None
    since: datetime | None = None
    until: datetime | None = None


class FoundEpisode(ServerResponse):
    """A line of what a query finds."""

    id: UUID
    task_id: str
    instruction: str
    pool: str
    outcome: Outcome | None
    review: ReviewState
    steps: int
    annotator: str
    reward: float | None
    decisions: tuple[Decision, ...]
    policies: tuple[str, ...]
    applications: tuple[str, ...]
    created_at: datetime
    finished_at: datetime | None


class FoundPage(ServerResponse):
    """A page of it; `next` asks for the following one."""

    items: tuple[FoundEpisode, ...]
    next: str | None


class SavedQueryOut(ServerResponse):
    """A saved query."""

    id: int
    name: str
    owner: str
    query: dict[str, Any]


class FeedItem(ServerResponse):
    """A trajectory that became ready, and when."""

    id: UUID
    ready_at: datetime


class FeedPage(ServerResponse):
    """A page of the feed; the next round begins at `settled`, and tells again what became ready after it."""

    items: tuple[FeedItem, ...]
    next: str | None
    settled: datetime


class ExportOut(ServerResponse):
    """An export; `progress` runs from 0 to 1."""

    id: UUID
    status: ExportStatus
    progress: float
    trajectories: int
    records: int
    bytes: int
    refused: int
    refused_codes: dict[str, int] = {}
    error: str
    created_at: datetime
    finished_at: datetime | None


class ImportOut(ServerResponse):
    """An import; `progress` runs from 0 to 1, `known` is how many trajectories were there already."""

    id: UUID
    name: str
    pool_id: int | None
    pool: str
    status: ExportStatus
    progress: float
    imported: int
    known: int
    refused: int
    code: str
    error: str


class UploadOut(ServerResponse):
    """An unfinished upload; `offset` is where its next part begins, `part_bytes` the most that one may have."""

    id: UUID
    size: int
    offset: int
    sha256: str
    pool: str
    format: Literal["", "canonical", "atif", "agentnet", "recording"]
    part_bytes: int


class RefusalOut(ServerResponse):
    """A row of an import that did not come in, and why; lines count from 1."""

    file: str
    line: int
    code: str
    message: str


class RefusalPage(ServerResponse):
    """Refused rows, in order; `next` asks for what follows."""

    items: tuple[RefusalOut, ...]
    next: int | None


class PolicyRef(ServerResponse):
    """Which policy: its name and its revision."""

    name: str
    revision: str
    dialect: str


class RevisionSummary(ServerResponse):
    """A registered revision, and the pools it proposes in."""

    id: int
    policy: PolicyRef
    base_url: str
    model: str
    active_in: tuple[str, ...]
    tried_in: tuple[str, ...]


class RevisionOut(ServerResponse):
    """A registered revision's number; `new` is False where the very same one was there."""

    id: int
    new: bool
