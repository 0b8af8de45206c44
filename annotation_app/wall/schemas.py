"""Schemas of the wall."""

from datetime import datetime
from uuid import UUID

from protocol.base import FrozenModel
from protocol.evaluation.reports import Rate
from protocol.messages.events import EpisodeStatus


class WallSession(FrozenModel):
    """A running episode. `attended`: its annotator's page is open. `pictured`: its machine has a picture now."""

    id: UUID
    instruction: str
    pool: str
    annotator: str
    status: EpisodeStatus
    help_requested: bool
    attended: bool
    pictured: bool
    text: str
    """The end of a terminal's output."""
    steps: int
    override: Rate | None
    """How many of the annotator's decisions with proposals available were a different action."""
    created_at: datetime
    last_step_at: datetime | None


class WallPage(FrozenModel):
    """A page of the sessions: those waiting for help first, then the oldest. `next` is the number of the following
    page. `waiting` counts all sessions that wait for help."""

    at: datetime
    items: tuple[WallSession, ...]
    total: int
    waiting: int
    next: int | None


class WallStream(FrozenModel):
    """Where to fetch the small pictures of one bridge host: `POST {"tickets": [...]}`, each ticket once."""

    url: str
    tickets: tuple[str, ...]
