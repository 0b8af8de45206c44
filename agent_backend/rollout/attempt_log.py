"""One line of JSON for each attempt as it ends, beside the folder of trajectories."""

from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from agent_backend.trajectory_folders import InvalidFolder
from protocol.evaluation.records import AttemptRecord, record_attempt
from protocol.trajectory.tasks import Task, task_level
from protocol.trajectory.trajectories import Trajectory


def log_path(folder: Path) -> Path:
    """Where the records of a folder's attempts are."""
    return folder.with_name(f"{folder.name}.attempts.jsonl")


def judgements_path(folder: Path) -> Path:
    """Where the words of judges that decided rewards are, a `Judgement` a line."""
    return folder.with_name(f"{folder.name}.judgements.jsonl")


def read_records(folder: Path) -> tuple[AttemptRecord, ...]:
    """The records of a folder's attempts. Raises InvalidFolder."""
    try:
        lines = log_path(folder).read_bytes().splitlines()
        return tuple(AttemptRecord.model_validate_json(line) for line in lines)
    except OSError as error:
        raise InvalidFolder(f"{log_path(folder)} cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise InvalidFolder(f"{log_path(folder)} has a line that is no attempt: {error.errors()[0]['msg']}") from None


class AttemptLog:
    """Appends whole lines to a file. A resumed command continues after the last whole line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.infrastructure = 0
        """How many attempts of this command were lost."""
        self._recorded = self._resume()

    def add_missing(self, done: Trajectory) -> None:
        """Write the line of a finished attempt if a crash prevented it."""
        if done.id not in self._recorded:
            self.add(done)

    def add(self, done: Trajectory) -> AttemptRecord:
        """Write a finished attempt."""
        return self._write(record_attempt(done))

    def add_lost(self, task: Task, code: str, reason: str) -> AttemptRecord:
        """Write an attempt whose machine, verifier or server failed."""
        self.infrastructure += 1
        return self._write(
            AttemptRecord(
                task=task.id,
                suite=task.suite or "",
                name=task.name,
                level=task_level(task),
                seed=task.seed,
                outcome="infrastructure",
                code=code,
                reason=reason,
                ended_at=datetime.now(UTC),
            )
        )

    def _resume(self) -> set[str]:
        """The ids of trajectories that have a line. A partial last line, left by a crash, is cut off."""
        self._path.touch()
        recorded: set[str] = set()
        with self._path.open("r+b") as lines:
            whole = 0
            for line in lines:
                try:
                    record = AttemptRecord.model_validate_json(line)
                except ValidationError:
                    break
                if not line.endswith(b"\n"):
                    break
                whole += len(line)
                recorded.add(record.trajectory or "")
            lines.truncate(whole)
        return recorded

    def _write(self, record: AttemptRecord) -> AttemptRecord:
        with self._path.open("ab") as lines:
            lines.write(record.model_dump_json().encode() + b"\n")
        return record
