"""Runs many attempts in parallel into one folder. Attempts already in the folder are not repeated."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_backend.errors import AgentError, PolicyError
from agent_backend.rollout.attempt_log import AttemptLog
from agent_backend.rollout.attempts import AttemptResult, AttemptRunner
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.progress import ProgressFile
from agent_backend.rollout.task_sources import list_tasks
from agent_backend.trajectory_folders import TrajectoryFolderWriter
from protocol.evaluation.records import AttemptRecord
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, BridgeUnavailable

MAX_TRIES = 3
"""Maximum tries of an attempt whose machine or verifier fails."""


class NoAttemptFinished(AgentError):
    """No attempt finished."""

    code = "nothing_attempted"


@dataclass(frozen=True, slots=True)
class PlannedAttempt:
    """An attempt to make. `name` is unique among the attempts of a command."""

    name: str
    task: Task


@dataclass(slots=True)
class AttemptWorkers:
    """Workers that each make one attempt after another. Subclasses choose the attempts and store them."""

    attempt_runner: AttemptRunner
    attempt_log: AttemptLog
    log: Callable[[str], None]
    lost: list[Task] = field(default_factory=list)
    """Tasks of attempts whose machine or verifier failed on every try. They are no evidence about the policy."""
    _pending: deque[PlannedAttempt] = field(default_factory=deque)
    """Attempts to make next, including retries after a machine or verifier failed."""
    _tries: Counter[str] = field(default_factory=Counter)
    _fault: AgentError | BridgeError | None = None
    """Why no further attempt is started: the bridge or the policy's server is gone, or a cancellation was requested."""
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _unwritten: set[asyncio.Task[None]] = field(default_factory=set)

    async def next_attempt(self) -> PlannedAttempt | None:
        """The next attempt for a free worker; None if there is nothing more to do."""
        raise NotImplementedError

    def keep(self, planned: PlannedAttempt, trajectory: Trajectory, result: AttemptResult) -> AttemptRecord:
        """Store a complete attempt. Runs in a thread, so that cancelling a worker leaves no partial write."""
        raise NotImplementedError

    def attempt_ended(self, planned: PlannedAttempt, record: AttemptRecord | None) -> None:
        """Called when an attempt has ended with this record; None if it was cancelled."""

    async def work(self, count: int) -> None:
        """Make attempts with `count` workers until there is nothing more to do.

        When the bridge or the policy's server is unavailable, no further attempt begins. The error is raised after the
        running attempts have ended.
        """
        workers = [asyncio.create_task(self._worker()) for _ in range(count)]
        try:
            await asyncio.gather(*workers)
            await asyncio.gather(*self._unwritten)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, *self._unwritten, return_exceptions=True)
        if self._fault is not None:
            raise self._fault

    async def _worker(self) -> None:
        """Make attempts one after another. Each is written while the next one runs; at most one write is pending."""
        written: asyncio.Task[None] | None = None
        while self._fault is None:
            try:
                planned = await self.next_attempt()
            except (AgentError, BridgeError) as error:
                self._fault = error
                break
            if planned is None:
                break
            result: AttemptResult | AttemptRecord | None = None
            try:
                result = await self._attempt(planned)
            finally:
                if not isinstance(result, AttemptResult):
                    self.attempt_ended(planned, result)
            await _wait_for(written)
            if isinstance(result, AttemptResult):
                written = asyncio.create_task(self._write(planned, result))
                self._unwritten.add(written)
                written.add_done_callback(self._unwritten.discard)
        await _wait_for(written)

    async def _attempt(self, planned: PlannedAttempt) -> AttemptResult | AttemptRecord:
        """Make one attempt. Returns it with its trajectory, or the record of a lost attempt."""
        try:
            done = await self.attempt_runner(planned.task)
        except (BridgeUnavailable, PolicyError) as error:
            self._fault = error
            return self.attempt_log.add_lost(planned.task, error.code, str(error))
        except BridgeError as error:
            return self._retry_or_drop(planned, str(error), error.code)
        if done.trajectory is None:
            return self._retry_or_drop(planned, done.error, done.code)
        return done

    async def _write(self, planned: PlannedAttempt, done: AttemptResult) -> None:
        assert done.trajectory is not None, "an attempt without one is lost"
        record = None
        try:
            async with self._writing:  # other workers run meanwhile
                record = await asyncio.to_thread(self.keep, planned, done.trajectory, done)
        finally:
            self.attempt_ended(planned, record)
        self.log(f"{self.describe(planned)}: {_came_to(done.trajectory)}")

    def _retry_or_drop(self, planned: PlannedAttempt, why: str, code: str) -> AttemptRecord:
        self._tries[planned.name] += 1
        again = self._tries[planned.name] < MAX_TRIES
        if again:
            self._pending.append(planned)
        else:
            self.lost.append(planned.task)
        then = "it is tried again" if again else "it is left out"
        self.log(f"{describe_task(planned.task)}: its machine or verifier failed, {then}: {why}")
        return self.attempt_log.add_lost(planned.task, code, why)

    def describe(self, planned: PlannedAttempt) -> str:
        """The name of an ended attempt in the log."""
        return describe_task(planned.task)


