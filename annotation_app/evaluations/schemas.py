"""Schemas of evaluations and of their registration."""

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
    """The page size of an evaluation. Its report does not contain it, so two compared reports may differ in it."""

    known: bool
    """False for a report whose run is not here."""
    size: str = ""
    """Size of every page, as `640x480` (pixels); empty: each task's own."""


class EvaluationRow(FrozenModel):
    """A summary of one evaluation."""

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
    """Over all attempts; None if nothing counted."""
    pass_at: PassAt | None
    """At the largest k of its suites."""
    steps: float | None
    """Mean number per attempt."""
    cost_usd: float | None
    run: str | None
    """The benchmark run of the report, if known."""


class EvaluationPage(FrozenModel):
    """Evaluations, newest first. A run with a registered report is listed once, as the report."""

    items: tuple[EvaluationRow, ...]
    unreadable: tuple[str, ...]
    """Runs whose result cannot be read."""


class EvaluationCycle(FrozenModel):
    """The flywheel cycle whose gate an evaluation was made for."""

    id: UUID
    flywheel: str
    number: int


class EvaluationOut(FrozenModel):
    """An evaluation with its whole report."""

    row: EvaluationRow
    report: Evaluation
    decisions: tuple[GateOutcome, ...]
    """The decisions of pool gates on it."""
    revision: int | None
    """The registered revision that it is about; None if there is none with this name."""
    registered: EvaluationId | None
    """Number of the registered report; None if it is not registered."""
    cycle: EvaluationCycle | None
    """None if no flywheel made it."""
    judge_known: bool
    """Whether the judge that scored some of it, if any, belongs to this installation."""
    can_delete: bool
    """Whether this person may delete it."""


class EvaluationComparison(FrozenModel):
    """Two evaluations, compared in total and by task."""

    before: EvaluationRow
    after: EvaluationRow
    before_size: PageSize
    after_size: PageSize
    comparison: Comparison
    overall: OverallChange


class RunRegistration(FrozenModel):
    """A benchmark run to register: its revision if that is new, and its report. This promotes nothing."""

    run: RunName
    base_url: Address = ""
    """Server address of the revision. Required if it is not registered yet, as is `model`."""
    model: ModelName | None = None
    checkpoint: Checkpoint = ""
    weight_version: WeightVersion = ""


class RegisteredRun(FrozenModel):
    """Result of a registration."""

    revision: Annotated[int, Field(ge=1)]
    new_revision: bool
    evaluation: EvaluationSummary
    new: bool
    """Whether the report is new."""
