"""What is shown of exports."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from annotation_app.episodes.schemas import ReviewState
from vocabulary.base import Frozen
from vocabulary.trajectories import Outcome


class ExportFilters(Frozen):
    """Which finished trajectories an export holds; practice is never exported."""

    review: ReviewState | None = "accepted"
    """None: whatever reviewers said."""
    outcome: Outcome | None = None
    annotator: str | None = None
    undone: bool = False
    """Whether steps that were taken back are in it too, and say so."""


class ExportOut(Frozen):
    """An export job; `progress` runs from 0 to 1."""

    id: UUID
    pool_id: int | None
    filters: ExportFilters
    status: Literal["queued", "running", "done", "failed"]
    progress: float
    trajectories: int
    bytes: int
    error: str
    created_at: datetime
    finished_at: datetime | None
