"""What the feed tells."""

from datetime import datetime
from uuid import UUID

from protocol.base import FrozenModel


class FeedItem(FrozenModel):
    """A trajectory, and when it became ready: finished, or decided on where the query asks for a decision."""

    id: UUID
    ready_at: datetime


class FeedPage(FrozenModel):
    """A page, the oldest first; `next` asks for the following one of this round, if any.

    Nothing that became ready before `settled` will be told that was not: the next round begins there. What became ready
    after it is told again.
    """

    items: tuple[FeedItem, ...]
    next: str | None
    settled: datetime
