"""Schemas of flywheels, cycles, samples and checkpoints."""

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
"""How a sample was used in a checkpoint's training: as a new sample, as one of an earlier cycle, or by playing its
task."""
Side = Literal["active", "candidate"]
"""The side of a gate attempt: the revision that was active when the cycle began, or the candidate."""


class StageOut(FrozenModel):
    """The state of a stage; `result` holds its counts."""

    name: StageName
    state: Literal["begun", "done", "failed"]
    tries: int
    result: dict[str, JsonValue]
    code: str
    error: str
    began_at: datetime
    ended_at: datetime | None


class RouteCounts(FrozenModel):
    """How many samples took each route. Samples without a route yet are not counted."""

    sft: int
    ct: int
    none: int


class PeopleTime(FrozenModel):
    """People's work in the episodes that a cycle collected, and the gain at its gate."""

    episodes: int
    hours: float
    """Total time from the episodes' beginnings to their ends, pauses included."""
    judged: int
    """Steps that people decided with proposals available."""
    corrected: int
    """Of these, overrides and takeovers."""
    gain: float | None
    """Success rate of the candidate minus that of the active revision, at the gate tasks that both tried."""
    gain_per_hour: float | None
    """None for less than six minutes."""


class TurnRow(FrozenModel):
    """A cycle: its stages, routes and decisions. Rates are None without trials."""

    id: UUID
    number: int
    state: Literal["running", "done", "failed", "cancelled"]
    unheard: bool
    """Whether it is to continue, but no worker for cycles is alive."""
    by_clock: bool
    requested_by: str
    created_at: datetime
    ended_at: datetime | None
    stages: tuple[StageOut, ...]
    routes: RouteCounts
    active: str
    """The active revision at its start."""
    revision: str
    """The revision that it made; empty before registration."""
    success: Rate | None
    """At the gate's tasks."""
    success_before: Rate | None
    """The active revision's rate, at those tasks that both tried."""
    gain: float | None
    """The candidate's rate minus the active revision's, at the tasks that both tried; None if only one tried."""
    overridden: Rate | None
    """How often people overrode its revision in the pool."""
    people: PeopleTime | None
    """None if the cycle collected no episode of a person."""
    passed: bool | None
    reasons: tuple[GateReason, ...]


class WheelChange(FrozenModel):
    """A flywheel's recipe, and how often the schedule starts a cycle; None: never."""

    recipe: Recipe
    every_hours: Annotated[int, Field(ge=1, le=24 * 365)] | None = None


class WheelIn(WheelChange):
    """A flywheel to create: its name, and the pool whose trajectories it learns from. With `by_need` that pool selects
    its tasks by need from now on, instead of in order."""

    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=64, pattern=NAME)]
    pool: Annotated[int, Field(ge=1, le=2**31 - 1)]
    by_need: bool = True


class WheelOut(FrozenModel):
    """A flywheel and its cycles, newest first."""

    id: int
    name: str
    pool: str
    every_hours: int | None
    recipe: Recipe
    turns: tuple[TurnRow, ...]


class PlayedOut(FrozenModel):
    """A kind of task, the active revision's results at it, and whether reinforcement plays it."""

    kind: str
    rate: Rate | None
    chosen: bool


class CheckpointOut(FrozenModel):
    """Weights that a cycle trained."""

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
    """The specialists that were merged into it."""
    revision: str
    fresh: int
    """Samples of its own cycle that it was trained on."""
    earlier: int
    played: int
    """Samples of its own cycle whose kind of task it played."""


class CheckpointRegistration(FrozenModel):
    """The revision name for a checkpoint, and its server."""

    revision: Name
    base_url: Annotated[Address, StringConstraints(min_length=1)]
    model: ModelName


class RegisteredCheckpoint(FrozenModel):
    """The number of a checkpoint's revision; `new` is False if an identical one existed."""

    revision: int
    new: bool


class Curve(FrozenModel):
    """A training, update by update. Each figure has one value for each update. A value is None if the trainer did not
    write it, or if it is not a finite number."""

    phase: Phase
    domain: str
    """The pool of a specialist, by name."""
    updates: tuple[int, ...]
    figures: dict[str, tuple[float | None, ...]]


class TurnOut(FrozenModel):
    """A cycle in detail."""

    wheel: str
    pool: str
    recipe: Recipe
    row: TurnRow
    last: bool
    """Whether it is the last of its flywheel. Only then it can be resumed."""
    compared: tuple[TaskChange, ...]
    """The gate's tasks under the active revision and under the candidate, worst first. Empty without trials, and if no
    revision was active before."""
    evaluation: int | None
    """The number of the report that its gate registered."""
    checkpoints: tuple[CheckpointOut, ...]
    played: tuple[PlayedOut, ...]
    curves: tuple[Curve, ...]
    folder: str
    """The folder of the trainings, with their TensorBoard files; empty before the first began."""


class SampleOut(FrozenModel):
    """A sample, its verdicts, its route and the reason."""

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
    """A page of a cycle's samples, in order of collection; `next` is the cursor of the following one."""

    items: tuple[SampleOut, ...]
    next: int | None


class LearnedCheckpoint(FrozenModel):
    """A checkpoint that learned from a trajectory: directly, by its kind of task (`played`), or through an ancestor
    (`inherited`)."""

    checkpoint: CheckpointOut
    wheel: str
    source: Literal["fresh", "earlier", "played", "inherited"]


class TrajectoryLineage(FrozenModel):
    """A trajectory as a flywheel collected it, and the checkpoints that learned from it."""

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
    """A checkpoint, its ancestors, newest first, and a page of its own training samples."""

    checkpoint: CheckpointOut
    ancestors: tuple[CheckpointOut, ...]
    uses: tuple[UseOut, ...]
    next: int | None


class Trial(FrozenModel):
    """A summary of a gate attempt."""

    place: int
    """Position in its side's folder, from 0."""
    solved: bool | None
    """None if its outcome could not be judged."""
    outcome: Outcome | None
    steps: int


class SeedTrials(FrozenModel):
    """Results of both revisions at a task with one seed; None if one of them did not try it."""

    seed: int
    active: Trial | None
    candidate: Trial | None


class TrialDetails(FrozenModel):
    """A gate attempt, step by step, and its outcome."""

    steps: tuple[Step, ...]
    outcome: Outcome | None
    verdict: Verdict | None


class TrialComparison(FrozenModel):
    """Two attempts at one task and seed side by side; `divergence` is an index into `pairs`."""

    kind: str
    seed: int
    instruction: str
    active: TrialDetails
    candidate: TrialDetails
    pairs: tuple[AlignedSteps, ...]
    divergence: int | None
    agreement: float
