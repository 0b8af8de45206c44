"""Schemas of task design."""

from typing import Annotated, Literal, Self
from uuid import UUID

from pydantic import Field, StringConstraints, model_validator

from annotation_app.design.difficulty import Level, Rubric, RubricScale
from annotation_app.design.importance import Degree, ImportanceWeights, Measures
from protocol.base import FrozenModel

Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]*$")
]
WriterName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64, pattern=r"^[^\x00-\x1f]*$")
]
Importance = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
RowId = Annotated[int, Field(ge=1, le=2**31 - 1)]
Instruction = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=3, max_length=2_000, pattern=r"^[^\x00]*$")
]
MeasureSource = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500, pattern=r"^[^\x00-\x1f]*$")]
WritingStatus = Literal["queued", "running", "done", "cancelled", "failed"]
DEEPEST = 3
"""Application, function, part."""


class NodeIn(FrozenModel):
    """A node that is wanted; with measures, its importance follows from them."""

    parent: RowId | None = None
    name: Name
    importance: Importance = 1.0
    measures: Measures | None = None
    measured_by: MeasureSource = ""


class NodeChange(FrozenModel):
    """What a node is to be; with measures, its importance follows from them, without them it is typed."""

    name: Name
    importance: Importance
    measures: Measures | None = None
    measured_by: MeasureSource = ""


class CellOut(FrozenModel):
    """The tasks of a node and all below it, at one level."""

    level: Level
    tasks: int
    done: int
    """Tasks of it that were done."""
    accepted: int
    """Attempts that reviewers accepted."""


class NodeOut(FrozenModel):
    """A node, what share of all work it stands for, and its cells that have tasks."""

    id: int
    parent: int | None
    name: str
    importance: float
    measures: Measures | None
    """What the importance follows from; None where it is typed."""
    measured_by: str
    weight: float
    cells: tuple[CellOut, ...]


class Gap(FrozenModel):
    """A leaf at a level that lacks attempts; the greater the score the more it is wanted."""

    node: int
    level: Level
    score: float


class WriterOut(FrozenModel):
    """A model that may be asked for wordings and drafts."""

    id: int
    name: str


class WriterIn(FrozenModel):
    """A model that words instructions; another setting is another revision."""

    name: WriterName
    revision: WriterName
    base_url: Annotated[str, StringConstraints(max_length=500, pattern=r"^https?://[^\s\x00/@]+(/[^\s\x00]*)?$")]
    """Root of an OpenAI-compatible API, ending in /v1."""
    model: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]+$")]
    temperature: Annotated[float, Field(ge=0, le=2, allow_inf_nan=False)] = 0.9
    max_tokens: Annotated[int, Field(ge=16, le=16_384)] = 1_024


class DesignPage(FrozenModel):
    """The graph with what is covered of it, what is wanted most, and what is not placed yet."""

    nodes: tuple[NodeOut, ...]
    gaps: tuple[Gap, ...]
    unplaced: int
    writers: tuple[WriterOut, ...]
    wanted: int
    """Accepted attempts that a cell should have."""
    rubric: RubricScale
    importance_weights: ImportanceWeights


class SuggestionOut(FrozenModel):
    """A wording that waits for a decision."""

    id: int
    text: str


class WritingOut(FrozenModel):
    """A request for wordings, and those of it that wait."""

    id: UUID
    writer: str
    status: WritingStatus
    error: str
    suggestions: tuple[SuggestionOut, ...]


class PlacedTask(FrozenModel):
    """A task in a cell."""

    id: int
    pool: str
    key: str
    instruction: str
    state: Literal["waiting", "claimed", "done", "broken", "withdrawn"]
    level: Level
    rubric: Rubric
    guessed: bool
    variant_of: int | None
    accepted: int
    writing: WritingOut | None
    """The newest request for wordings of it."""


class PlacedPage(FrozenModel):
    """Tasks of a cell, or those that stand nowhere; `after` asks for the following ones, if any."""

    items: tuple[PlacedTask, ...]
    after: int | None


class PlacementIn(FrozenModel):
    """The new places of tasks; None changes nothing."""

    tasks: Annotated[tuple[RowId, ...], Field(min_length=1, max_length=500)]
    node: RowId | None = None
    rubric: Rubric | None = None


class WritingIn(FrozenModel):
    """How many wordings are wanted of whom."""

    writer: RowId
    count: Annotated[int, Field(ge=1, le=20)] = 5


class WordingIn(FrozenModel):
    """The wording as it is to be, edited or not."""

    text: Instruction


class GraphRow(FrozenModel):
    """A node by its path, as graphs are written to files. With frequency, benefit and transfer the importance follows
    from them, whatever the file says of it; older files have no such columns."""

    application: Name
    function: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""
    part: Annotated[str, StringConstraints(strip_whitespace=True, max_length=100)] = ""
    importance: Importance = 1.0
    frequency: Degree | None = None
    benefit: Degree | None = None
    transfer: Degree | None = None
    source: MeasureSource = ""

    @property
    def measures(self) -> Measures | None:
        """What the importance follows from; None where it is typed."""
        if self.frequency is None or self.benefit is None or self.transfer is None:
            return None
        return Measures(frequency=self.frequency, benefit=self.benefit, transfer=self.transfer)

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.measures is None and not self.frequency == self.benefit == self.transfer is None:
            raise ValueError("frequency, benefit and transfer are given together")
        return self


class GraphFault(FrozenModel):
    """Why a row of a file is no node; rows count from 1."""

    row: int
    reason: str


class GraphReport(FrozenModel):
    """What came of a file, or of the bundled suites: with faults, nothing was changed."""

    added: int
    changed: int
    placed: int
    faults: tuple[GraphFault, ...]


class WriterServer(FrozenModel):
    """All that is needed to ask a writer."""

    base_url: str
    model: str
    temperature: float
    max_tokens: int


class WritingPlan(FrozenModel):
    """The work of a request that was started."""

    server: WriterServer
    instruction: str
    count: int
