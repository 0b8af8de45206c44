"""Schemas of the home page."""

from datetime import datetime
from typing import Literal

from annotation_app.health.schemas import CheckKind, Problem
from protocol.base import FrozenModel
from protocol.evaluation.reports import Rate

Job = Literal["export", "import", "probe", "judge"]


class _Item(FrozenModel):
    subject: str = ""
    """Name of its pool, policy or person; empty if it concerns several or none."""
    since: datetime | None = None


class HelpAsked(_Item):
    """An annotator, or the policy in their episode, requests help."""

    kind: Literal["help"] = "help"
    episode: str
    instruction: str
    message: str
    """What they need help with; empty if the policy requested it."""


class MoreHelpAsked(_Item):
    """How many more episodes request help."""

    kind: Literal["more_help"] = "more_help"
    count: int


class ReviewsWaiting(_Item):
    """Finished episodes that wait for this person's review; `capped`: there are more than `count`."""

    kind: Literal["reviews"] = "reviews"
    count: int
    capped: bool


class PoolRunsDry(_Item):
    """A pool with fewer waiting tasks than were done there in the last day."""

    kind: Literal["pool"] = "pool"
    waiting: int
    done_last_day: int


class PartFailed(_Item):
    """A part of the platform that does not work, or soon will not; `detail` is its own message."""

    kind: Literal["part"] = "part"
    part: CheckKind
    problem: Problem | None
    detail: str
    down: bool


class HealthUnknown(_Item):
    """No health check ran for minutes: the scheduler or the worker is down."""

    kind: Literal["health_unknown"] = "health_unknown"


class PolicyOverridden(_Item):
    """A proposing revision that people override significantly more often than before."""

    kind: Literal["policy_overridden"] = "policy_overridden"
    before: Rate
    after: Rate


class PolicyDegraded(_Item):
    """A probe found a fault in a model that proposes."""

    kind: Literal["policy_degraded"] = "policy_degraded"
    detail: str


class GateDecided(_Item):
    """A revision passed a pool's gate and is not promoted yet, or it failed the gate."""

    kind: Literal["gate"] = "gate"
    pool: str
    passed: bool


class CycleFailed(_Item):
    """The last cycle of a flywheel failed."""

    kind: Literal["cycle"] = "cycle"
    cycle: str
    number: int


class JobFailed(_Item):
    """A job failed, and no later job like it has finished."""

    kind: Literal["job"] = "job"
    job: Job
    detail: str


class EvaluationFailed(_Item):
    """The command of an evaluation ended before all attempts were made."""

    kind: Literal["evaluation"] = "evaluation"
    run: str
    detail: str


HomeItem = (
    HelpAsked
    | MoreHelpAsked
    | ReviewsWaiting
    | PoolRunsDry
    | PartFailed
    | HealthUnknown
    | PolicyOverridden
    | PolicyDegraded
    | GateDecided
    | CycleFailed
    | JobFailed
    | EvaluationFailed
)


class Hour(FrozenModel):
    """One hour's acts, and the share of overrides among decisions with proposals available."""

    at: datetime
    acts: int
    override: Rate | None


class Home(FrozenModel):
    """What needs this person's attention, the most urgent first, and the work of the last day."""

    at: datetime
    items: tuple[HomeItem, ...]
    hours: tuple[Hour, ...]
    """Every hour of the last day, in order; the last one has not ended."""
