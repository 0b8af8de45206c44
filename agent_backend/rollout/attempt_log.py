"""One line of JSON for each attempt as it ends, beside the folder of trajectories."""

import time
from pathlib import Path
from typing import Literal

from pydantic import Field

from protocol.base import FrozenModel
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory


class AttemptRecord(FrozenModel):
    """How an attempt ended. `infrastructure`: its machine or its verifier failed, which says nothing of the policy."""

    task: str
    name: str | None
    seed: int
    outcome: Literal["success", "failure", "unjudged", "infrastructure"]
    trajectory: str | None = None
    """The id of its trajectory; an attempt of the outcome `infrastructure` has none."""
    score: float | None = None
    steps: int = 0
    truncated: bool = False
    verifier: str = ""
    """The sha256 of what judged, where it is a script."""
    code: str = ""
    """Why it was lost, as a stable word, and for people."""
    reason: str = ""
    ended_at: float = Field(default_factory=time.time)
    """Seconds since the epoch."""


class AttemptLog:
    """Appends whole lines to a file; a command that goes on writes after what is there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.infrastructure = 0
        """How many attempts of this command were lost."""

    def add(self, done: Trajectory) -> None:
        """A finished attempt."""
        verdict = done.verdict
        judged = verdict is not None and verdict.success is not None
        self._write(
            AttemptRecord(
                task=done.task.id,
                name=done.task.name,
                seed=done.task.seed,
                outcome="unjudged" if not judged else "success" if verdict and verdict.success else "failure",
                trajectory=done.id,
                score=verdict.score if verdict is not None and judged else None,
                steps=len(done.steps),
                truncated=done.truncated,
                verifier=verdict.verifier if verdict is not None else "",
            )
        )

    def add_lost(self, task: Task, code: str, reason: str) -> None:
        """An attempt whose machine or verifier failed."""
        self.infrastructure += 1
        self._write(
            AttemptRecord(
                task=task.id, name=task.name, seed=task.seed, outcome="infrastructure", code=code, reason=reason
            )
        )

    def _write(self, record: AttemptRecord) -> None:
        with self._path.open("ab") as lines:
            lines.write(record.model_dump_json().encode() + b"\n")
