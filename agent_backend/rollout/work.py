"""Many attempts side by side, into one folder; what was done before stays done."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_backend.errors import AgentError
from agent_backend.folders import FolderWriter
from agent_backend.rollout.attempt import AttemptOn
from agent_backend.rollout.plan import Plan, tasks_of
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, BridgeUnavailable
from vocabulary.tasks import Task
from vocabulary.trajectories import Trajectory

TRIES = 3
"""How often an attempt is begun whose machine fails."""


class NothingAttempted(AgentError):
    """No attempt came to its end."""

    code = "nothing_attempted"


@dataclass(slots=True)
class Work:
    """A plan being carried out."""

    plan: Plan
    bridge: BridgeClient
    attempt_on: AttemptOn
    folder: FolderWriter
    say: Callable[[str], None]
    lost: list[Task] = field(default_factory=list)
    """Attempts whose machines failed every time; they say nothing of the policy."""
    _todo: deque[Task] = field(default_factory=deque)
    _tries: Counter[str] = field(default_factory=Counter)
    _all: int = 0

    async def run(self, parallel: int) -> None:
        """Every attempt that is not in the folder, so many at a time. Raises BridgeUnavailable when the bridge is gone
        and PolicyUnavailable when the policy's server is, UnknownTask or InvalidAction where there is nothing to
        attempt, and NothingAttempted; what was done stays in the folder."""
        tasks = await tasks_of(self.plan, self.bridge)
        done = {task.id for task in self.folder.kept.values()}
        self._all = len(tasks)
        self._todo.extend(task for task in tasks if task.id not in done)
        if done:
            self.say(f"{len(done)} of {len(tasks)} were done before")
        workers = [asyncio.create_task(self._worker()) for _ in range(min(parallel, len(self._todo)))]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        if not self.folder.kept:
            raise NothingAttempted("no attempt came to its end: every machine failed")

    async def _worker(self) -> None:
        while self._todo:
            await self._attempt(self._todo.popleft())

    async def _attempt(self, task: Task) -> None:
        try:
            done = await self.attempt_on(task)
        except BridgeUnavailable:
            raise
        except BridgeError as error:
            return self._failed(task, str(error))
        if done.trajectory is None:
            return self._failed(task, done.error)
        self.folder.add(done.trajectory, done.blob)
        self._report(done.trajectory)

    def _failed(self, task: Task, why: str) -> None:
        self._tries[task.id] += 1
        again = self._tries[task.id] < TRIES
        (self._todo if again else self.lost).append(task)
        self.say(f"{_name(task)}: its machine failed, {'it is tried again' if again else 'it is left out'}: {why}")

    def _report(self, done: Trajectory) -> None:
        said = f"verdict {done.verdict.success}" if done.verdict else "no verdict"
        count = f"{len(self.folder.kept)}/{self._all}"
        self.say(f"{count} {_name(done.task)}: {len(done.steps)} steps, {done.outcome}, {said}")


def _name(task: Task) -> str:
    return f"{task.name or task.id} seed {task.seed}"
