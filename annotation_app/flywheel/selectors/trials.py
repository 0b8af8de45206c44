"""The gate attempts of a cycle: those at one task by seed, and two at one seed side by side."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Episode
from annotation_app.errors import Conflict, NotFound
from annotation_app.flywheel.evaluation import gate_task_ids
from annotation_app.flywheel.models import Checkpoint, Sample, Turn
from annotation_app.flywheel.paths import TRIALS_FOLDER, turn_path
from annotation_app.flywheel.schemas import SeedTrials, Side, Trial, TrialComparison, TrialDetails
from annotation_app.flywheel.selectors.turns import flywheel_reader_check
from annotation_app.flywheel.trials import TrialHead, picture_read, trial_heads, trial_trajectory
from protocol.blobs import BlobRef
from protocol.evaluation.agreement import align_steps, step_agreement
from protocol.trajectory.tasks import format_task_kind, task_kind
from protocol.trajectory.trajectories import Trajectory

SIDES: tuple[Side, ...] = ("active", "candidate")


def earlier_trials_path(turn: Turn) -> Path | None:
    """The active revision's attempts as an earlier candidate of this flywheel, if a repetition would be identical:
    greedy, at the same tasks. Sampled attempts are drawn again; otherwise a lucky candidate would keep its result."""
    made = Checkpoint.objects.filter(turn__wheel=turn.wheel_id, revision=turn.active).select_related("turn").first()
    trials = turn.recipe.trials
    if made is None or made.turn.recipe.trials != trials or trials.temperature > 0 or trials.source:
        return None  # the file may have other tasks by now
    folder = turn_path(made.turn_id) / TRIALS_FOLDER / "candidate"
    return folder if folder.exists() else None


def held_out_episodes(turn: Turn, episodes: Sequence[UUID] | QuerySet[Sample, Any]) -> set[UUID]:
    """Which of these are attempts at what the cycle's gate tries. They are excluded from training. Raises ProgramFailed
    if the gate's tasks cannot be read."""
    held = gate_task_ids(turn.recipe.trials)
    found = Episode.objects.filter(pk__in=episodes).select_related("task")
    return {
        episode.pk
        for episode in found.iterator()
        if turn.recipe.trials.holds(episode.task.definition.suite, episode.task.definition.seed)
        or episode.task.definition.id in held
    }


def task_trials(*, user: User, turn_id: UUID, suite: str, name: str, level: int) -> list[SeedTrials]:
    """Both revisions' attempts at a task, by seed. Seeds that only one of them solved come first, losses before wins.
    Raises Forbidden, NotFound, TooLarge and Conflict."""
    turn = _turn(user, turn_id)
    kind = format_task_kind(suite, name, level)
    active, candidate = (_by_seed(_folder(turn, side), kind) for side in SIDES)
    rows = (
        SeedTrials(seed=seed, active=one, candidate=other)
        for seed in active.keys() | candidate.keys()
        for one, other in zip_longest(active.get(seed, ()), candidate.get(seed, ()))
    )
    return sorted(rows, key=_weight)


def trials_beside(*, user: User, turn_id: UUID, active: int, candidate: int) -> TrialComparison:
    """Two attempts at one task and seed, by their positions. Raises Forbidden, NotFound, TooLarge, and Conflict if they
    are at different tasks."""
    turn = _turn(user, turn_id)
    one = trial_trajectory(_folder(turn, "active"), active)
    other = trial_trajectory(_folder(turn, "candidate"), candidate)
    if (task_kind(one.task), one.task.seed) != (task_kind(other.task), other.task.seed):
        raise Conflict("These are attempts at two tasks.", code="two_tasks")
    pairs = align_steps(one.steps, other.steps)
    return TrialComparison(
        kind=task_kind(one.task),
        seed=one.task.seed,
        instruction=one.task.instruction,
        active=_trial_out(one),
        candidate=_trial_out(other),
        pairs=pairs,
        divergence=next((place for place, pair in enumerate(pairs) if not pair.same), None),
        agreement=step_agreement(one.steps, other.steps),
    )


def trial_picture(*, user: User, turn_id: UUID, side: Side, place: int, sha256: str) -> tuple[BlobRef, bytes]:
    """A picture of an attempt. Raises Forbidden, NotFound, TooLarge and Conflict."""
    return picture_read(_folder(_turn(user, turn_id), side), place, sha256)


def _turn(user: User, turn_id: UUID) -> Turn:
    """A cycle with both revisions' attempts according to the ledger. Deleted files are detected later, in its
    folder."""
    flywheel_reader_check(user)
    turn = Turn.objects.filter(pk=turn_id).first()
    if turn is None:
        raise NotFound("There is no such turn.", field="turn_id")
    tried = turn.stages.filter(name="gate", state="done").first()
    if tried is None or not tried.result.get("active_attempts"):
        raise NotFound("This turn has not had two revisions try the same tasks.", code="trials_none")
    return turn


def _folder(turn: Turn, side: Side) -> Path:
    """The folder of a side's attempts. Attempts of an active revision that were not repeated are in the folder of the
    cycle that made it."""
    own = turn_path(turn.pk) / TRIALS_FOLDER / side
    return own if side == "candidate" or own.exists() else earlier_trials_path(turn) or own


def _by_seed(folder: Path, kind: str) -> dict[int, list[Trial]]:
    """Summaries of a side's attempts at a kind of task, by seed."""
    found: dict[int, list[Trial]] = {}
    for place, head in trial_heads(folder, kind):
        found.setdefault(head.task.seed, []).append(_trial(place, head))
    return found


def _trial(place: int, head: TrialHead) -> Trial:
    return Trial(
        place=place,
        solved=None if head.verdict is None else head.verdict.success,
        outcome=head.outcome,
        steps=sum(not step.undone for step in head.steps),
    )


def _trial_out(attempt: Trajectory) -> TrialDetails:
    return TrialDetails(steps=attempt.steps, outcome=attempt.outcome, verdict=attempt.verdict)


def _weight(row: SeedTrials) -> tuple[bool, bool, int]:
    """Sort key: what to show first has the lowest value."""
    was, now = (trial is not None and trial.solved is True for trial in (row.active, row.candidate))
    return was == now, now and not was, row.seed
