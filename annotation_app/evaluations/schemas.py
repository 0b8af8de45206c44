"""What is shown of evaluations, and what registers one."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from annotation_app.policies.schemas import Address, Checkpoint, ModelName, WeightVersion
from annotation_app.promotions.schemas import EvaluationSummary, GateOutcome
from protocol.base import FrozenModel
from protocol.evaluation.comparisons import OverallChange
from protocol.evaluation.reports import Comparison, Evaluation, PassAt, Rate
from protocol.trajectory.proposals import PolicyRef

RunName = Annotated[str, StringConstraints(max_length=200, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
EvaluationId = Annotated[
    str, StringConstraints(max_length=204, pattern=r"^([1-9][0-9]{0,8}|run:[A-Za-z0-9][A-Za-z0-9._-]*)$")
]
"""The number of a registered report, or `run:` and the name of a benchmark run."""


class PageSize(FrozenModel):
    """In which size the pages of an evaluation were shown. Its report does not say it, so two that are compared may
    differ in it."""

    known: bool
    """False for a report whose run is not here."""
    size: str = ""
    """Of every page, as `640x480` (pixels); empty: each task's own."""


class EvaluationRow(FrozenModel):
    """One evaluation in short."""

    id: EvaluationId
    source: Literal["report", "run"]
    """A report that was registered on a revision, or a finished benchmark run."""
    name: str
    """What was attempted: the benchmark, or the suites."""
    policies: tuple[PolicyRef, ...]
    created_at: datetime
    tasks: int
    attempts: int
    successes: Rate | None
    """Of all attempts; None where nothing counted."""
    pass_at: PassAt | None
    """At the largest k of its suites."""
    steps: float | None
    """Mean number an attempt."""
    cost_usd: float | None
    run: str | None
    """The benchmark run that it comes from, where known."""


class EvaluationPage(FrozenModel):
    """Evaluations, the newest first; a run whose report is registered is there once, as the report."""

    items: tuple[EvaluationRow, ...]
    unreadable: tuple[str, ...]
    """Runs whose result cannot be read."""


class EvaluationCycle(FrozenModel):
    """The flywheel's cycle whose gate an evaluation was made for."""

    id: UUID
    flywheel: str
    number: int


class EvaluationOut(FrozenModel):
    """An evaluation with its whole report."""

    row: EvaluationRow
    report: Evaluation
    decisions: tuple[GateOutcome, ...]
    """What gates of pools said of it."""
    revision: int | None
    """The registered revision it is about; None where there is none of this name."""
    registered: EvaluationId | None
    """Number of the registered report; None where it is not registered."""
    cycle: EvaluationCycle | None
    """None where no flywheel made it."""
    judge_known: bool
    """Whether the judge that scored some of it, if any, is one of this installation."""
    can_delete: bool
    """Whether this person may delete it."""


class EvaluationComparison(FrozenModel):
    """Two evaluations, task by task and together."""

    before: EvaluationRow
    after: EvaluationRow
    before_size: PageSize
    after_size: PageSize
    comparison: Comparison
    overall: OverallChange


class RunRegistration(FrozenModel):
    """A benchmark run to register: its revision where that is new, and its report. Nothing is promoted."""

    run: RunName
    base_url: Address = ""
    """Where the revision is served; needed where it is not registered yet, as `model` is."""
    model: ModelName | None = None
    checkpoint: Checkpoint = ""
    weight_version: WeightVersion = ""


class RegisteredRun(FrozenModel):
    """Result of a registration."""

    revision: Annotated[int, Field(ge=1)]
    new_revision: bool
    evaluation: EvaluationSummary
    new: bool
    """Whether the report was not there before."""
