"""What people see of benchmark runs."""

from datetime import datetime
from typing import Literal

from protocol.base import FrozenModel
from protocol.evaluation.benchmarks import Leaderboard
from protocol.evaluation.records import AttemptRecord, RolloutProgress

RunStatus = Literal["running", "cancelling", "interrupted", "finished"]


class BenchmarkRunRow(FrozenModel):
    """A run in the list. `interrupted`: its command ended before all attempts were made, or was killed."""

    name: str
    benchmark: str
    policy: str
    revision: str
    attempts: int
    status: RunStatus
    progress: RolloutProgress | None
    """How far it is; None before its first attempt."""
    software: str
    created_at: datetime


class BenchmarksPage(FrozenModel):
    """All runs of this installation, the newest first, and the leaderboards of those that finished."""

    runs: tuple[BenchmarkRunRow, ...]
    leaderboards: tuple[Leaderboard, ...]
    unreadable: tuple[str, ...]
    """Folders whose manifest or result cannot be read."""


class BenchmarkRunOut(FrozenModel):
    """A run with its newest attempts, the newest first."""

    run: BenchmarkRunRow
    images: tuple[str, ...]
    records: tuple[AttemptRecord, ...]
