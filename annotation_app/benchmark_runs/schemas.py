"""Schemas of benchmark runs."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from annotation_app.policies.schemas import Checkpoint, Name
from protocol.base import FrozenModel
from protocol.evaluation.benchmarks import Harness, Leaderboard
from protocol.evaluation.records import AttemptRecord, RolloutProgress
from protocol.trajectory.tasks import ScreenSize

RunStatus = Literal["waiting", "starting", "running", "cancelling", "interrupted", "finished"]
POOL_PREFIX, FILE_PREFIX = "pool:", "file:"
MAX_SEED = 2**31 - 1
MAX_FILE_CHARACTERS = 1_000_000
BENCHMARK_PATTERN = r"^([a-z0-9][a-z0-9_-]*|pool:[^\x00-\x1f]+|file:[A-Za-z0-9][A-Za-z0-9._-]*\.(jsonl|ndjson|json))$"


class BenchmarkRunIn(FrozenModel):
    """A run to be started: which tasks, by whom, how often."""

    benchmark: Annotated[str, StringConstraints(max_length=110, pattern=BENCHMARK_PATTERN)]
    """A bundled suite, `pool:` and the name of a pool, or `file:` and the name of a file of tasks."""
    file: Annotated[str, StringConstraints(max_length=MAX_FILE_CHARACTERS)] = ""
    """What that file holds: tasks as JSON Lines, or as JSON."""
    image: Annotated[str, StringConstraints(max_length=100, pattern=r"^[^\x00-\x1f]*$")] = ""
    """Of a file: the kind of its machines; empty: that of the tasks' platform."""
    tasks: Annotated[tuple[Name, ...], Field(max_length=500)] = ()
    """Of a suite: the names of tasks; none: all."""
    levels: Annotated[tuple[Annotated[int, Field(ge=1, le=20)], ...], Field(max_length=20)] = (1,)
    """Of a suite; none: every level."""
    size: ScreenSize | None = None
    """Of a suite whose screen can be chosen; none: each task's own."""
    revision: int | None = None
    """Whose attempts; none: the tasks' own scripts."""
    checkpoint: Checkpoint = ""
    """A folder of weights that is served for this run, and asked as the revision is (dialect, memory, prompt)."""
    checkpoint_revision: Name | None = None
    """What a checkpoint is called as a revision of the policy; none: as its folder."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """At which replies are drawn; none: as the revision says."""
    seeds: Annotated[int, Field(ge=1, le=1_000)] = 1
    """Attempts at each task, with rising seeds."""
    first_seed: Annotated[int, Field(ge=0, le=MAX_SEED - 1_000)] = 0
    parallel: Annotated[int, Field(ge=1, le=64)] = 2
    """Machines at a time."""
    max_steps: Annotated[int, Field(ge=1, le=1_000)] | None = None
    """Of every attempt, in place of the tasks' own limits."""
    harness: Harness | None = None
    """Only for a revision on a set of games: gives the policy a memory, and the screen in words beside or in place of
    its picture."""

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.benchmark.startswith(FILE_PREFIX) != bool(self.file.strip()):
            raise ValueError("file: tasks are sent with a benchmark that is `file:` and a name, and with no other")
        if self.size is not None and self.benchmark.startswith((POOL_PREFIX, FILE_PREFIX)):
            raise ValueError("size: the tasks of a pool or a file have their own")
        if self.revision is None and (self.checkpoint or self.temperature is not None):
            raise ValueError("revision: a checkpoint and a temperature are for a policy")
        return self


class TaskSizes(FrozenModel):
    """The sizes of the screen that a task is offered in, as `640x480` (pixels), its own first."""

    name: str
    sizes: tuple[str, ...]


class BenchmarkSuite(FrozenModel):
    """A bundled suite, or a set of its tasks."""

    name: str
    levels: int = 1
    tasks: int = 0
    sizes: tuple[TaskSizes, ...] = ()
    """Of its tasks that have a choice."""
    scripted: tuple[str, ...] = ()
    """The names of its tasks that have a script."""


class BenchmarkRevision(FrozenModel):
    """A revision that can be chosen for a run."""

    id: int
    name: str
    revision: str
    checkpoint: str
    """The folder of its weights; empty: not known."""
    scripted: bool


class BenchmarkChoices(FrozenModel):
    """What a run is chosen from."""

    reachable: bool
    """Whether the bridge answered; where it did not its suites are not known."""
    suites: tuple[BenchmarkSuite, ...]
    pools: tuple[str, ...]
    scripted_pools: tuple[str, ...] = ()
    """Pools of which some task has a script; all of them where the bridge did not answer."""
    revisions: tuple[BenchmarkRevision, ...]
    """The newest first."""
    images: tuple[str, ...]
    """Kinds of machines that some bridge host makes."""
    harness_sets: tuple[str, ...] = ()
    """Sets of games that can be run with the harness."""


class StartedRun(FrozenModel):
    """The name of a run that was started."""

    name: str


class BenchmarkRunRow(FrozenModel):
    """A run in the list.

    `waiting`: for a place among those that run at once. `interrupted`: its command ended before all attempts were made,
    or was killed.
    """

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
    can_restart: bool = False
    """Whether it was started here and does not run: the same evaluation can be made from the beginning."""
    can_delete: bool = False
    """Whether this person may delete it: admins, and who started it."""
    error: str
    """The last line of its command, where that ended before all attempts were made."""


class FailedRun(FrozenModel):
    """A run whose command ended before all attempts were made."""

    name: str
    error: str
    ended_at: datetime


class UnfinishedRuns(FrozenModel):
    """Runs that were started and have no result yet, the newest first."""

    runs: tuple[BenchmarkRunRow, ...]


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
