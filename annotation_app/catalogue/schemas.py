"""Schemas of the catalogue."""

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
    """A filter on ended episodes. Each field that is set narrows it. Practice and withdrawn work are never found."""

    text: Annotated[ShortText, Field(description="Words of the instruction, the thoughts and the actions")] = ""
    pool: int | None = None
    decisions: tuple[Decision, ...] = ()
    """Kinds of decision that must all occur in it."""
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
    """A row of the catalogue: an episode summary with the fields that are searched."""

    decisions: tuple[Decision, ...]
    policies: tuple[str, ...]
    applications: tuple[str, ...]
    reward: float | None


class FoundPage(FrozenModel):
    """A page, newest first; `next` is the cursor of the following one, which stays valid when entries are added."""

    items: tuple[FoundEpisode, ...]
    total: int
    """Total over all pages."""
    next: str | None


class Facet(FrozenModel):
    """A value, and how many results have it."""

    value: str
    count: int


class Facets(FrozenModel):
    """Facet counts of the results; `total` counts all of them."""

    total: int
    pools: tuple[Facet, ...]
    decisions: tuple[Facet, ...]
    policies: tuple[Facet, ...]
    applications: tuple[Facet, ...]
    actions: tuple[Facet, ...]
    outcomes: tuple[Facet, ...]
    reviews: tuple[Facet, ...]


class SavedQueryIn(FrozenModel):
    """A query to save."""

    name: Name
    query: Query


class SavedQueryOut(FrozenModel):
    """A saved query."""

    id: int
    name: str
    owner: str
    mine: bool
    query: Query
    created_at: datetime
