"""What people see of benchmark runs."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from protocol.base import FrozenModel
from protocol.evaluation.benchmarks import Harness, Leaderboard
from protocol.evaluation.records import AttemptRecord, RolloutProgress

RunStatus = Literal["starting", "running", "cancelling", "interrupted", "finished"]


class BenchmarkRunIn(FrozenModel):
    """A run to be started: which tasks, by whom, how often."""

    benchmark: Annotated[str, StringConstraints(max_length=110, pattern=r"^([a-z0-9][a-z0-9_-]*|pool:[^\x00-\x1f]+)$")]
    """A bundled suite, or `pool:` and the name of a pool."""
    revision: int | None = None
    """Whose attempts; none: the tasks' own scripts."""
    seeds: Annotated[int, Field(ge=1, le=1_000)] = 1
    """Attempts at each task."""
    parallel: Annotated[int, Field(ge=1, le=64)] = 2
    """Machines at a time."""
    max_steps: Annotated[int, Field(ge=1, le=1_000)] | None = None
    """Of every attempt, in place of the tasks' own limits."""
    all_levels: bool = False
    """Of a suite: every level instead of the first."""
    harness: Harness | None = None
    """Only for a revision on a set of games: gives the policy a memory, and the screen in words beside or in place of
    its picture."""


class BenchmarkRevision(FrozenModel):
    """A revision that can be chosen for a run."""

    id: int
    name: str
    revision: str


class BenchmarkChoices(FrozenModel):
    """What a run is chosen from."""

    reachable: bool
    """Whether the bridge answered; where it did not its suites are not known."""
    suites: tuple[str, ...]
    pools: tuple[str, ...]
    revisions: tuple[BenchmarkRevision, ...]
    """The newest first."""
    harness_sets: tuple[str, ...] = ()
    """Sets of games that can be run with the harness."""


class StartedRun(FrozenModel):
    """The name of a run that was started."""

    name: str


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
    harness: bool
    """Whether the policy plays through the harness of games."""
    software: str
    created_at: datetime
    can_resume: bool
    """Whether it was started here and did not finish."""
    error: str
    """The last line of its command, where that ended before all attempts were made."""


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
