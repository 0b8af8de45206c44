"""Calls the service layer's evaluation in this process."""

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from agent_backend.errors import AgentError
from agent_backend.evaluation.rejection_sampling import write_selected
from agent_backend.evaluation.report import evaluate_folders
from agent_backend.rollout.task_sources import read_source
from agent_backend.trajectory_folders import InvalidFolder, read_trajectories
from annotation_app.flywheel.programs import ProgramFailed
from annotation_app.flywheel.recipe import GateTrials
from protocol.evaluation.reports import Evaluation
from protocol.trajectory.trajectories import Trajectory


def evaluate_trials(candidate: Path, *, against: Path | None) -> Evaluation:
    """The report on a candidate's attempts, compared with those of the active revision. Raises ProgramFailed for
    unreadable attempts."""
    try:
        return evaluate_folders([candidate], against=() if against is None else [against])
    except AgentError as error:
        raise ProgramFailed(f"{error.code}: {error}") from error


def gate_task_ids(trials: GateTrials) -> frozenset[str]:
    """The ids of the gate source's tasks; empty without a source. Raises ProgramFailed if it cannot be read."""
    if not trials.source:
        return frozenset()
    try:
        return frozenset(task.id for task in read_source(trials.source, trials.image).tasks)
    except AgentError as error:
        raise ProgramFailed(f"{error.code}: {error}") from error


def write_successes(
    folders: Sequence[Path], target: Path, *, at: datetime, most: int, may: Callable[[Trajectory], bool]
) -> int:
    """Write to `target` at most this many verified successes of each kind of task, from the attempts that `may`
    accepts. Returns how many were written. Unreadable folders are skipped."""
    whole = [folder for folder in folders if _is_readable(folder)]
    return write_selected(whole, target, at=at, most=most, may=may).counts.trajectories if whole else 0


def _is_readable(folder: Path) -> bool:
    try:
        return any(True for _ in read_trajectories([folder]))
    except InvalidFolder:
        return False
