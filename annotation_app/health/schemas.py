"""Schemas of platform health."""

from datetime import datetime
from typing import Literal

from protocol.base import FrozenModel

CheckKind = Literal[
    "web",
    "worker",
    "beat",
    "trainer",
    "bridge",
    "gateway",
    "host",
    "image",
    "suite",
    "model",
    "database",
    "redis",
    "queue",
    "disk",
    "backup",
]
CheckState = Literal["ok", "warn", "down"]
"""`warn`: it works, and somebody should look at it."""
Problem = Literal[
    "unreachable",
    "too_slow",
    "no_answer",
    "no_model",
    "refused",
    "no_heartbeat",
    "not_known",
    "starting",
    "queue_long",
    "queue_old",
    "disk_full",
    "disk_filling",
    "connections_short",
    "memory_short",
    "redis_shared",
    "secret_shared",
    "draining",
    "not_heard",
    "no_host",
    "no_suite",
    "browser_old",
    "no_backup",
    "backup_old",
]


class Check(FrozenModel):
    """Whether one part works, what it says, and how long it took to say so."""

    name: str
    kind: CheckKind
    subject: str = ""
    """Which one of its kind, where there are several."""
    state: CheckState
    problem: Problem | None = None
    detail: str = ""
    """What it said itself, for who looks closer."""
    figures: dict[str, float] = {}
    """What was counted: bytes, seconds, jobs."""
    seconds: float
    since: datetime
    """Since when it has been found in this state."""

    @property
    def ok(self) -> bool:
        """Whether it works."""
        return self.state != "down"


class ModelServerStatus(FrozenModel):
    """Whether the server of a revision answers, asked at this moment."""

    state: CheckState
    problem: Problem | None = None
    detail: str = ""
    """What it said itself."""


class HealthPage(FrozenModel):
    """Every part, asked at this moment."""

    at: datetime
    checks: tuple[Check, ...]


class DataReport(FrozenModel):
    """What was read of an installation's data, and the first of what was missing or could not be read."""

    migrations_due: tuple[str, ...]
    episodes: int
    steps: int
    files: int
    missing: tuple[str, ...]
    """Digests of files that are not there, or have another size."""
    unreadable: tuple[str, ...]
    """Episodes that cannot be read."""

    @property
    def ok(self) -> bool:
        """Whether everything is there."""
        return not (self.migrations_due or self.missing or self.unreadable)
