"""Schemas of reports."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from annotation_app.errors import Invalid
from protocol.base import FrozenModel
from protocol.evaluation.reports import Rate
from protocol.trajectory.proposals import PolicyRef

Grain = Literal["day", "pool", "annotator", "policy", "application", "level", "kind"]
"""What a row groups by. `policy` is name and revision. `application` and `level` are the task's place in the design
graph. `kind` is what tasks that differ only in seed have in common."""
MAX_DAYS = 731

Text = Annotated[str, StringConstraints(max_length=400, pattern=r"^[^\x00]*$")]


class FirstReplies(FrozenModel):
    """The first replies of a proposing revision."""

    policy: PolicyRef
    replies: int
    misplaced: int
    """Replies whose points are outside the dialect's coordinate space or off the screen."""
    suspicious: bool
    """Whether there are so many of these that it probably uses another coordinate space."""


class ReportQuery(FrozenModel):
    """Which work counts. Days are whole days in `zone`, both ends included. Practice never counts."""

    since: date
    until: date
    zone: Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Za-z0-9_+/-]+$")] = "UTC"
    by: Grain = "pool"
    pool: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    annotator: Text | None = None
    policy: Text | None = None
    application: Text | None = None
    """Of the design graph, else the task's suite; empty: of tasks that have neither."""
    level: Literal["", "1", "2", "3", "4", "5"] | None = None
    """Difficulty by the task's rubric; empty: of tasks without a place in the graph."""
    kind: Text | None = None

    def checked(self) -> "ReportQuery":
        """The query itself. Raises Invalid for invalid or too many days."""
        if not 0 <= (self.until - self.since).days < MAX_DAYS:
            message = f"The last day must be in the {MAX_DAYS} days from the first on."
            raise Invalid(message, code="period", field="until")
        return self


class Figures(FrozenModel):
    """Statistics of some work. Medians and percentiles are in milliseconds, None if nothing was measured."""

    episodes: int = 0
    """Episodes begun in these days."""
    finished: int = 0
    success: Rate | None = None
    """Of the episodes that their annotators marked as done or not done, how many were done."""
    hours: float = 0
    """From an episode's beginning to its end, for episodes that ended."""
    returned: Rate | None = None
    """Of the reviewed episodes, how many were returned."""
    steps: int = 0
    accepted: int = 0
    edited: int = 0
    overridden: int = 0
    taken_over: int = 0
    alone: int = 0
    """Steps of an autopilot, without a person's decision."""
    override: Rate | None = None
    """Of a person's decisions with proposals available, how many were an action that was not proposed."""
    decide_p50_ms: float | None = None
    """From the display of the proposals to the command."""
    decide_p95_ms: float | None = None
    step_p50_ms: float | None = None
    """From the display of the proposals to the screen after the act."""
    step_p95_ms: float | None = None


class ReportRow(FrozenModel):
    """One day, pool, annotator, policy, application, level or kind of task; `key` is the value for a filter."""

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
    """The tasks that wait in a pool now, and since when the oldest has waited."""

    pool_id: int
    pool: str
    tasks_waiting: int
    tasks_held: int
    reviews_waiting: int
    oldest_task_at: datetime | None
    oldest_review_at: datetime | None


class MachineUsage(FrozenModel):
    """How long episodes that ended used machines of an image."""

    image: str
    platform: str
    episodes: int
    hours: float


class Report(FrozenModel):
    """The report: totals, rows, days, and waiting tasks."""

    total: Figures
    rows: tuple[ReportRow, ...]
    days: tuple[ReportRow, ...]
    """Every day with work, in order."""
    latencies: tuple[Latency, ...]
    machines: tuple[MachineUsage, ...]
    queues: tuple[QueueAge, ...]
    asked_at: datetime
