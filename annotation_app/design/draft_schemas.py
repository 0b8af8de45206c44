"""Schemas of task drafts."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, StringConstraints

from annotation_app.design.difficulty import Level
from annotation_app.design.draft_replies import Cell, DraftContent, Expertise, LeftOut, Scope
from annotation_app.design.schemas import Name, RowId, WriterOut, WriterServer, WritingStatus
from protocol.base import FrozenModel
from protocol.trajectory.tasks import HostPattern

DraftIds = Annotated[tuple[RowId, ...], Field(min_length=1, max_length=200)]
DraftStateName = Literal["waiting", "accepted", "rejected"]


class DraftIn(FrozenModel):
    """A task draft that a person writes for a node."""

    node: RowId
    content: DraftContent


class DraftFilters(FrozenModel):
    """Which drafts are looked for."""

    expertise: Expertise | None = None
    scope: Scope | None = None
    state: DraftStateName | None = None
    written_by: Literal["person", "model"] | None = None


class DraftMatch(FrozenModel):
    """Another draft, or a task, that says the same as a draft."""

    kind: Literal["draft", "task"]
    id: int
    text: str
    similarity: float
    """Share of their words and letters that both have, 0 to 1."""


class DraftOut(FrozenModel):
    """A draft, who wrote it, what was decided, and drafts of the node that say the same."""

    id: int
    content: DraftContent
    scope: Scope
    level: Level
    level_contradicted: bool
    """What is counted of it gives a level that is not for such a person."""
    state: DraftStateName
    writer: str
    """Model and revision; empty for a person's."""
    author: str
    """The person who wrote it, or edited it last; empty where a model alone did."""
    original: str
    """The text as the model said it, where it was edited; else empty."""
    prompt_sha256: str
    reason: str
    task: int | None
    pool: str
    matches: tuple[DraftMatch, ...]


class DraftRequestOut(FrozenModel):
    """A request for drafts, how far it is, and what was left out of the replies."""

    id: UUID
    writer: str
    status: WritingStatus
    error: str
    count: int
    cells: int
    cells_done: int
    drafts: int
    left_out: tuple[LeftOut, ...]


class DraftPool(FrozenModel):
    """A pool that drafts can be accepted into, and the machines that its tasks get."""

    id: int
    name: str
    platform: str
    image: str
    max_steps: int


class DraftsPage(FrozenModel):
    """Drafts under a node; `after` asks for the following ones, if any."""

    items: tuple[DraftOut, ...]
    after: int | None
    request: DraftRequestOut | None
    """The newest one of the node."""


class DraftNode(FrozenModel):
    """A node by its path, and how many drafts of it and of those below wait."""

    id: int
    path: tuple[Name, ...]
    waiting: int


class DraftsOverview(FrozenModel):
    """What drafts are written with: nodes by their paths with their waiting drafts, models, pools."""

    nodes: tuple[DraftNode, ...]
    writers: tuple[WriterOut, ...]
    pools: tuple[DraftPool, ...]


class DraftRequestIn(FrozenModel):
    """How many drafts are wanted of whom, for whom, and in how many applications."""

    node: RowId
    writer: RowId
    count: Annotated[int, Field(ge=1, le=50)] = 6
    expertises: Annotated[tuple[Expertise, ...], Field(min_length=1, max_length=3)] = (
        "novice",
        "intermediate",
        "expert",
    )
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1, max_length=2)] = ("single",)
    persona: Annotated[str, StringConstraints(strip_whitespace=True, max_length=200, pattern=r"^[^\x00-\x1f]*$")] = ""
    language: Literal["en", "zh"] = "en"


class DraftCheckIn(FrozenModel):
    """Drafts that are to be compared with each other, the node's others and the tasks of a pool."""

    drafts: DraftIds
    pool: RowId


class DraftCheck(FrozenModel):
    """A draft, and what says the same."""

    draft: int
    matches: tuple[DraftMatch, ...]


class DraftAcceptIn(FrozenModel):
    """Drafts that are to become tasks of a pool."""

    drafts: DraftIds
    pool: RowId
    max_steps: Annotated[int, Field(ge=1, le=1_000)] | None = None
    """Of each task; without it, twice the steps of its rubric, at least 10."""
    network: Annotated[tuple[HostPattern, ...], Field(max_length=64)] = ()
    """Hosts that the machine may reach."""
    confirmed: bool = False
    """Also those that say the same as another draft or task."""


class DraftsAccepted(FrozenModel):
    """The tasks that were made, in the order of the drafts."""

    tasks: tuple[int, ...]


class DraftRejectIn(FrozenModel):
    """Drafts that are of no use, and why."""

    drafts: DraftIds
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]


class DraftReopenIn(FrozenModel):
    """Rejected drafts that are to wait again."""

    drafts: DraftIds


class DraftPlan(FrozenModel):
    """What a request for drafts that was begun has to do: the cells that are left."""

    server: WriterServer
    path: tuple[str, ...]
    applications: tuple[str, ...]
    persona: str
    language: str
    cells: tuple[Cell, ...]
