"""Schemas of refills."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from annotation_app.refills.planning import MAX_PER_DAY, MAX_WAITING, Reason, WantedTasks
from annotation_app.tasks.task_sampling import ProposalCounts
from protocol.base import FrozenModel


class RefillSettings(FrozenModel):
    """When a pool gets new tasks, and how many."""

    active: bool = False
    per_day: Annotated[int, Field(ge=1, le=MAX_PER_DAY)] = 50
    """Most tasks that are added in 24 hours."""
    waiting_per_kind: Annotated[int, Field(ge=1, le=MAX_WAITING)] = 5
    """A kind gets tasks while fewer of it wait."""
    need_at_least: Annotated[float, Field(ge=0, le=1)] = 0.5
    """Need (0 to 1, docs/guides/admin/gates.md) from which a kind counts as failing."""


class RefillEntry(FrozenModel):
    """Tasks of one kind that were added at one time."""

    id: int
    kind: str
    source: str
    revision: str
    """The policy's label; empty where none proposed."""
    reason: Reason
    need: float
    counts: ProposalCounts
    """The revision's figures at the kind, as they were then."""
    made: int
    added: int
    created_at: datetime


class RefilledKind(FrozenModel):
    """What has become of the tasks of a kind that were added."""

    kind: str
    made: int
    added: int
    done: int
    solved: int
    """Those with an episode that succeeded."""


class RefillPage(FrozenModel):
    """A pool's refills."""

    settings: RefillSettings
    added_in_24_hours: int
    pending: bool
    """Whether a requested refill has not been made yet."""
    looked_at: datetime | None
    error: str
    reachable: bool
    """Whether the bridge answered; without it nothing is planned."""
    planned: tuple[WantedTasks, ...]
    """What would be added now, were it on."""
    kinds: tuple[RefilledKind, ...]
    entries: tuple[RefillEntry, ...]
    """The newest."""
