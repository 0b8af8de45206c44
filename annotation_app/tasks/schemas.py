"""Schemas of pools."""

from datetime import datetime

from protocol.base import FrozenModel
from protocol.trajectory.observations import Platform
from protocol.trajectory.proposals import PolicyRef


class PoolSummary(FrozenModel):
    """A pool and what waits in it for one person, counted as far as a thousand; `mine_done` counts what they finished.
    `next_opening` is when it gives tasks out again, where it does not now."""

    id: int
    name: str
    description: str
    platform: Platform
    waiting: int
    mine_done: int
    practice: bool
    policy: PolicyRef | None
    paused: bool
    stopped: bool
    stop_reason: str
    opens_at: datetime | None
