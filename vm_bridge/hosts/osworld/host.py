"""Existing Linux or Windows guests, each behind OSWorld's in-guest server: machines leased one at a time.

Their server has no authentication and checks no token, so anyone who reaches it can do anything there.
"""

import asyncio
import logging
import re
import socket
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.osworld.actions import ACTION_KINDS, GuestActionExecutor
from vm_bridge.drivers.osworld.guest_client import GuestClient, Screenshots
from vm_bridge.drivers.osworld.task_files import ARENA_IMAGE, TaskFile, parse_task_file
from vm_bridge.drivers.remote.driver import RemoteDriver, RemoteMachine, RemoteMachineSpec
from vm_bridge.drivers.remote.errors import TransportError
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.external_machines import RESET_SECONDS, ExternalMachinePool, MachineReverter
from vm_bridge.hosts.osworld.evaluator import GuestPorts, OSWorldEvaluator, remove_stale_folders
from vm_bridge.hosts.osworld.evaluator_settings import DEFAULT_SETTINGS, EvaluatorSettings
from vm_bridge.hosts.runtime_folder import RuntimeFolder
from vm_bridge.machine import Capabilities, Machine
from vm_bridge.sandbox import FrameSource, Sandbox, Usage
from vm_bridge.suites import SandboxEnvironment

logger = logging.getLogger(__name__)

SETTLE_QUIET_SECONDS = 0.8
"""How long the picture stands still before the guest is taken to rest; a picture takes a while by itself (seconds)."""
HEALTH_SECONDS = 10.0


@dataclass(frozen=True)
class GuestSystem:
    """Guests of one system: what their server calls it, the name of their image, and what they are to people."""

    system: str
    image: str
    noun: str


LINUX = GuestSystem("Linux", "osworld", "an OSWorld guest")
WINDOWS = GuestSystem("Windows", "osworld-windows", "an OSWorld guest of Windows")
ARENA = GuestSystem("Windows", ARENA_IMAGE, "a guest of WindowsAgentArena")


