"""Schemas of batches."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from annotation_app.episodes.schemas import ReviewState
from annotation_app.http_api import ShortText
from annotation_app.reviews.schemas import JobStatus
from annotation_app.reviews.speech_schemas import RefiningModel
from protocol.base import FrozenModel
from protocol.trajectory.trajectories import Outcome

MAX_SESSIONS = 1_000
"""Of one batch."""
WritingKind = Literal["refinement", "enriched", "diversified"]
RowNumber = Annotated[int, Field(ge=1, le=2**31 - 1)]


class SessionFilters(FrozenModel):
    """Which recorded sessions; null: all."""

    pool: RowNumber | None = None
    annotator: ShortText | None = None
    outcome: Outcome | None = None
    review: ReviewState | None = None


class BatchIn(FrozenModel):
    """What a model is to write, and of which sessions: those of these `episodes`, or all that match the filters."""

    kind: WritingKind
    policy: RowNumber
    episodes: Annotated[tuple[UUID, ...], Field(min_length=1, max_length=MAX_SESSIONS)] | None = None
    filters: SessionFilters = SessionFilters()


class BatchSessionOut(FrozenModel):
    """The state of one session of a batch: `done` of `total` thoughts."""

    episode: UUID
    instruction: str
    status: JobStatus
    total: int
    done: int
    error: str


class BatchSummary(FrozenModel):
    """A batch of `total` sessions. `done` and `failed` count sessions; `left_out` are chosen episodes that are no
    recorded session, or of which a model writes the same already."""

    id: UUID
    kind: WritingKind
    model: str
    status: JobStatus
    error: str
    total: int
    done: int
    failed: int
    left_out: int
    requested_by: str
    created_at: datetime
    finished_at: datetime | None


class BatchOut(BatchSummary):
    """A batch with the state of each of its sessions."""

    sessions: tuple[BatchSessionOut, ...]


class BatchesOut(FrozenModel):
    """A person's newest batches, and the models that can write."""

    batches: tuple[BatchSummary, ...]
    models: tuple[RefiningModel, ...]
