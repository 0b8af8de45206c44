"""The flywheel's way to the evaluation of the service layer, in this process."""

from pathlib import Path

from agent_backend.errors import AgentError
from agent_backend.evaluation.report import evaluate_folders
from annotation_app.flywheel.programs import ProgramFailed
from protocol.evaluation.reports import Evaluation


def evaluate_trials(candidate: Path, *, against: Path | None) -> Evaluation:
    """The report on a candidate's attempts, compared with those of the revision that proposes. Raises ProgramFailed for
    attempts that cannot be read."""
    try:
        return evaluate_folders([candidate], against=() if against is None else [against])
    except AgentError as error:
        raise ProgramFailed(f"{error.code}: {error}") from error