class GuestSandbox:
    """One guest; `revert` is as in `MachineReverter`."""

    reset_seconds = RESET_SECONDS

    def __init__(
        self,
        address: str,
        revert: Sequence[str],
        command_log: Path,
        kind: GuestSystem,
        settings: EvaluatorSettings,
        folders: Path,
    ) -> None:
        self.id, self.image = f"{kind.image}-{re.sub('[^A-Za-z0-9]', '-', address)}", kind.image
        self.capabilities = Capabilities(kinds=ACTION_KINDS, width=0, height=0, streams=("webrtc", "stills"))
        self.vnc_socket: Path | None = None
        self.address, self._kind = address, kind
        self.destroyed = self.released = False
        self.task_file: TaskFile | None = None
        self._settings = settings
        self._putting_back = MachineReverter(address, revert)
        ports = GuestPorts.of(address)
        self.guest = GuestClient(ports.server_address)
        self.evaluator = OSWorldEvaluator(self.id, ports, settings, folders)
        self._screenshots = Screenshots(self.guest)
        self.frames: FrameSource | None = self._screenshots
        command_log.mkdir(parents=True, exist_ok=True)
        body = RemoteMachineSpec(kind.noun, ACTION_KINDS, self._screenshots, SETTLE_QUIET_SECONDS)
        self._driver = RemoteDriver(body, self, {}, command_log / f"{self.id}.jsonl")
        self._changing = asyncio.Lock()

    def bind(self, fencing_token: int) -> Machine:
        return GuestMachine(self, self._driver, fencing_token, self.capabilities)

    async def start(self) -> None:
        """Raises MachineGone when the guest does not answer, or is none that we know how to drive."""
        await self._putting_back.run(self._reach)
        try:
            system = await self.guest.platform()
            if system != self._kind.system:
                raise MachineGone(f"{self.address}: a guest of {system}, not of {self._kind.system}")
            width, height = await self.guest.screen_size()
        except TransportError as refused:
            raise MachineGone(str(refused)) from refused
        self.capabilities = self.capabilities.model_copy(update={"width": width, "height": height})
        self._driver.attach(GuestActionExecutor(self.guest))

    async def admit(self, fence: int) -> None:
        """See `MachineBackend.admit`. The guest keeps no tokens, so only the driver checks."""
        if self.destroyed:
            raise MachineGone(f"machine {self.id} is gone")

    async def reset(self, fence: int | None = None, task: Task | None = None) -> None:
        """See `Sandbox.reset`, and `MachineBackend.reset` for a task of a lease.

        Whatever of the task's file is unsupported is rejected before anything is reset."""
        if fence is None:
            self._driver.end_lease()
            await self.evaluator.end()  # what the lease before still does must not meet the next one
        file = parse_task_file(task, self._settings.names)
        if file is not None:
            self.evaluator.check_supported(file)
        async with self._changing:
            if fence is not None:
                await self._driver.admit(fence)
            self.task_file = None
            await self.evaluator.forget()
            await self._putting_back.run(self._reach)
            if fence is not None:
                await self._driver.admit(fence)  # the lease may have ended meanwhile
            if file is not None:
                await self.evaluator.set_up(file, self._size)
            self.task_file = file

    async def judge(self, answer: str) -> Verdict:
        """What the prepared task's evaluator says of the present state."""
        if self.task_file is None:
            return Verdict(success=None, score=0.0, reason="nothing can judge this task")
        return await self.evaluator.judge(self.task_file, self._size, answer)

    def environment(self, fence: int) -> SandboxEnvironment:
        """See `MachineBackend.environment`."""
        raise MachineGone(f"no suite runs on {self._kind.noun}")

    async def dial(self, port: int) -> socket.socket:
        raise ConnectionRefusedError(f"{self._kind.noun} has no ports to offer")

    async def healthy(self) -> bool:
        if self._changing.locked():
            return True  # it is put back, which has a bound of its own
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                return not self.destroyed and bool(await self.guest.platform())
        except (TransportError, MachineGone, TimeoutError):
            return False

    async def usage(self) -> Usage:
        return Usage()

    async def destroy(self) -> None:
        """The guest keeps running, because its owner provides it."""
        self.destroyed = True
        self._driver.detach()
        self._screenshots.close()
        await self._putting_back.end()
        await self.evaluator.end()
        try:
            await self.evaluator.forget()
            await self.guest.close()
        finally:
            self.released = True  # whatever could not be tidied up here, nothing is done to the guest any more

    @property
    def _size(self) -> tuple[int, int]:
        return self.capabilities.width, self.capabilities.height

    async def _reach(self) -> None:
        """Raises MachineGone."""
        try:
            await self.guest.platform()
        except (TransportError, MachineGone) as error:
            raise MachineGone(f"the guest at {self.address} does not answer") from error


class GuestMachine(RemoteMachine):
    """A guest seen through one lease; its tasks are files that judge themselves."""

    def __init__(self, sandbox: GuestSandbox, driver: RemoteDriver, fence: int, capabilities: Capabilities) -> None:
        super().__init__(driver, fence, capabilities)
        self._sandbox = sandbox

    async def evaluate(self, *, answer: str = "") -> Verdict:
        await self._driver.admit(self._fence)
        return await self._sandbox.judge(answer)


class GuestHost:
    """The guests at these addresses, all of one kind."""

    def __init__(
        self,
        data: Path,
        addresses: Sequence[str],
        revert: Sequence[str] = (),
        kind: GuestSystem = LINUX,
        settings: EvaluatorSettings = DEFAULT_SETTINGS,
    ) -> None:
        self.images: tuple[str, ...] = (kind.image,)
        command_log = data / "osworld"
        self._runtime = runtime = RuntimeFolder(command_log / kind.image)
        self._machine_pool = ExternalMachinePool(
            kind.image,
            addresses,
            lambda address: GuestSandbox(address, revert, command_log, kind, settings, runtime.path),
        )
        if not revert:
            logger.warning("no command puts the %s guests back: each lease finds what the one before left", kind.image)

    async def create(self, image: str) -> Sandbox:
        return await self._machine_pool.acquire()

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        """Leases of an earlier bridge are given back; the next one finds their guests put back."""
        await remove_stale_folders(self._runtime.path)
        return []

    async def close(self) -> None:
        await self._machine_pool.close()
        self._runtime.remove()
