"""Schemas of applications and of balance."""

from datetime import date, datetime
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from annotation_app.design.applications import LARGEST_VALUE, Indicator, ScorePart, ScoringRule, Unit
from annotation_app.design.balance import LevelBalance, WantedShares
from annotation_app.design.reading_files import ReadingFault
from annotation_app.design.schemas import Name, RowId
from protocol.base import FrozenModel

Source = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500, pattern=r"^[^\x00-\x1f]*$")
]
Reason = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500, pattern=r"^[^\x00]*$")]
State = Literal["candidate", "chosen", "dropped"]


class ApplicationIn(FrozenModel):
    """An application that tasks may be made for."""

    name: Name


class ReadingIn(FrozenModel):
    """A value of an indicator; another one from the same source and day corrects it."""

    indicator: Indicator
    value: Annotated[float, Field(ge=0, le=LARGEST_VALUE)]
    unit: Unit
    source: Source
    """Its source: a text or an address."""
    dated: date
    """The day that it is of, not after today."""


class ReadingOut(FrozenModel):
    """A reading, and whether it counts."""

    id: int
    indicator: Indicator
    value: float
    unit: str
    source: str
    dated: date
    recorded_by: str
    counted: bool


class DecisionIn(FrozenModel):
    """What is decided about an application."""

    state: State
    reason: Reason = ""


class DecisionOut(FrozenModel):
    """Who decided when, and the score it had then by which version of the rule."""

    by: str
    at: datetime
    reason: str
    score: float | None
    version: int


class ApplicationOut(FrozenModel):
    """An application with its score; see `applications.Score`."""

    id: int
    name: str
    state: State
    rank: int
    score: float | None
    low: float | None
    high: float | None
    parts: tuple[ScorePart, ...]
    readings: tuple[ReadingOut, ...]
    decision: DecisionOut | None
    node: int | None
    """The top node of the graph that it is."""


class ScoringOut(FrozenModel):
    """The rule that counts."""

    version: int
    """0: the defaults."""
    rule: ScoringRule
    changed_by: str
    changed_at: datetime | None


class ApplicationsPage(FrozenModel):
    """All applications, the highest score first."""

    items: tuple[ApplicationOut, ...]
    scoring: ScoringOut


class ImportedRow(FrozenModel):
    """What a row of a file does."""

    row: int
    application: str
    indicator: Indicator | None
    effect: Literal["added", "changed", "same"]


class ReadingReport(FrozenModel):
    """The result of a file of readings, or of its trial; with faults, nothing was changed."""

    rows: tuple[ImportedRow, ...]
    """The first of them."""
    applications: int
    """New applications."""
    added: int
    changed: int
    same: int
    faults: tuple[ReadingFault, ...]


class BalanceScope(FrozenModel):
    """A pool that has tasks."""

    id: int
    name: str


class SuggestedPlace(FrozenModel):
    """A leaf of the graph where tasks of a level are wanted most."""

    node: int
    path: str
    tasks: int
    """Tasks of that level that it has: each can be worded otherwise."""


class BalanceLevel(LevelBalance):
    """A level with what is guessed of it, and where tasks of it can be made."""

    guessed: int
    places: tuple[SuggestedPlace, ...]


class BalancePage(FrozenModel):
    """How tasks are spread over the levels of difficulty, in one pool or in all but practice."""

    pool: int | None
    pools: tuple[BalanceScope, ...]
    levels: tuple[BalanceLevel, ...]
    tasks: int
    """With a level."""
    unrated: int
    """Without one."""
    wanted: WantedShares
    own: bool
    """Whether the wanted shares were set for this pool, or for all when no pool is asked for."""
    tolerance: float


class WantedSharesIn(FrozenModel):
    """How tasks should be spread; None takes a pool's own shares away, and sets those of all back to even ones."""

    pool: RowId | None = None
    shares: WantedShares | None


class GuessIn(FrozenModel):
    """Whose tasks get a guessed difficulty: those of a pool, or all."""

    pool: RowId | None = None


class GuessOut(FrozenModel):
    """How many tasks got one."""

    guessed: int
