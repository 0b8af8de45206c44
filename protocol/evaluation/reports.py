"""An evaluation report: a policy's results over its attempts, and its significant difference from another."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from protocol.base import FrozenModel
from protocol.trajectory.proposals import PolicyRef

EVALUATION_FORMAT: Literal["pilothouse-evaluation-1"] = "pilothouse-evaluation-1"

Finding = Literal["worse", "better", "chance"]
"""chance: the difference is no larger than attempts of one and the same policy may show."""


class Rate(FrozenModel):
    """How many of how many; `low` and `high` are its 95 % Wilson interval."""

    successes: int = Field(ge=0)
    attempts: int = Field(ge=1)
    rate: float = Field(ge=0, le=1)
    low: float = Field(ge=0, le=1)
    high: float = Field(ge=0, le=1)


class Spread(FrozenModel):
    """A value over so many runs or tasks: its mean, and by how much they differ (None for a single one)."""

    count: int = Field(ge=1)
    mean: float
    deviation: float | None = Field(default=None, ge=0)


class PassAt(FrozenModel):
    """The chance that at least one of `k` attempts succeeds, unbiased, over the tasks attempted at least k times."""

    k: int = Field(ge=1)
    tasks: int = Field(ge=1)
    rate: float = Field(ge=0, le=1)


class StepLimitResult(FrozenModel):
    """How the attempts stand when so many steps are allowed."""

    steps: int = Field(ge=1)
    successes: Rate
    score: float | None = None
    """Mean of the scores then; None where that of some attempt is not known."""
    cut_off: int = Field(default=0, ge=0)
    """Attempts that their own bound ended before: more steps might have helped them, so the point may be too low."""


class Result(FrozenModel):
    """What holds for any set of attempts."""

    successes: Rate
    score: float | None = None
    """Mean of the verifier's scores, 0 to 1."""
    score_low: float | None = None
    score_high: float | None = None
    """The 95 % interval of that mean (Student's t), within 0 to 1; None for a single attempt."""
    points: float | None = None
    """Mean of the tasks' own counts, such as tiles, apples or lines; None where attempts have none."""
    human: float | None = None
    """100 times the mean over people's median, in points where there are some, else in scores. Of several tasks: the
    mean of theirs, each alike. None where fewer than three people's own episodes are known."""
    normalised: float | None = None
    """The score between that of random acts (0) and the reference's (1); mean over the attempts that have one."""
    normalised_attempts: int = Field(default=0, ge=0)
    steps: float = Field(ge=0)
    """Mean number an attempt."""
    steps_of_successes: float | None = None
    think_characters: float = Field(ge=0)
    """Mean length of the thought of a step."""
    reply_tokens: float | None = None
    """Mean number of tokens of the replies that were carried out, where they were kept."""
    pass_at: tuple[PassAt, ...] = ()
    scaling: tuple[StepLimitResult, ...] = ()


class TaskResult(Result):
    """One task's."""

    suite: str
    name: str
    level: int = 1


class SuiteResult(Result):
    """One suite's, over all its attempts."""

    suite: str
    tasks: Spread
    """Of the tasks' success rates: each task counts alike, however often it was attempted."""
    runs: Spread | None = None
    """Of the success rates of whole runs, a run being every task's first attempt, second attempt, …"""


class CategoryResult(Result):
    """One category's, over all its attempts: OSWorld's application, Harbor's category, else the suite."""

    category: str
    tasks: Spread


class TaskChange(FrozenModel):
    """A task before and after. `chance` is how likely a difference as large is for one and the same policy."""

    suite: str
    name: str
    level: int = 1
    before: Rate
    after: Rate
    chance: float = Field(ge=0, le=1)
    adjusted: float = Field(ge=0, le=1)
    """`chance`, adjusted for the number of tasks compared."""
    finding: Finding


class PairedComparison(FrozenModel):
    """Attempts at the same task with the same seed, in pairs: those that only the one or only the other solved."""

    pairs: int = Field(ge=0)
    won: int = Field(ge=0)
    lost: int = Field(ge=0)
    chance: float = Field(ge=0, le=1)
    finding: Finding


class Comparison(FrozenModel):
    """Against another evaluation; tasks that only one has are named, not compared."""

    policies: tuple[PolicyRef, ...]
    """Of the other one, that came before."""
    overall: PairedComparison
    tasks: tuple[TaskChange, ...]
    """Worst first."""
    only_before: tuple[str, ...] = ()
    only_after: tuple[str, ...] = ()


class ExcludedAttempts(FrozenModel):
    """Attempts that say nothing of the policy alone."""

    unjudged: int = 0
    """Nothing could judge the end."""
    broken: int = 0
    """The task or its machine failed, or it was skipped."""
    assisted: int = 0
    """A person acted in them."""


class Evaluation(FrozenModel):
    """The report."""

    format: Literal["pilothouse-evaluation-1"] = EVALUATION_FORMAT
    created_at: datetime
    policies: tuple[PolicyRef, ...]
    attempts: int = Field(ge=0)
    judged: int = Field(default=0, ge=0)
    """Of these, how many ended as only a judge says."""
    judge: str = ""
    """Which one, and from which score on it was believed."""
    left_out: ExcludedAttempts = ExcludedAttempts()
    infrastructure: int = Field(default=0, ge=0)
    """Attempts that were lost with their machines or verifiers while the folders were made; most were repeated."""
    cost_usd: float | None = Field(default=None, ge=0)
    """What the attempts' requests to hosted models cost; None where no prices are known."""
    human_tasks: int = Field(default=0, ge=0)
    """How many tasks have people's episodes to compare with."""
    suites: tuple[SuiteResult, ...] = ()
    categories: tuple[CategoryResult, ...] = ()
    tasks: tuple[TaskResult, ...] = ()
    comparison: Comparison | None = None


def serialize_evaluation(evaluation: Evaluation) -> bytes:
    """The report as canonical JSON: the same report gives the same bytes, whatever its source and indentation."""
    return evaluation.model_dump_json().encode()
