"""What is asked of the catalogue, and what it answers."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from annotation_app.episodes.schemas import EpisodeSummary, ReviewState
from annotation_app.http_api import ShortText
from protocol.base import FrozenModel
from protocol.trajectory.steps import Decision
from protocol.trajectory.trajectories import Outcome

Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f]+$")]


class Query(FrozenModel):
    """Which ended episodes: each field that is set narrows it; practice, and what people withdrew, is never found."""

    text: Annotated[ShortText, Field(description="Words of the instruction, the thoughts and the actions")] = ""
    pool: int | None = None
    decisions: tuple[Decision, ...] = ()
    """Kinds of decision that all occur in it."""
    policy: ShortText | None = None
    """Name and revision of a policy that proposed in it."""
    application: ShortText | None = None
    action: ShortText | None = None
    """A kind of action that occurs in it."""
    level: Annotated[int, Field(ge=1, le=5, description="How hard the task is by its rubric")] | None = None
    outcome: Outcome | None = None
    review: ReviewState | None = None
    annotator: ShortText | None = None
    reward_min: float | None = None
    reward_max: float | None = None
    steps_min: int | None = Field(default=None, ge=0)
    steps_max: int | None = Field(default=None, ge=0)
    since: datetime | None = None
    until: datetime | None = None


class FoundEpisode(EpisodeSummary):
    """A line of the browser: a line of episodes, and what it was found by."""

    decisions: tuple[Decision, ...]
    policies: tuple[str, ...]
    applications: tuple[str, ...]
    reward: float | None


class FoundPage(FrozenModel):
    """A page, newest first; `next` asks for the following one, however much is added meanwhile."""

    items: tuple[FoundEpisode, ...]
    total: int
    """Of all pages."""
    next: str | None


class Facet(FrozenModel):
    """A value, and how many of what was found have it."""

    value: str
    count: int


class Facets(FrozenModel):
    """How what was found divides; `total` counts all of it."""

    total: int
    pools: tuple[Facet, ...]
    decisions: tuple[Facet, ...]
    policies: tuple[Facet, ...]
    applications: tuple[Facet, ...]
    actions: tuple[Facet, ...]
    outcomes: tuple[Facet, ...]
    reviews: tuple[Facet, ...]


class SavedQueryIn(FrozenModel):
    """A query to keep."""

    name: Name
    query: Query


class SavedQueryOut(FrozenModel):
    """A kept query."""

    id: int
    name: str
    owner: str
    mine: bool
    query: Query
    created_at: datetime
