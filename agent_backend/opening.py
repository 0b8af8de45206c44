"""How an episode comes by its machine: a fresh one while it warms, the one it had after a restart."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from agent_backend.acting import Acting
from agent_backend.branching import Missed, repeated
from agent_backend.hand import Hand, reach
from agent_backend.ports import EpisodeStore
from agent_backend.record import Record
from vm_bridge.errors import BridgeError, BridgeUnavailable, MachineGone, NoMachine, StaleLease
from vm_bridge.machine import Machine
from vocabulary.messages import EpisodeState
from vocabulary.observations import Observation
from vocabulary.steps import Step, standing
from vocabulary.trajectories import Branch

MACHINES = 3
"""So many machines may be lost while they are prepared; then the episode fails."""
OpenMachine = Callable[[EpisodeState], Awaitable[Machine]]
"""Leases a machine for an episode that is warming, or finds the one it had. Raises BridgeError."""


@dataclass(frozen=True, slots=True)
class Warm:
    """A machine that stands ready: what it shows, and what was done again to come there."""

    observation: Observation
    branch: Branch | None = None
    again: tuple[Step, ...] = ()


class Opening:
    """Opens the machine of one episode beside its loop. `wake` is called when there is news; `within` bounds how long
    an unreachable bridge is tried, `again` is when a machine is asked for anew (seconds)."""

    def __init__(
        self,
        record: Record,
        store: EpisodeStore,
        acting: Acting,
        open_machine: OpenMachine,
        wake: Callable[[], None],
        *,
        within: float,
        again: float,
    ) -> None:
        self._record = record
        self._store = store
        self._acting = acting
        self._open_machine = open_machine
        self._wake = wake
        self._within = within
        self._again = again
        self._warming: asyncio.Task[Warm] | None = None
        self._lost = 0

    async def resume(self) -> None:
        """Take up the episode where the store has it: start warming, or find its machine again."""
        await self._record.load()
        if self._record.state.status == "warming":
            self._start()
        elif self._record.state.status in ("running", "paused"):
            await self._return()

    @property
    def done(self) -> bool:
        """Whether the machine stands ready, or there is none yet, or there never will be."""
        return self._warming is not None and self._warming.done()

    async def begin(self) -> None:
        """Take what warming gave."""
        assert self._warming is not None
        warming, self._warming = self._warming, None
        try:
            warm = warming.result()
        except (NoMachine, BridgeUnavailable) as error:
            if self._record.state.error != str(error):
                await self._record.change(error=str(error))
            return self._start(self._again)
        except (MachineGone, StaleLease) as error:  # nothing was done on it yet: another one will do
            self._lost += 1
            return await self._acting.fail(str(error)) if self._lost >= MACHINES else self._start(self._again)
        except BridgeError as error:
            return await self._acting.fail(str(error))
        hand = self._acting.held
        await self._acting.pictures.save(warm.observation)
        await self._write_again(warm)
        await self._record.change(
            status="running",
            branch_of=warm.branch,
            observation=warm.observation,
            capabilities=hand.kinds,
            tools=hand.tools,
            can_undo=hand.returns,
            error="",
        )

    async def _write_again(self, warm: Warm) -> None:
        """Store the steps that were done again. A crash may have left some of them here already, from when the state
        was reached another time."""
        stored = standing(self._record.state.steps)
        for step in warm.again[len(stored) :]:
            await self._record.write(self._store.append_step(step))
        for step in reversed(stored if not warm.again else ()):
            await self._record.write(self._store.undo_step(step.index, warm.observation))

    async def close(self) -> None:
        """Warm no longer."""
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)

    def _start(self, pause: float = 0.0) -> None:
        self._warming = asyncio.create_task(self._warm(pause))
        self._warming.add_done_callback(lambda _: self._wake())

    async def _warm(self, pause: float) -> Warm:
        await asyncio.sleep(pause)
        hand, state = await self._open(), self._record.state
        observation, branch = await hand.prepare(state.task), state.branch_of
        if branch is None or branch.state == "missed":
            return Warm(observation, branch)
        try:
            again = await repeated(hand, self._store, observation)
        except Missed as error:
            missed = branch.model_copy(update={"state": "missed", "reason": str(error)})
            return Warm(await hand.prepare(state.task), missed)
        last = again[-1].after or observation
        return Warm(last, branch.model_copy(update={"state": "reached"}), again)

    async def _open(self) -> Hand:
        machine = await reach(lambda: self._open_machine(self._record.state), within=self._within)
        return self._acting.take(machine)

    async def _return(self) -> None:
        """Find the machine again, complete what a crash left open, and look."""
        state = self._record.state
        intent = await self._store.pending_intent()
        if state.autopilot or state.takeover:
            await self._record.change(autopilot=False, takeover=False)  # nobody may be watching
        try:
            await self._open()
        except BridgeError as error:
            return await (self._acting.give_up(intent, str(error)) if intent else self._acting.fail(str(error)))
        if intent is not None:
            return await self._acting.complete(intent)
        await self._acting.look()
        await self._void(state.observation)

    async def _void(self, before: Observation | None) -> None:
        """What was offered for a screen that is no longer there cannot be taken."""
        state = self._record.state
        if state.proposals and before is not None and self._record.seen.screenshot != before.screenshot:
            await self._record.write(self._store.withdraw_proposals("the screen changed while nobody was here"))
