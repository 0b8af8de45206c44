"""Provides an episode's machine: a new one while the episode warms, or the same one after a restart."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_backend.episode.branch_replay import BranchNotReproduced, replay_branch
from agent_backend.episode.executor import ActionExecutor
from agent_backend.episode.machine_session import MachineSession, retry_unavailable
from agent_backend.episode.state import EpisodeStateTracker
from agent_backend.interfaces import EpisodeStore, Intent
from protocol.messages.events import EpisodeState
from protocol.trajectory.observations import Observation
from protocol.trajectory.steps import Step, drop_undone_steps
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Branch
from vm_bridge.errors import BridgeError, BridgeUnavailable, MachineGone, NoMachine, StaleLease
from vm_bridge.machine import Machine

MAX_LOST_MACHINES = 3
"""The episode fails once it has lost this many machines during their preparation."""
MachineFactory = Callable[[EpisodeState], Awaitable[Machine]]
"""Leases a machine for a warming episode, or finds its earlier one. Raises BridgeError."""
MachineTask = Callable[[Task], Task]
"""The task for its machine, with secrets that must reach neither the record nor the policy. Raises BridgeError."""


def same_task(task: Task) -> Task:
    """Returns the task unchanged."""
    return task


@dataclass(frozen=True, slots=True)
class ReadyMachine:
    """A ready machine: its screen, and the steps that were replayed to reach it."""

    observation: Observation
    branch: Branch | None = None
    again: tuple[Step, ...] = ()


class MachineProvisioner:
    """Opens the machine of one episode in the background. `wake` is called when a result is ready. `within` bounds the
    retries of an unreachable bridge; `retry_seconds` pass until a machine is requested again."""

    def __init__(
        self,
        record: EpisodeStateTracker,
        store: EpisodeStore,
        executor: ActionExecutor,
        open_machine: MachineFactory,
        wake: Callable[[], None],
        within: float,
        retry_seconds: float,
        machine_task: MachineTask = same_task,
    ) -> None:
        self._record = record
        self._store = store
        self._executor = executor
        self._open_machine = open_machine
        self._wake = wake
        self._within = within
        self._retry_seconds = retry_seconds
        self._machine_task = machine_task
        self._warming: asyncio.Task[ReadyMachine] | None = None
        self.done = False
        """Whether warming has ended: the machine is ready, is not available yet, or never will be."""
        self._lost_machines = 0

    async def resume(self) -> None:
        """Resume the episode from the store: start warming, or find its machine again."""
        await self._record.load()
        if self._record.state.status == "warming":
            self._start()
        elif self._record.state.status in ("running", "paused"):
            await self._reattach()

    async def begin(self) -> None:
        """Take the result of warming."""
        assert self._warming is not None
        warming, self._warming, self.done = self._warming, None, False
        try:
            ready = warming.result()
        except (NoMachine, BridgeUnavailable) as error:
            if self._record.state.error != str(error):
                await self._record.change(error=str(error))
            return self._start(self._retry_seconds)
        except (MachineGone, StaleLease) as error:  # nothing was done on it yet, so any other machine will do
            self._lost_machines += 1
            return (
                await self._executor.fail(str(error))
                if self._lost_machines >= MAX_LOST_MACHINES
                else self._start(self._retry_seconds)
            )
        except BridgeError as error:
            return await self._executor.fail(str(error))
        session = self._executor.active_session
        await self._executor.pictures.save(ready.observation)
        await self._store_replayed_steps(ready)
        await self._record.change(
            status="running",
            branch_of=ready.branch,
            observation=ready.observation,
            capabilities=session.kinds,
            tools=session.tools,
            can_undo=session.can_restore,
            error="",
        )

    async def _store_replayed_steps(self, ready: ReadyMachine) -> None:
        """Store the replayed steps. After a crash some of them may be stored already, by an earlier replay."""
        stored = drop_undone_steps(self._record.state.steps)
        for step in ready.again[len(stored) :]:
            await self._record.write(self._store.append_step(step))
        for step in reversed(stored if not ready.again else ()):
            await self._record.write(self._store.undo_step(step.index, ready.observation))

    async def close(self) -> None:
        """Stop warming."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)

    def _start(self, pause: float = 0.0) -> None:
        self._warming = asyncio.create_task(self._warm(pause))
        self._warming.add_done_callback(self._warmed)

    def _warmed(self, _: "asyncio.Task[ReadyMachine]") -> None:
        self.done = True
        self._wake()

    async def _warm(self, pause: float) -> ReadyMachine:
        await asyncio.sleep(pause)
        session, state = await self._open_session(), self._record.state
        task = self._machine_task(state.task)
        observation, branch = await session.prepare(task), state.branch_of
        if branch is None or branch.state == "missed":
            return ReadyMachine(observation, branch)
        try:
            again = await replay_branch(session, self._store, observation)
        except BranchNotReproduced as error:
            not_reproduced = branch.model_copy(update={"state": "missed", "reason": str(error)})
            return ReadyMachine(await session.prepare(task), not_reproduced)
        last = again[-1].after or observation
        return ReadyMachine(last, branch.model_copy(update={"state": "reached"}), again)

    async def _open_session(self) -> MachineSession:
        machine = await retry_unavailable(lambda: self._open_machine(self._record.state), within=self._within)
        return self._executor.open_session(machine)

    async def _reattach(self) -> None:
        """Find the machine again, complete the intent that a crash left open, and observe."""
        state = self._record.state
        intent = await self._store.pending_intent()
        if state.autopilot or state.takeover:
            await self._record.change(autopilot=False, takeover=False)  # a person may be away
        try:
            await self._open_session()
        except BridgeError as error:
            return await (self._executor.give_up(intent, str(error)) if intent else self._executor.fail(str(error)))
        if intent is not None:
            following: Intent | None = intent
            while following is not None:
                following = await self._executor.complete(following)
            return None
        await self._executor.refresh_undo()
        await self._executor.observe_settled()
        await self._withdraw_stale_proposals(state.observation)

    async def _withdraw_stale_proposals(self, before: Observation | None) -> None:
        """Withdraw proposals for a screen that no longer exists."""
        state = self._record.state
        if state.proposals and before is not None and self._record.last_observation.screenshot != before.screenshot:
            await self._record.write(self._store.withdraw_proposals("screen_changed"))
