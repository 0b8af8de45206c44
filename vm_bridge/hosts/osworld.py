"""Existing guests of Linux or Windows, each behind OSWorld's in-guest server: machines lent out one at a time.

Their server asks nobody who they are and checks no token, so whoever reaches it can do anything there.
"""

import asyncio
import logging
import re
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from vm_bridge.drivers.distant import Body, Distant, DistantMachine
from vm_bridge.drivers.failures import WireRefused
from vm_bridge.drivers.osworld import KINDS, GuestActs
from vm_bridge.drivers.osworld_task import TaskFile, task_file_of
from vm_bridge.drivers.osworld_wire import Guest, Screenshots
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.osworld_means import USUAL, Means
from vm_bridge.hosts.osworld_referee import Ports, Referee, folders_left
from vm_bridge.hosts.runtime import RuntimeFolder
from vm_bridge.hosts.supplied import RESET_SECONDS, Lending, PuttingBack
from vm_bridge.machine import Capabilities, Machine
from vm_bridge.sandbox import FrameSource, Sandbox, Usage
from vm_bridge.suites import Desk
from vocabulary.observations import Verdict
from vocabulary.tasks import Task

logger = logging.getLogger(__name__)

QUIET = 0.8
"""How long the picture stands still before the guest is taken to rest; a picture takes a while by itself (seconds)."""
HEALTH_SECONDS = 10.0


@dataclass(frozen=True)
class Kind:
    """Guests of one system: what their server calls it, the name of their image, and what they are to people."""

    system: str
    image: str
    noun: str


LINUX = Kind("Linux", "osworld", "an OSWorld guest")
WINDOWS = Kind("Windows", "osworld-windows", "an OSWorld guest of Windows")


class GuestSandbox:
    """One guest; `revert` is as in `PuttingBack`."""

    reset_seconds = RESET_SECONDS

    def __init__(
        self, address: str, revert: Sequence[str], journal: Path, kind: Kind, means: Means, folders: Path
    ) -> None:
        self.id, self.image = f"{kind.image}-{re.sub('[^A-Za-z0-9]', '-', address)}", kind.image
        self.capabilities = Capabilities(kinds=KINDS, width=0, height=0, streams=("webrtc", "stills"))
        self.vnc_socket: Path | None = None
        self.address, self._kind = address, kind
        self.destroyed = self.given_back = False
        self.task_file: TaskFile | None = None
        self._putting_back = PuttingBack(address, revert)
        ports = Ports.of(address)
        self.guest = Guest(ports.server_address)
        self.referee = Referee(self.id, ports, means, folders)
        self._screenshots = Screenshots(self.guest)
        self.frames: FrameSource | None = self._screenshots
        journal.mkdir(parents=True, exist_ok=True)
        body = Body(kind.noun, KINDS, self._screenshots, QUIET)
        self._distant = Distant(body, self, {}, journal / f"{self.id}.jsonl")
        self._changing = asyncio.Lock()

    def bind(self, fencing_token: int) -> Machine:
        return GuestMachine(self, self._distant, fencing_token, self.capabilities)

    async def start(self) -> None:
        """Raises MachineGone when the guest does not answer, or is none that we know how to drive."""
        await self._putting_back.run(self._reach)
        try:
            system = await self.guest.platform()
            if system != self._kind.system:
                raise MachineGone(f"{self.address}: a guest of {system}, not of {self._kind.system}")
            width, height = await self.guest.screen_size()
        except WireRefused as refused:
            raise MachineGone(str(refused)) from refused
        self.capabilities = self.capabilities.model_copy(update={"width": width, "height": height})
        self._distant.attach(GuestActs(self.guest))

    async def admit(self, fence: int) -> None:
        """See `Inside.admit`: nobody inside keeps tokens, so the driver's own check is all there is."""
        if self.destroyed:
            raise MachineGone(f"machine {self.id} is gone")

    async def reset(self, fence: int | None = None, task: Task | None = None) -> None:
        """See `Sandbox.reset`; for a task of a lease, see `Inside.reset`. What of its file nobody can do is refused
        before anything is put back."""
        if fence is None:
            self._distant.end_lease()
            await self.referee.end()  # what the lease before still does must not meet the next one
        file = task_file_of(task)
        if file is not None:
            self.referee.refuse(file)
        async with self._changing:
            if fence is not None:
                await self._distant.admit(fence)
            self.task_file = None
            await self.referee.forget()
            await self._putting_back.run(self._reach)
            if fence is not None:
                await self._distant.admit(fence)  # the lease may have ended meanwhile
            if file is not None:
                await self.referee.set_up(file, self._size)
            self.task_file = file

    async def judge(self, answer: str) -> Verdict:
        """What the prepared task's evaluator says of the present state."""
        if self.task_file is None:
            return Verdict(success=None, score=0.0, reason="nothing can judge this task")
        return await self.referee.judge(self.task_file, self._size, answer)

    def desk(self, fence: int) -> Desk:
        """See `Inside.desk`."""
        raise MachineGone(f"no suite runs on {self._kind.noun}")

    async def dial(self, port: int) -> socket.socket:
        raise ConnectionRefusedError(f"{self._kind.noun} has no ports to offer")

    async def healthy(self) -> bool:
        if self._changing.locked():
            return True  # it is put back, which has a bound of its own
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                return not self.destroyed and bool(await self.guest.platform())
        except (WireRefused, MachineGone, TimeoutError):
            return False

    async def usage(self) -> Usage:
        return Usage()

    async def destroy(self) -> None:
        """The guest itself is somebody else's and runs on."""
        self.destroyed = True
        self._distant.detach()
        self._screenshots.close()
        await self._putting_back.end()
        await self.referee.end()
        try:
            await self.referee.forget()
            await self.guest.close()
        finally:
            self.given_back = True  # whatever could not be tidied up here, nothing is done to the guest any more

    @property
    def _size(self) -> tuple[int, int]:
        return self.capabilities.width, self.capabilities.height

    async def _reach(self) -> None:
        """Raises MachineGone."""
        try:
            await self.guest.platform()
        except (WireRefused, MachineGone) as error:
            raise MachineGone(f"the guest at {self.address} does not answer") from error


class GuestMachine(DistantMachine):
    """A guest seen through one lease; its tasks are files that judge themselves."""

    def __init__(self, sandbox: GuestSandbox, distant: Distant, fence: int, capabilities: Capabilities) -> None:
        super().__init__(distant, fence, capabilities)
        self._sandbox = sandbox

    async def evaluate(self, *, answer: str = "") -> Verdict:
        await self._distant.admit(self._fence)
        return await self._sandbox.judge(answer)


class GuestHost:
    """The guests at these addresses, all of one kind."""

    def __init__(
        self,
        data: Path,
        addresses: Sequence[str],
        revert: Sequence[str] = (),
        kind: Kind = LINUX,
        means: Means = USUAL,
    ) -> None:
        self.images: tuple[str, ...] = (kind.image,)
        journal = data / "osworld"
        self._runtime = runtime = RuntimeFolder(journal / kind.image)
        self._lending = Lending(
            kind.image, addresses, lambda address: GuestSandbox(address, revert, journal, kind, means, runtime.path)
        )
        if not revert:
            logger.warning("no command puts the %s guests back: each lease finds what the one before left", kind.image)

    async def create(self, image: str) -> Sandbox:
        return await self._lending.lend()

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        """Leases of an earlier bridge are given back; the next one finds their guests put back."""
        await folders_left(self._runtime.path)
        return []

    async def close(self) -> None:
        await self._lending.close()
        self._runtime.remove()
