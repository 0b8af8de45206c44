"""Reuses machines for further attempts on images where every task begins in a clean state."""

import asyncio
import contextlib
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from agent_backend.episode.limits import RunnerLimits
from agent_backend.rollout.attempts import AttemptResult, PolicyFactory, leased_machine, run_episode
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.machine import Machine

REUSABLE_IMAGES = frozenset({"browser"})
"""Images whose `prepare` opens a new session, so that nothing of the last attempt is left. On other images, changes
may outlast `prepare`, so each attempt leases its own machine."""
KEPT_SECONDS = 20.0
"""How long a machine is reused (seconds). The limit lets waiting people get a machine."""
IDLE_SECONDS = 1.0
"""How long a free machine is kept for the next attempt (seconds)."""


@dataclass(slots=True)
class _KeptMachine:
    machine: Machine
    lease: contextlib.AsyncExitStack
    until: float
    """Loop time after which no further attempt gets the machine."""
    giving_back: asyncio.TimerHandle | None = field(default=None)


class MachineReuse:
    """The machines of one rollout; an async context manager. On exit all leases are released."""

    def __init__(self, bridge: BridgeClient) -> None:
        self._bridge = bridge
        self._free: dict[str, list[_KeptMachine]] = {}
        self._releases: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for kept in [kept for image in self._free.values() for kept in image]:
            self._give_back(kept)
        self._free.clear()
        await asyncio.gather(*self._releases, return_exceptions=True)

    async def run_attempt(
        self, image: str, task: Task, policy_factory: PolicyFactory, limits: RunnerLimits
    ) -> AttemptResult:
        """See `agent_backend.rollout.attempts.run_attempt`. A machine on which an attempt failed is not used again."""
        async with self._machine(image) as kept:
            result = await run_episode(kept.machine, task, policy_factory(kept.machine), limits)
            if result.trajectory is None:
                kept.until = 0.0
        return result

    @asynccontextmanager
    async def _machine(self, image: str) -> AsyncIterator[_KeptMachine]:
        kept = self._take(image) or await self._lease(image)
        try:
            yield kept
        except BaseException:
            await kept.lease.aclose()
            raise
        self._keep(image, kept)

    def _take(self, image: str) -> _KeptMachine | None:
        free = self._free.get(image)
        if not free:
            return None
        kept = free.pop()
        if kept.giving_back is not None:
            kept.giving_back.cancel()
        return kept

    async def _lease(self, image: str) -> _KeptMachine:
        lease = contextlib.AsyncExitStack()
        machine = await lease.enter_async_context(leased_machine(self._bridge, image, uuid.uuid4().hex))
        return _KeptMachine(machine, lease, asyncio.get_running_loop().time() + KEPT_SECONDS)

    def _keep(self, image: str, kept: _KeptMachine) -> None:
        """Keep the machine for the next attempt, or release it in the background."""
        loop = asyncio.get_running_loop()
        if image not in REUSABLE_IMAGES or loop.time() >= kept.until:
            return self._give_back(kept)
        self._free.setdefault(image, []).append(kept)
        kept.giving_back = loop.call_later(IDLE_SECONDS, self._give_up, image, kept)
        return None

    def _give_up(self, image: str, kept: _KeptMachine) -> None:
        self._free[image].remove(kept)
        self._give_back(kept)

    def _give_back(self, kept: _KeptMachine) -> None:
        if kept.giving_back is not None:
            kept.giving_back.cancel()
        release = asyncio.create_task(kept.lease.aclose())
        self._releases.add(release)
        release.add_done_callback(self._releases.discard)