@dataclass(slots=True, kw_only=True)
class RolloutRunner(AttemptWorkers):
    """Runs a plan."""

    plan: RolloutPlan
    bridge: BridgeClient
    folder: TrajectoryFolderWriter
    progress: ProgressFile
    _total: int = 0

    async def run(self, parallel: int) -> None:
        """Make every attempt that is not in the folder, a bounded number at a time.

        When the bridge or the policy's server is unavailable, no further attempt starts, and running attempts end if
        they can. Raises BridgeUnavailable or PolicyError then, RolloutCancelled after a cancellation, UnknownTask or
        InvalidAction if there is nothing to attempt, and NoAttemptFinished. Finished attempts stay in the folder.
        """
        tasks = await list_tasks(self.plan, self.bridge)
        done = {task.id for task in self.folder.tasks_by_id.values()}
        self._total = len(tasks)
        self._pending.extend(PlannedAttempt(task.id, task) for task in tasks if task.id not in done)
        self.progress.open(len(tasks), len(tasks) - len(self._pending))
        if done:
            self.log(f"{len(done)} of {len(tasks)} were done before")
        heartbeat = asyncio.create_task(self.progress.beat())
        try:
            await self.work(min(parallel, len(self._pending)))
        finally:
            heartbeat.cancel()
            await asyncio.gather(heartbeat, return_exceptions=True)
            self.progress.close()
        if not self.folder.tasks_by_id:
            raise NoAttemptFinished("no attempt came to its end: every machine failed")

    async def next_attempt(self) -> PlannedAttempt | None:
        """The next attempt of the plan. Raises RolloutCancelled."""
        if not self._pending:
            return None
        self.progress.check_cancelled()
        planned = self._pending.popleft()
        self.progress.begin(planned.task)
        return planned

    def keep(self, planned: PlannedAttempt, trajectory: Trajectory, result: AttemptResult) -> AttemptRecord:
        """Add the attempt to the folder, and its record to the log."""
        self.folder.add(trajectory, result.blob)
        return self.attempt_log.add(trajectory)

    def attempt_ended(self, planned: PlannedAttempt, record: AttemptRecord | None) -> None:
        """Take the attempt out of the progress file."""
        self.progress.end(planned.task, record)

    def describe(self, planned: PlannedAttempt) -> str:
        """The number of finished attempts, and the task."""
        return f"{len(self.folder.tasks_by_id)}/{self._total} {describe_task(planned.task)}"


async def _wait_for(written: asyncio.Task[None] | None) -> None:
    """Wait for a write. The write continues if the wait is cancelled. Raises the write's errors."""
    if written is not None:
        await asyncio.wait((written,))
        written.result()


def _came_to(done: Trajectory) -> str:
    verdict = f"verdict {done.verdict.success}" if done.verdict else "no verdict"
    return f"{len(done.steps)} steps, {done.outcome}, {verdict}"


def describe_task(task: Task) -> str:
    """A task in a message."""
    return f"{task.name or task.id} seed {task.seed}"
