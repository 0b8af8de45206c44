"""Schemas of exports."""

from datetime import datetime
from typing import Annotated, Literal, get_args
from uuid import UUID

from pydantic import AfterValidator, Field, StringConstraints

from annotation_app.catalogue.schemas import Query
from annotation_app.episodes.schemas import ReviewState
from annotation_app.exports.splits import Shares
from protocol.base import FrozenModel
from protocol.dialects.families import get_dialect
from protocol.dialects.prompt_template import PromptTemplate
from protocol.formats.registry import get_format
from protocol.training.samples import DEFAULT_HISTORY_BUDGET
from protocol.trajectory.memory import HistoryBudget
from protocol.trajectory.steps import Decision
from protocol.trajectory.variants import VariantKind

ExportStatus = Literal["queued", "running", "done", "failed", "cancelled"]
FormatName = Annotated[str, AfterValidator(lambda name: get_format(name).name)]
DialectName = Annotated[str, AfterValidator(lambda name: get_dialect(name).name)]
Bucket = Annotated[str, StringConstraints(pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9_.=-]+)*/?$")]
ALL_DECISIONS: tuple[Decision, ...] = get_args(Decision)


class ExportFilters(Query):
    """Which finished trajectories an export holds; practice is never exported."""

    review: ReviewState | None = "accepted"
    """None: whatever reviewers said."""
    undone: bool = False
    """Whether steps that were taken back are in it too, and say so."""


class ExportPlan(FrozenModel):
    """In which shape trajectories are written, and how they are divided."""

    format: FormatName = "canonical"
    dialect: DialectName = "ui_tars_1_5"
    """In whose words; of no matter to formats that are in nobody's."""
    prompt: PromptTemplate | None = None
    """In place of the dialect's own prompt, as a policy is served with."""
    budget: HistoryBudget = DEFAULT_HISTORY_BUDGET
    """The history each row shows."""
    decisions: tuple[Decision, ...] | None = None
    """Which steps are learned from; None: all."""
    shares: Shares = Shares()
    bar_evaluated: bool | None = None
    """Whether kinds of task that policies are evaluated at stay out of `train`. None: wherever the export is divided,
    or in the format of another program."""
    leave_out_missing: bool = False
    """Whether trajectories whose pictures are lost are left out, and listed; else the export fails, and lists them."""
    variants: tuple[VariantKind, ...] = ()
    """Which variants of recorded thoughts are in `train` beside the originals, each as a trajectory with its label."""

    @property
    def excludes_evaluated(self) -> bool:
        """Whether evaluated kinds stay out of `train`."""
        if self.bar_evaluated is not None:
            return self.bar_evaluated
        return self.format != "canonical" or self.shares.validation + self.shares.test > 0


class FormatOut(FrozenModel):
    """A format one may choose."""

    name: str
    layout: str
    dialect: bool


class MissingPicture(FrozenModel):
    """A picture that is lost, and a trajectory that shows it."""

    sha256: str
    episode: str


class ExportOut(FrozenModel):
    """An export job; `progress` runs from 0 to 1."""

    id: UUID
    pool_id: int | None
    pool: str = ""
    """The name of the one pool it is of."""
    filters: ExportFilters
    plan: ExportPlan
    status: ExportStatus
    progress: float
    trajectories: int
    records: int
    bytes: int
    error: str
    missing: tuple[MissingPicture, ...]
    refused: int
    """Rows, and trajectories, that were left out."""
    refused_codes: dict[str, int]
    """How many of them by the reason's code."""
    variants: dict[str, int]
    """How many of the trajectories are variants, by their kind."""
    destination: str
    pushed: bool
    requested_by: str
    created_at: datetime
    finished_at: datetime | None


class VersionIn(FrozenModel):
    """What to freeze an export as."""

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
    notes: Annotated[str, Field(max_length=2_000, pattern=r"^[^\x00]*$")] = ""


class VersionOut(FrozenModel):
    """A citable dataset version: an export that is kept, and what became of it since."""

    name: str
    number: int
    citation: str
    export_id: UUID
    notes: str
    pool: str = ""
    filters: ExportFilters
    plan: ExportPlan
    manifest_sha256: str
    trajectories: int
    withdrawn: int
    """Trajectories in it that people have since asked to be removed; a new version leaves them out."""
    checkpoints: tuple[str, ...]
    """Revisions that were trained from it."""
    created_by: str
    created_at: datetime
