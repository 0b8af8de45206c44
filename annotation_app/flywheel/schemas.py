"""What is shown of wheels, turns, samples and checkpoints."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field, JsonValue, StringConstraints

from annotation_app.flywheel.recipe import Recipe
from annotation_app.flywheel.sample_rules import Grounds, Reason, Route
from annotation_app.policies.gate import Reason as GateReason
from annotation_app.policies.schemas import NAME, Address, ModelName, Name
from protocol.base import FrozenModel
from protocol.evaluation.agreement import AlignedSteps
from protocol.evaluation.reports import Rate, TaskChange
from protocol.trajectory.observations import Verdict
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Outcome

StageName = Literal["collect", "check", "value", "route", "mix", "train", "gate", "register", "refresh"]
Phase = Literal["ct", "sft", "merge", "pref", "rl"]
Source = Literal["fresh", "earlier", "played"]
"""How a checkpoint was trained on a sample: it read what its turn brought or earlier ones had, or played its task."""
Side = Literal["active", "candidate"]
"""Whose attempts at the gate: those of the revision that proposed as the turn began, or of what the turn made."""


class StageOut(FrozenModel):
    """How a stage stands; `result` is what it counted."""

    name: StageName
    state: Literal["begun", "done", "failed"]
    tries: int
    result: dict[str, JsonValue]
    code: str
    error: str
    began_at: datetime
    ended_at: datetime | None


class RouteCounts(FrozenModel):
    """How many samples went where; those still on their way are in none."""

    sft: int
    ct: int
    none: int


class PeopleTime(FrozenModel):
    """What people did at the desk in the episodes that a cycle took in, and what its gate gained after it."""

    episodes: int
    hours: float
    """From the episodes' beginnings to their ends, added up, pauses included."""
    judged: int
    """Steps that people decided where a policy had proposed."""
    corrected: int
    """Of these, overrides and takeovers."""
    gain: float | None
    """Success rate of the candidate at the tasks of the gate that both tried, less that of the active revision."""
    gain_per_hour: float | None
    """None for less than six minutes."""


class TurnRow(FrozenModel):
    """A turn: its stages, what went where, what was decided. Rates are None while nobody tried."""

    id: UUID
    number: int
    state: Literal["running", "done", "failed", "cancelled"]
    unheard: bool
    """It is to go on, and no worker is heard that takes turns."""
    by_clock: bool
    requested_by: str
    created_at: datetime
    ended_at: datetime | None
    stages: tuple[StageOut, ...]
    routes: RouteCounts
    active: str
    """Who proposed as it began."""
    revision: str
    """What it made; empty before it is registered."""
    success: Rate | None
    """At the gate's tasks."""
    success_before: Rate | None
    """Of the active revision, at those of them that both tried."""
    gain: float | None
    """By how much the candidate's rate is higher at the tasks that both tried; None where only one tried."""
    overridden: Rate | None
    """How often people overrode its revision in the pool."""
    people: PeopleTime | None
    """None where the cycle took in no episode of a person."""
    passed: bool | None
    reasons: tuple[GateReason, ...]


class WheelChange(FrozenModel):
    """A flywheel's recipe, and how often the schedule begins a cycle; None: never."""

    recipe: Recipe
    every_hours: Annotated[int, Field(ge=1, le=24 * 365)] | None = None


class WheelIn(WheelChange):
    """A flywheel to make: its name, and the pool whose trajectories it learns from. With `by_need` that pool gives its
    tasks by need from now on, instead of in order."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64, pattern=NAME)]
    pool: Annotated[int, Field(ge=1, le=2**31 - 1)]
    by_need: bool = True


class WheelOut(FrozenModel):
    """A wheel and its turns, the newest first."""

    id: int
    name: str
    pool: str
    every_hours: int | None
    recipe: Recipe
    turns: tuple[TurnRow, ...]


class PlayedOut(FrozenModel):
    """A kind of task, how the active revision did at it, and whether reinforcement plays it."""

    kind: str
    rate: Rate | None
    chosen: bool


class CheckpointOut(FrozenModel):
    """Weights a turn trained."""

    id: int
    turn: int
    phase: Phase
    domain: str
    """The pool of a specialist, by name; empty for weights that learn from all pools."""
    path: str
    sha256: str
    begun_with: str
    parent: int | None
    parts: tuple[int, ...]
    """The specialists it was merged of."""
    revision: str
    fresh: int
    """Samples of its own turn it was trained on."""
    earlier: int
    played: int
    """Samples of its own turn whose kind of task it played."""


class CheckpointRegistration(FrozenModel):
    """The revision as which a checkpoint is registered, and where it is served."""

    revision: Name
    base_url: Annotated[Address, StringConstraints(min_length=1)]
    model: ModelName


class RegisteredCheckpoint(FrozenModel):
    """The number of a checkpoint's revision; `new` is False where the very same one was there."""

    revision: int
    new: bool


