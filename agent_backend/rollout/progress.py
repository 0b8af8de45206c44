"""Reports a rollout's progress in a file beside the folder, replaced soon after an attempt begins or ends."""

import asyncio
import contextlib
import threading
from datetime import UTC, datetime
from pathlib import Path

from agent_backend.errors import AgentError
from agent_backend.trajectory_folders import write_atomically
from protocol.evaluation.records import AttemptRecord, RolloutProgress, RunningAttempt
from protocol.trajectory.tasks import Task

HEARTBEAT_SECONDS, WRITE_SECONDS = 5.0, 0.5
"""Intervals between writes of the file (seconds): without changes, and the shortest with changes. Replacing a file can
wait for the disk, so it happens in the background."""
PROGRESS_SUFFIX, CANCEL_SUFFIX = ".progress.json", ".cancel"


def progress_path(folder: Path) -> Path:
    """Where the progress of a folder's attempts is."""
    return folder.with_name(folder.name + PROGRESS_SUFFIX)


def cancel_path(folder: Path) -> Path:
    """The file whose presence tells a rollout to begin no further attempt."""
    return folder.with_name(folder.name + CANCEL_SUFFIX)


class RolloutCancelled(AgentError):
    """A cancellation was requested; the same command resumes."""

    code = "cancelled"


class ProgressFile:
    """Writes the progress of one command. Attempts of an earlier command count as `done` from the beginning.

    A cancellation requested before `since` (by default now) was meant for an earlier command.
    """

    def __init__(self, folder: Path, since: datetime | None = None) -> None:
        self._path, self._cancel = progress_path(folder), cancel_path(folder)
        self._since = since or datetime.now(UTC)
        self._progress = RolloutProgress(started_at=datetime.now(UTC))
        self._running: dict[str, RunningAttempt] = {}
        self._changed = False
        self._writing = threading.Lock()

    def open(self, total: int, done: int) -> None:
        """Write the total number of attempts and how many are done. Drops a cancellation of an earlier command."""
        with contextlib.suppress(FileNotFoundError):
            if self._cancel.stat().st_mtime < self._since.timestamp():
                self._cancel.unlink()
        self._change(total=total, done=done)
        self._write()

    def check_cancelled(self) -> None:
        """Raises RolloutCancelled if a cancellation was requested."""
        if self._cancel.exists():
            raise RolloutCancelled("no further attempts were wanted")

    async def beat(self) -> None:
        """Write changes, and rewrite the file as a heartbeat, until this task is cancelled."""
        silent = 0.0
        while True:
            await asyncio.sleep(WRITE_SECONDS)
            silent += WRITE_SECONDS
            if self._changed or silent >= HEARTBEAT_SECONDS:
                silent = 0.0
                await asyncio.to_thread(self._write)

    def close(self) -> None:
        """Write that the command ended. `beat` must have ended before."""
        self._change(ended=True)
        self._write()

    def begin(self, task: Task) -> None:
        """An attempt begins."""
        self._running[task.id] = RunningAttempt(
            task=task.id, name=task.name, seed=task.seed, started_at=datetime.now(UTC)
        )
        self._change()

    def end(self, task: Task, record: AttemptRecord | None) -> None:
        """An attempt ended with this record; None: it was cancelled."""
        self._running.pop(task.id, None)
        now = self._progress
        if record is None:
            return self._change()
        lost = record.outcome == "infrastructure"
        cost = None if record.cost_usd is None else (now.cost_usd or 0.0) + record.cost_usd
        self._change(
            done=now.done + (not lost),
            successes=now.successes + (record.outcome == "success"),
            infrastructure=now.infrastructure + lost,
            cost_usd=now.cost_usd if cost is None else cost,
        )

    def _change(self, **changes: object) -> None:
        running = tuple(self._running.values())
        self._progress = self._progress.model_copy(update={**changes, "running": running})
        self._changed = True

    def _write(self) -> None:
        with self._writing:
            self._changed = False
            now = self._progress.model_copy(update={"updated_at": datetime.now(UTC)})
            write_atomically(self._path, now.model_dump_json().encode() + b"\n")
