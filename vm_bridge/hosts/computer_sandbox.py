"""A sandbox with a computer inside: what is alike wherever the guest that drives it lives."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from protocol.trajectory.observations import MachineSnapshot
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.guest_link import EmptyReply
from vm_bridge.drivers.computer.machine import ComputerMachine
from vm_bridge.errors import BridgeError, MachineGone
from vm_bridge.machine import Capabilities, Machine
from vm_bridge.sandbox import MAX_RESET_SECONDS, FrameSource
from vm_bridge.suites import SandboxEnvironment, Suite


class ComputerSandbox(ABC):
    """Each kind has its own way of being put back, and its own end. In `folder` lies what outlives this process."""

    health_seconds: ClassVar[float] = 10.0
    """Longest that the guest may take to answer."""
    reset_seconds: ClassVar[float] = MAX_RESET_SECONDS

    def __init__(self, name: str, image: str, folder: Path, suites: Mapping[str, Suite]) -> None:
        self.id, self.image, self.folder = name, image, folder
        self._computer = ComputerDriver(suites, folder)
        self.vnc_socket: Path | None = None
        self.frames: FrameSource | None = self._computer.frames
        self._changing = asyncio.Lock()
        """Held while it is put back, so that nothing else changes it meanwhile."""
        self.destroyed = False

    @property
    def capabilities(self) -> Capabilities:
        return self._computer.capabilities

    def bind(self, fencing_token: int) -> Machine:
        return ComputerMachine(self._computer, fencing_token, self)

    def environment(self, fencing_token: int) -> SandboxEnvironment:
        """The inside, as suites use it."""
        return self._computer.environment(fencing_token)

    @property
    def fence(self) -> int:
        """The lowest fencing token that may act."""
        return self._computer.fence

    @property
    def task(self) -> Task | None:
        """What it was last prepared for."""
        return self._computer.task

    async def start(self) -> None:
        """Raises MachineGone when it does not come up."""
        async with self._changing:
            await self._put_back(None)

    async def prepare(self, fencing_token: int, task: Task) -> None:
        """See `SandboxController.prepare`."""
        async with self._changing:
            # The guest must have seen this token before anything is thrown away.
            await self._computer.skip_settle(fencing_token)
            await self._put_back(task)

    @abstractmethod
    async def restore(self, fencing_token: int, snapshot: MachineSnapshot) -> None:
        """See `SandboxController.restore`."""

    async def reset(self) -> None:
        self._computer.end_lease()
        self._hang_up()  # a call that still runs must not keep the next lease waiting
        async with self._changing:
            await self._put_back(None)

    async def healthy(self) -> bool:
        if self._changing.locked():
            return True  # it is put back, which has a bound of its own
        try:
            await self._computer.link.call("ping", EmptyReply, timeout=self.health_seconds)
        except BridgeError:
            return False
        return not self.destroyed

    async def destroy(self) -> None:
        if self.destroyed:
            return
        self.destroyed = True
        self._hang_up()
        await self._end()
        self._computer.frames.close()

    @abstractmethod
    async def _put_back(self, task: Task | None) -> None:
        """To the image's first state, as a task wants it. Raises MachineGone."""

    @abstractmethod
    async def _end(self) -> None:
        """Leave nothing of it, once what changes it has ended."""

    def _hang_up(self) -> None:
        """Every call to the guest ends."""
        with suppress(MachineGone):
            self._computer.link.close()
