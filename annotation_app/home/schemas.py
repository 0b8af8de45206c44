"""What the home page shows."""

from datetime import datetime
from typing import Literal

from annotation_app.health.schemas import CheckKind, Problem
from protocol.base import FrozenModel
from protocol.evaluation.reports import Rate

Job = Literal["export", "import", "probe", "judge"]


class _Item(FrozenModel):
    subject: str
    """The name of what it is about: a pool, a policy, a person."""
    since: datetime | None = None


class HelpAsked(_Item):
    """An annotator, or the policy in their episode, asks for help."""

    kind: Literal["help"] = "help"
    episode: str
    instruction: str
    message: str
    """What they need help with; empty where the policy asked."""


class MoreHelpAsked(_Item):
    """So many more episodes ask for help."""

    kind: Literal["more_help"] = "more_help"
    count: int


class ReviewsWaiting(_Item):
    """Finished episodes wait for this person's review; `capped`: there are more than were counted."""

    kind: Literal["reviews"] = "reviews"
    count: int
    capped: bool


class PoolRunsDry(_Item):
    """Fewer tasks wait in a pool than were done there in the last day."""

    kind: Literal["pool"] = "pool"
    waiting: int
    done_last_day: int


class PartFailed(_Item):
    """A part of the platform does not work, or soon will not; `detail` is what it said itself."""

    kind: Literal["part"] = "part"
    part: CheckKind
    problem: Problem | None
    detail: str
    down: bool


class HealthUnknown(_Item):
    """The parts were not looked at for minutes: the scheduler or the worker is gone."""

    kind: Literal["health_unknown"] = "health_unknown"


class PolicyOverridden(_Item):
    """People override a revision that proposes more than before, by more than chance."""

    kind: Literal["policy_overridden"] = "policy_overridden"
    before: Rate
    after: Rate


class PolicyDegraded(_Item):
    """A probe found something wrong with a model that proposes."""

    kind: Literal["policy_degraded"] = "policy_degraded"
    detail: str


class GateDecided(_Item):
    """A pool's gate let a revision pass that nobody promoted yet, or did not let it pass."""

    kind: Literal["gate"] = "gate"
    pool: str
    passed: bool


class CycleFailed(_Item):
    """The last cycle of a flywheel failed."""

    kind: Literal["cycle"] = "cycle"
    cycle: str
    number: int


class JobFailed(_Item):
    """A job failed, and none of its kind that was asked for later by the same person has finished."""

    kind: Literal["job"] = "job"
    job: Job
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
)


class Hour(FrozenModel):
    """One hour's acts, and what share of decisions with proposals at hand were overrides."""

    at: datetime
    acts: int
    override: Rate | None


class Home(FrozenModel):
    """What needs this person, the most urgent first, and how the work went in the last day."""

    at: datetime
    items: tuple[HomeItem, ...]
    hours: tuple[Hour, ...]
    """Every hour of the last day, first to last; the last one still goes on."""
