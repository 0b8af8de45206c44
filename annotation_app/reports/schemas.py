"""What is asked of reports, and what they say."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from annotation_app.errors import Invalid
from protocol.base import FrozenModel
from protocol.evaluation.reports import Rate
from protocol.trajectory.proposals import PolicyRef

Grain = Literal["day", "pool", "annotator", "policy", "application", "level", "kind"]
"""What one row is of; `policy` is name and revision, `application` and `level` where a task stands in the design graph,
`kind` what tasks with other seeds have in common."""
MAX_DAYS = 731

Text = Annotated[str, StringConstraints(max_length=400, pattern=r"^[^\x00]*$")]


class FirstReplies(FrozenModel):
    """The first replies of a revision that proposes."""

    policy: PolicyRef
    replies: int
    misplaced: int
    """Those whose points cannot be of its dialect's coordinate space, or lie off the screen."""
    suspicious: bool
    """Whether these are so many that it likely speaks another space."""


class ReportQuery(FrozenModel):
    """Which work counts. Days are whole days in `zone`, both ends included; practice never counts."""

    since: date
    until: date
    zone: Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9_+/-]+$")] = "UTC"
    by: Grain = "pool"
    pool: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    annotator: Text | None = None
    policy: Text | None = None
    application: Text | None = None
    """Of the graph, else the task's suite; empty: of tasks that have neither."""
    level: Literal["", "1", "2", "3", "4", "5"] | None = None
    """How hard, by the task's rubric; empty: of tasks nobody placed."""
    kind: Text | None = None

    def checked(self) -> "ReportQuery":
        """Itself. Raises Invalid for days that are none or too many."""
        if not 0 <= (self.until - self.since).days < MAX_DAYS:
            message = f"The last day must be in the {MAX_DAYS} days from the first on."
            raise Invalid(message, code="period", field="until")
        return self


class Figures(FrozenModel):
    """What some work adds up to. Medians and percentiles are in milliseconds, None where nothing was measured."""

    episodes: int = 0
    """Begun in these days."""
    finished: int = 0
    success: Rate | None = None
    """Of those their annotators called done or not done, how many were done."""
    hours: float = 0
    """From an episode's beginning to its end, of those that ended."""
    returned: Rate | None = None
    """Of those reviewed, how many were sent back."""
    steps: int = 0
    accepted: int = 0
    edited: int = 0
    overridden: int = 0
    taken_over: int = 0
    alone: int = 0
    """Steps of an autopilot, which nobody decided."""
    override: Rate | None = None
    """Of a person's decisions with a policy's proposals at hand, how many were another action than any of them."""
    decide_p50_ms: float | None = None
    """From the proposals being on screen to the command."""
    decide_p95_ms: float | None = None
    step_p50_ms: float | None = None
    """The same, to the screen after the act."""
    step_p95_ms: float | None = None


class ReportRow(FrozenModel):
    """One day, pool, annotator, policy, application, level or kind of task; `key` is what a filter takes."""

    key: str
    label: str
    figures: Figures


class Latency(FrozenModel):
    """How long a policy's proposals took (milliseconds)."""

    policy: str
    count: int
    p50_ms: float
    p95_ms: float
    p99_ms: float


class QueueAge(FrozenModel):
    """What waits in a pool at this moment, and since when its oldest."""

    pool_id: int
    pool: str
    tasks_waiting: int
    tasks_held: int
    reviews_waiting: int
    oldest_task_at: datetime | None
    oldest_review_at: datetime | None


class MachineUsage(FrozenModel):
    """How long machines of an image were in use by episodes that ended."""

    image: str
    platform: str
    episodes: int
    hours: float


class Report(FrozenModel):
    """The answer: everything together, row by row, day by day, and what waits now."""

    total: Figures
    rows: tuple[ReportRow, ...]
    days: tuple[ReportRow, ...]
    """Every day on which there was work, first to last."""
    latencies: tuple[Latency, ...]
    machines: tuple[MachineUsage, ...]
    queues: tuple[QueueAge, ...]
    asked_at: datetime
