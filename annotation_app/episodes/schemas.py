"""What is shown of episodes outside the desk."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from protocol.base import FrozenModel
from protocol.messages.events import EpisodeStatus
from protocol.trajectory.observations import Verdict
from protocol.trajectory.trajectories import Outcome

ReviewState = Literal["pending", "accepted", "returned", "rejected"]


class EpisodeSummary(FrozenModel):
    """One line of a list of episodes; `steps` counts them, `note` is what its annotator said last: why it ended so,
    or what they need help with. `annotator` is a user name, `annotator_name` what people call them; `review_reason` is
    why it was sent back or rejected."""

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
    """A supervisor's note at the annotator's desk, or that they took control."""

    id: int
    author: str
    pseudonym: str
    """What steps and exports call the author."""
    text: str
    took_control: bool
    created_at: datetime


class EpisodePage(FrozenModel):
    """A page of episodes, newest first; `next` is the following page's number, if any."""

    items: tuple[EpisodeSummary, ...]
    total: int
    next: int | None


BranchReason = Literal["overridden", "failed"]


class BranchCandidate(FrozenModel):
    """The state before a step at which the active revision was overridden, or failed; `weight` is the need of its
    task. `waiting`: the task is in the queue already; `done`: nobody is at it."""

    episode: UUID
    step: int
    reason: BranchReason
    weight: float
    task: int
    kind: str
    waiting: bool
    done: bool
