"""Episode schemas for pages other than the annotation page."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from protocol.base import FrozenModel
from protocol.messages.events import EpisodeStatus
from protocol.trajectory.observations import Verdict
from protocol.trajectory.trajectories import Outcome

ReviewState = Literal["pending", "accepted", "returned", "rejected"]


class EpisodeSummary(FrozenModel):
    """One row of an episode list. `steps` is their number. `note` is the annotator's last note: why the episode ended,
    or what they need help with. `annotator` is a user name, `annotator_name` the display name. `review_reason` is why
    it was returned or rejected."""

    id: UUID
    task_id: str
    instruction: str
    pool: str
    status: EpisodeStatus
    outcome: Outcome | None
    verdict: Verdict | None
    steps: int
    annotator: str
    annotator_name: str
    practice: bool
    help_requested: bool
    created_at: datetime
    finished_at: datetime | None
    review: ReviewState
    review_reason: str
    note: str


class SupervisorNoteOut(FrozenModel):
    """A supervisor's note on the annotator's page, or the record that they took control."""

    id: int
    author: str
    pseudonym: str
    """The author's pseudonym, as in steps and exports."""
    text: str
    took_control: bool
    created_at: datetime


class EpisodePage(FrozenModel):
    """A page of episodes, newest first; `next` is the number of the following page, if any."""

    items: tuple[EpisodeSummary, ...]
    total: int
    next: int | None


BranchReason = Literal["overridden", "failed"]


class BranchCandidate(FrozenModel):
    """The state before a step at which the active revision was overridden or failed. `weight` is the need of its task.
    `waiting`: the task is already queued. `done`: the task is finished."""

    episode: UUID
    step: int
    reason: BranchReason
    weight: float
    task: int
    kind: str
    waiting: bool
    done: bool