class Curve(FrozenModel):
    """A training, update by update: each figure has as many values as there are updates. A value is None where the
    trainer wrote no such figure, or one that is no number."""

    phase: Phase
    domain: str
    """The pool of a specialist, by name."""
    updates: tuple[int, ...]
    figures: dict[str, tuple[float | None, ...]]


class TurnOut(FrozenModel):
    """A turn in detail."""

    wheel: str
    pool: str
    recipe: Recipe
    row: TurnRow
    last: bool
    """Whether it is its wheel's last: only then it goes on after it broke off."""
    compared: tuple[TaskChange, ...]
    """The gate's tasks under the active revision and under what the turn made, worst first; empty while nobody tried,
    and where nobody proposed before."""
    evaluation: int | None
    """The number of the report that its gate registered."""
    checkpoints: tuple[CheckpointOut, ...]
    played: tuple[PlayedOut, ...]
    curves: tuple[Curve, ...]
    folder: str
    """Where the trainings are, with their TensorBoard files; empty before the first began."""


class SampleOut(FrozenModel):
    """A sample, what was said of it, where it went and why."""

    id: int
    episode: UUID
    executable: bool | None
    duplicate_of: UUID | None
    grounds: Grounds | None
    value: float | None
    valued_by: str
    contested: bool
    route: Route | None
    reason: Reason | None


class SamplePage(FrozenModel):
    """A page of a turn's samples, in the order they came; `next` asks for the following one."""

    items: tuple[SampleOut, ...]
    next: int | None


class LearnedCheckpoint(FrozenModel):
    """A checkpoint that a trajectory taught: itself, by its kind of task (`played`), or by one it comes of
    (`inherited`)."""

    checkpoint: CheckpointOut
    wheel: str
    source: Literal["fresh", "earlier", "played", "inherited"]


class TrajectoryLineage(FrozenModel):
    """A trajectory as a wheel took it in, and the checkpoints that learned from it."""

    wheel: str
    turn: int
    turn_id: UUID
    sample: SampleOut
    taught: tuple[LearnedCheckpoint, ...]


class UseOut(FrozenModel):
    """A sample that a checkpoint was trained on."""

    sample: SampleOut
    turn: int
    source: Source


class CheckpointLineage(FrozenModel):
    """A checkpoint, those it comes of, the newest first, and a page of what it was itself trained on."""

    checkpoint: CheckpointOut
    ancestors: tuple[CheckpointOut, ...]
    uses: tuple[UseOut, ...]
    next: int | None


class Trial(FrozenModel):
    """An attempt at the gate in short."""

    place: int
    """In its side's folder, from 0."""
    solved: bool | None
    """None where nothing could judge the end."""
    outcome: Outcome | None
    steps: int


class SeedTrials(FrozenModel):
    """What both revisions did at a task with one seed; None where one of them did not try it."""

    seed: int
    active: Trial | None
    candidate: Trial | None


class TrialDetails(FrozenModel):
    """An attempt at the gate, step by step, and how it ended."""

    steps: tuple[Step, ...]
    outcome: Outcome | None
    verdict: Verdict | None


class TrialComparison(FrozenModel):
    """Two attempts at one task and seed beside each other; `divergence` is a place in `pairs`."""

    kind: str
    seed: int
    instruction: str
    active: TrialDetails
    candidate: TrialDetails
    pairs: tuple[AlignedSteps, ...]
    divergence: int | None
    agreement: float
