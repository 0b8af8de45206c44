"""What is shown of pools."""

from vocabulary.base import Frozen
from vocabulary.observations import Platform
from vocabulary.proposals import PolicyRef


class PoolSummary(Frozen):
    """A pool and what waits in it for one person; `mine_done` counts what they finished."""

    id: int
    name: str
    description: str
    platform: Platform
    waiting: int
    mine_done: int
    practice: bool
    policy: PolicyRef | None
    paused: bool
