"""One line of JSON for each attempt as it ends, beside the folder of trajectories."""

from datetime import UTC, datetime
from pathlib import Path

from protocol.evaluation.records import AttemptRecord, record_attempt
from protocol.trajectory.tasks import Task, task_level
from protocol.trajectory.trajectories import Trajectory


class AttemptLog:
    """Appends whole lines to a file; a command that goes on writes after what is there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.infrastructure = 0
        """How many attempts of this command were lost."""

    def add(self, done: Trajectory) -> None:
        """A finished attempt."""
        self._write(record_attempt(done))

    def add_lost(self, task: Task, code: str, reason: str) -> None:
        """An attempt whose machine, verifier or server failed."""
        self.infrastructure += 1
        self._write(
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

    def _write(self, record: AttemptRecord) -> None:
        with self._path.open("ab") as lines:
            lines.write(record.model_dump_json().encode() + b"\n")
