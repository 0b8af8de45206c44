"""Many attempts side by side, into one folder; what was done before stays done."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_backend.errors import AgentError, PolicyError
from agent_backend.rollout.attempt_log import AttemptLog
from agent_backend.rollout.attempts import AttemptResult, AttemptRunner
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.progress import ProgressFile, RolloutCancelled
from agent_backend.rollout.task_sources import list_tasks
from agent_backend.trajectory_folders import TrajectoryFolderWriter
from protocol.evaluation.records import AttemptRecord
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, BridgeUnavailable

MAX_TRIES = 3
"""How often an attempt is begun whose machine fails."""


class NoAttemptFinished(AgentError):
    """No attempt came to its end."""

    code = "nothing_attempted"


@dataclass(slots=True)
class RolloutRunner:
    """A plan being carried out."""

    plan: RolloutPlan
    bridge: BridgeClient
    attempt_runner: AttemptRunner
    folder: TrajectoryFolderWriter
    log: Callable[[str], None]
    attempt_log: AttemptLog
    progress: ProgressFile
    lost: list[Task] = field(default_factory=list)
    """Attempts whose machines failed every time; they say nothing of the policy."""
    _pending: deque[Task] = field(default_factory=deque)
    _tries: Counter[str] = field(default_factory=Counter)
    _total: int = 0
    _fault: BridgeUnavailable | PolicyError | RolloutCancelled | None = None
    """Why no further attempt is begun: the bridge or the policy's server is gone, or somebody asked for none."""
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _unwritten: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self, parallel: int) -> None:
        """Every attempt that is not in the folder, so many at a time.

        When the bridge or the policy's server is gone, no further attempt is begun, and those that can end do. Raises
        BridgeUnavailable or PolicyError then, RolloutCancelled where somebody asked for that, UnknownTask or
        InvalidAction where there is nothing to attempt, and NoAttemptFinished; what was done stays in the folder.
        """
        tasks = await list_tasks(self.plan, self.bridge)
        done = {task.id for task in self.folder.tasks_by_id.values()}
        self._total = len(tasks)
        self._pending.extend(task for task in tasks if task.id not in done)
        self.progress.open(len(tasks), len(tasks) - len(self._pending))
        if done:
            self.log(f"{len(done)} of {len(tasks)} were done before")
        heartbeat = asyncio.create_task(self.progress.beat())
        workers = [asyncio.create_task(self._worker()) for _ in range(min(parallel, len(self._pending)))]
        try:
            await asyncio.gather(*workers)
            await asyncio.gather(*self._unwritten)
        finally:
            for task in (*workers, heartbeat):
                task.cancel()
            await asyncio.gather(*workers, heartbeat, *self._unwritten, return_exceptions=True)
            self.progress.close()
        if self._fault is not None:
            raise self._fault
        if not self.folder.tasks_by_id:
            raise NoAttemptFinished("no attempt came to its end: every machine failed")

    async def _worker(self) -> None:
        """One attempt after another. The last one is written while the next one runs, and no further behind."""
        written: asyncio.Task[None] | None = None
        while self._pending and self._fault is None:
            try:
                self.progress.check_cancelled()
            except RolloutCancelled as cancelled:
                self._fault = cancelled
                break
            task = self._pending.popleft()
            self.progress.begin(task)
            result: AttemptResult | AttemptRecord | None = None
            try:
                result = await self._attempt(task)
            finally:
                if not isinstance(result, AttemptResult):
                    self.progress.end(task, result)
            await _wait_for(written)
            if isinstance(result, AttemptResult):
                written = asyncio.create_task(self._write(task, result))
                self._unwritten.add(written)
                written.add_done_callback(self._unwritten.discard)
        await _wait_for(written)

    async def _attempt(self, task: Task) -> AttemptResult | AttemptRecord:
        """The attempt with its trajectory, or the record of one that was lost."""
        try:
            done = await self.attempt_runner(task)
        except (BridgeUnavailable, PolicyError) as error:
            self._fault = error
            return self.attempt_log.add_lost(task, error.code, str(error))
        except BridgeError as error:
            return self._retry_or_drop(task, str(error), error.code)
        if done.trajectory is None:
            return self._retry_or_drop(task, done.error, done.code)
        return done

    async def _write(self, task: Task, done: AttemptResult) -> None:
        assert done.trajectory is not None, "an attempt without one is lost"
        record = None
        try:
            async with self._writing:  # others act meanwhile
                record = await asyncio.to_thread(self._keep, done.trajectory, done)
        finally:
            self.progress.end(task, record)
        self._report(done.trajectory)

    def _keep(self, trajectory: Trajectory, result: AttemptResult) -> AttemptRecord:
        """Write the trajectory and its record; a cancelled worker leaves neither without the other."""
        self.folder.add(trajectory, result.blob)
        return self.attempt_log.add(trajectory)

    def _retry_or_drop(self, task: Task, why: str, code: str) -> AttemptRecord:
        self._tries[task.id] += 1
        again = self._tries[task.id] < MAX_TRIES
        (self._pending if again else self.lost).append(task)
        then = "it is tried again" if again else "it is left out"
        self.log(f"{_name(task)}: its machine or verifier failed, {then}: {why}")
        return self.attempt_log.add_lost(task, code, why)

    def _report(self, done: Trajectory) -> None:
        verdict = f"verdict {done.verdict.success}" if done.verdict else "no verdict"
        count = f"{len(self.folder.tasks_by_id)}/{self._total}"
        self.log(f"{count} {_name(done.task)}: {len(done.steps)} steps, {done.outcome}, {verdict}")


async def _wait_for(written: asyncio.Task[None] | None) -> None:
    """Wait for a write, which goes on where the wait is cancelled. Raises what it raised."""
    if written is not None:
        await asyncio.wait((written,))
        written.result()


def _name(task: Task) -> str:
    return f"{task.name or task.id} seed {task.seed}"
