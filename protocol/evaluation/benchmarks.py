"""One benchmark run: the pinned inputs and the result."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from protocol.base import FrozenModel, JsonObject
from protocol.evaluation.reports import Evaluation, Finding

BENCHMARK_FORMAT: Literal["pilothouse-benchmark-1"] = "pilothouse-benchmark-1"


Harness = Literal["both", "text"]
"""What the harness shows a policy of a game: words beside the picture, or words only."""


class PinnedTask(FrozenModel):
    """A task with its seed, and the sha256 of its whole definition."""

    id: str
    sha256: str


class BenchmarkManifest(FrozenModel):
    """What a run is made of: tasks, machines, policy, seeds and versions. The same manifest is the same run."""

    format: Literal["pilothouse-benchmark-1"] = BENCHMARK_FORMAT
    name: str
    created_at: datetime
    plan: JsonObject
    """The options of the attempts: source, seeds, levels, step limit, policy, sampling, memory."""
    tasks: tuple[PinnedTask, ...] = Field(min_length=1)
    tasks_sha256: str
    """Of all tasks: runs with the same value can be compared."""
    images: tuple[str, ...]
    """The kinds of machines."""
    harness: bool = False
    """Whether the policy saw its screens in words and had a memory of its last turns."""
    software: str
    """The version of Pilothouse, with the commit where it is known."""


class BenchmarkResult(FrozenModel):
    """What a run came to."""

    manifest: BenchmarkManifest
    evaluation: Evaluation
    records: int = Field(ge=0)
    """Lines of attempts, those that were lost included."""
    verifiers_sha256: str
    """Of the names, versions and checksums of all that judged."""
    missing: int = Field(default=0, ge=0)
    """Attempts of the manifest that were given up after their machines failed."""
    seconds: float = Field(ge=0)
    """Sum of the attempts' durations."""
    finished_at: datetime


class GameScore(FrozenModel):
    """A run's score in one game of a set of games."""

    name: str
    raw: float
    """The mean of the game's own count, such as boxes, tiles or cleared gems."""
    normalised: float
    """As LMGame-Bench does: from 1 for the lowest to 100 for the highest of the compared runs with the same use of the
    harness; 1 where all are the same."""


class LeaderboardRow(FrozenModel):
    """One run, in the order of the leaderboard."""

    run: str
    policy: str
    revision: str
    score: float | None
    score_low: float | None
    score_high: float | None
    success: float
    success_low: float
    success_high: float
    normalised: float | None
    human: float | None
    steps: float
    cost_usd: float | None
    attempts: int
    infrastructure: int
    missing: int
    harness: bool = False
    """See `BenchmarkManifest`."""
    games: tuple[GameScore, ...] = ()
    """The scores of each game, if the benchmark is a set of games."""
    games_mean: float | None = None
    """The mean of the normalised scores."""
    finding: Finding | None = None
    """Against the first row, by the exact sign test on pairs; None for the first row itself."""
    chance: float | None = None
    how: str
    """Sampling, memory, step limit and software, for people."""
    finished_at: datetime


class Leaderboard(FrozenModel):
    """Runs over the same tasks and verifiers, the best score first."""

    name: str
    tasks: int
    tasks_sha256: str
    verifiers_sha256: str
    rows: tuple[LeaderboardRow, ...]
