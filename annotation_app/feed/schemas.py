"""Schemas of the feed."""

from datetime import datetime
from uuid import UUID

from protocol.base import FrozenModel


class FeedItem(FrozenModel):
    """A trajectory, and when it became ready: finished, or decided on if the query requires a decision."""

    id: UUID
    ready_at: datetime


class FeedPage(FrozenModel):
    """A page, oldest first; `next` is the cursor of the following page in this round, if any.

    No trajectory that became ready before `settled` will still be added, so the next round begins there. Trajectories
    that became ready after it are delivered again.
    """

    items: tuple[FeedItem, ...]
    next: str | None
    settled: datetime
