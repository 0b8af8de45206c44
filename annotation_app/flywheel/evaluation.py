"""The flywheel's way to the evaluation of the service layer, in this process."""

from pathlib import Path

from agent_backend.errors import AgentError
from agent_backend.evaluation.report import evaluate_folders
from agent_backend.rollout.task_sources import read_source
from annotation_app.flywheel.programs import ProgramFailed
from annotation_app.flywheel.recipe import GateTrials
from protocol.evaluation.reports import Evaluation


def evaluate_trials(candidate: Path, *, against: Path | None) -> Evaluation:
    """The report on a candidate's attempts, compared with those of the revision that proposes. Raises ProgramFailed for
    attempts that cannot be read."""
    try:
        return evaluate_folders([candidate], against=() if against is None else [against])
    except AgentError as error:
        raise ProgramFailed(f"{error.code}: {error}") from error


def gate_task_ids(trials: GateTrials) -> frozenset[str]:
    """The ids of the tasks of the gate's source; empty where it has none. Raises ProgramFailed where it cannot be
    read."""
    if not trials.source:
        return frozenset()
    try:
        return frozenset(task.id for task in read_source(trials.source, trials.image).tasks)
    except AgentError as error:
        raise ProgramFailed(f"{error.code}: {error}") from error
