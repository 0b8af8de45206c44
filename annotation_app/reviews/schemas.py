"""Schemas of reviews."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from annotation_app.episodes.schemas import EpisodeSummary
from protocol.actions.types import Action
from protocol.base import FrozenModel
from protocol.evaluation.agreement import AlignedSteps
from protocol.trajectory.observations import Verdict
from protocol.trajectory.reviews import Segment, StepVerdict
from protocol.trajectory.trajectories import Outcome

DecisionWord = Literal["accept", "return", "reject"]
JobStatus = Literal["queued", "running", "done", "cancelled", "failed"]
ChangeKind = Literal["changed", "added", "removed"]


class ClaimOut(FrozenModel):
    """The reviewer with a claim on an episode, and its end."""

    reviewer: str
    mine: bool
    until: datetime


class QueueItem(FrozenModel):
    """An episode that waits for a decision; `round` counts from 1."""

    episode: EpisodeSummary
    round: int
    claim: ClaimOut | None
    adjudication: bool = False
    """Two reviewers disagree on it."""
    recorded: bool = False
    """It is a session of the recorder."""


class ReviewQueue(FrozenModel):
    """Waiting episodes, oldest first. `next` is the cursor of the following page, if any. `capped`: more than `total`
    wait."""

    items: tuple[QueueItem, ...]
    total: int
    capped: bool
    next: str | None


class RoundOut(FrozenModel):
    """A decision, and why."""

    number: int
    decision: DecisionWord
    reason: str
    reviewer: str
    decided_at: datetime


class OpinionOut(FrozenModel):
    """What an independent reviewer, or who adjudicates, would decide; `round` is null until the episode is decided."""

    round: int | None
    reviewer: str
    mine: bool
    decision: DecisionWord
    reason: str


class RemarkOut(FrozenModel):
    """A reviewer's remark on a step."""

    index: int
    round: int
    reviewer: str
    mine: bool
    verdict: StepVerdict | None
    comment: str


class FixOut(FrozenModel):
    """A revision of a step; the executed step is revision 0."""

    index: int
    revision: int
    thought: str
    action: Action
    reason: str
    author: str
    created_at: datetime


class StepContent(FrozenModel):
    """What a step says, in one version of it."""

    index: int
    thought: str
    action: Action


class Change(FrozenModel):
    """How a step differs from the round before."""

    kind: ChangeKind
    before: StepContent | None
    after: StepContent | None


class CheckStep(FrozenModel):
    """How doing a step again went: how much its picture is like the recorded one (1: the same), or why it failed."""

    index: int
    likeness: float | None
    error: str = ""


class CheckReport(FrozenModel):
    """What came of doing an episode again. `departs_at`: the first step that failed or left another picture;
    `executable`: every step could be done, and the verifier found no other end than the record says."""

    steps: tuple[CheckStep, ...]
    departs_at: int | None
    verdict: Verdict | None
    executable: bool


class JobOut(FrozenModel):
    """The status of a job."""

    id: UUID
    kind: Literal["check", "duplicates", "refinement", "enriched", "diversified"]
    status: JobStatus
    total: int
    done: int
    error: str
    report: CheckReport | None
    created_at: datetime
    finished_at: datetime | None


class Sibling(FrozenModel):
    """Another attempt at the same task."""

    id: UUID
    annotator: str
    outcome: Outcome | None
    steps: int
    chosen: bool


class SimilarEpisode(FrozenModel):
    """Another episode that is nearly the same."""

    id: UUID
    instruction: str
    text: float
    screens: float | None


class ReviewDetails(FrozenModel):
    """All that belongs to reviewing one episode. `may`: what this person may do with it now."""

    episode: EpisodeSummary
    round: int
    may: Literal["review", "mend", "look"]
    claim: ClaimOut | None
    rounds: tuple[RoundOut, ...]
    opinions: tuple[OpinionOut, ...]
    blind: bool
    """Two review it, and what the other one makes of it is hidden from this person until they have decided."""
    remarks: tuple[RemarkOut, ...]
    fixes: tuple[FixOut, ...]
    segments: tuple[Segment, ...]
    can_undo_cut: bool
    previous: UUID | None
    changes: tuple[Change, ...]
    siblings: tuple[Sibling, ...]
    check: JobOut | None
    duplicates: tuple[SimilarEpisode, ...]


class Attempt(FrozenModel):
    """One side of a comparison."""

    episode: EpisodeSummary
    policies: tuple[str, ...]


class SideBySide(FrozenModel):
    """Two attempts at one task beside each other; `divergence` is a place in `pairs`."""

    task: int
    one: Attempt
    other: Attempt
    pairs: tuple[AlignedSteps, ...]
    divergence: int | None
    agreement: float
    chosen: UUID | None
    reason: str
    adjudicator: str


class SharedTask(FrozenModel):
    """A task that two policies were given, with the newest attempt of each."""

    task: int
    one: Attempt
    other: Attempt


class SharedTasks(FrozenModel):
    """The revisions there are attempts of, and where two of them met; `more`: there are further tasks."""

    revisions: tuple[str, ...]
    items: tuple[SharedTask, ...] = ()
    more: bool = False


class TaskAgreement(FrozenModel):
    """A task that several people did: how far the two furthest apart agree."""

    task: int
    instruction: str
    pool: str
    episodes: tuple[UUID, ...]
    annotators: tuple[str, ...]
    agreement: float
    outcomes_agree: bool
    adjudicated: bool


class GoldScore(FrozenModel):
    """How a person did at tasks whose right way is known."""

    annotator: str
    episodes: int
    agreement: float = Field(description="Mean share of steps as in the reference")
    outcomes: float = Field(description="Share of attempts that ended as the reference did")


class DecisionAgreement(FrozenModel):
    """How far the two independent reviewers of an episode decide alike: in how many episodes both decided, the share of
    them where they did alike, and Krippendorff's alpha (None where it cannot be told). Of recorded sessions: how many
    words both assigned to steps, and alpha of that."""

    episodes: int
    share: float | None
    alpha: float | None
    words: int
    words_alpha: float | None


class Agreement(FrozenModel):
    """How far people agree. `alpha` is None where no two judged the same steps, or all said the same."""

    decisions: DecisionAgreement
    alpha: float | None
    steps_judged_together: int
    mean_agreement: float | None
    tasks: tuple[TaskAgreement, ...]
    gold: tuple[GoldScore, ...]


class DuplicatePair(FrozenModel):
    """Two episodes that are nearly the same."""

    one: EpisodeSummary
    other: EpisodeSummary
    same_task: bool
    text: float
    screens: float | None


class Duplicates(FrozenModel):
    """What the last look through a pool found."""

    job: JobOut | None
    pairs: tuple[DuplicatePair, ...]
