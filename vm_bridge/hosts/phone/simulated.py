"""Simulated phones: sandboxes of this machine whose image is a phone, driven over adb."""

import asyncio
import json
import logging
import socket
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from protocol.trajectory.tasks import Task
from vm_bridge.drivers.phone.actions import ACTION_KINDS, PhoneActionExecutor
from vm_bridge.drivers.phone.adb import AdbRequestFailed, AdbServer, Device
from vm_bridge.drivers.remote.driver import RemoteDriver, RemoteMachineSpec
from vm_bridge.drivers.task_parameters import parse_screen_size
from vm_bridge.errors import BridgeError, MachineGone
from vm_bridge.guest.common.relay import relay
from vm_bridge.hosts.lifecycle import destroy_on_failure
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.hosts.phone.android_world import AndroidWorldEvaluator, PhoneMachine
from vm_bridge.images.build import IMAGES
from vm_bridge.images.manifest import read_manifest
from vm_bridge.isolation.bubblewrap import HOME
from vm_bridge.machine import Capabilities, Machine
from vm_bridge.sandbox import MAX_RESET_SECONDS, FrameSource, Sandbox, Usage
from vm_bridge.simulators.phone.paths import PORT, TRUSTED_KEYS
from vm_bridge.suites import SandboxEnvironment, Suite

logger = logging.getLogger(__name__)

BOOT_SECONDS = 60.0
BOOT_POLL = 0.03
HEALTH_SECONDS = 4.0
SETTLE_QUIET_SECONDS = 0.3
"""How long the picture stands still before the phone is taken to rest (seconds)."""
COMMAND_LOG_FILE = "phone.jsonl"
STREAMS = ("webrtc", "vnc", "stills")
IDLE_SECONDS = 3600.0
"""The daemon's connection may say nothing for so long (seconds)."""


class PhoneSandbox:
    """One simulated phone: a sandbox, and adb's way to the daemon inside."""

    reset_seconds = MAX_RESET_SECONDS

    def __init__(
        self, local: LocalSandbox, adb: AdbServer, suites: Mapping[str, Suite], android_world: Path | None = None
    ) -> None:
        assert local.frames is not None
        self.id, self.image = local.id, local.image
        self.frames: FrameSource | None = local.frames
        self.vnc_socket: Path | None = local.vnc_socket
        self._local, self._adb = local, adb
        self._names = read_app_names(IMAGES / local.image / "apps")
        self._phone = RemoteDriver(
            RemoteMachineSpec("a phone", ACTION_KINDS, local.frames, SETTLE_QUIET_SECONDS),
            self,
            suites,
            local.folder / COMMAND_LOG_FILE,
        )
        self._socket = local.folder / "adb.sock"
        self._phone.restored(local.task)
        self._evaluator = AndroidWorldEvaluator(adb, self.address, android_world)
        self._relay: asyncio.Server | None = None
        self._changing = asyncio.Lock()
        self._pristine = False
        """Whether the phone started by itself and no lease has reached inside since."""

    @property
    def capabilities(self) -> Capabilities:
        local = self._local.capabilities
        return Capabilities(
            kinds=ACTION_KINDS,
            width=local.width,
            height=local.height,
            streams=STREAMS,
            apps=app_display_names(self._names),
        )

    @property
    def address(self) -> str:
        """What adb knows it by."""
        return f"localfilesystem:{self._socket}"

    @property
    def device(self) -> Device:
        """The phone itself, as adb reaches it."""
        return Device(self._adb, self.address)

    def bind(self, fencing_token: int) -> Machine:
        return PhoneMachine(self._phone, fencing_token, self.capabilities, self._evaluator)

    async def start(self) -> None:
        """Raises MachineGone when the phone inside does not come up."""
        async with self._changing:
            await self._install_key()
            await self._reach()
            self._pristine = True

    async def adopt(self) -> None:
        """Go on with the phone that an earlier bridge left in the sandbox. Raises MachineGone."""
        async with self._changing:
            await self._reach()

    async def admit(self, fence: int) -> None:
        """See `MachineBackend.admit`."""
        await self._local.bind(fence).skip_settle()

    async def reset(self, fence: int | None = None, task: Task | None = None) -> None:
        """See `Sandbox.reset`; for a task of a lease, see `MachineBackend.reset`. A phone that was not used since it
        started is not started again: a suite gives the running phone the state that a task begins in."""
        if fence is None:
            self._phone.end_lease()
        android_world = self._evaluator.check_supported(task)
        await self._evaluator.forget()  # what the lease before still does must not meet the next one
        async with self._changing:
            await self._put_back(fence, task)
            if android_world is not None and task is not None:
                await self._evaluator.initialize(android_world, task.instruction)

    async def _put_back(self, fence: int | None, task: Task | None) -> None:
        """The phone in its first state."""
        unused, self._pristine = self._pristine and not self._phone.acted, False
        if fence is not None and task is not None:
            await self._phone.admit(fence)
            if unused and self._suits(task) and await self._answers():
                return await self._local.assign(task)
            self._phone.detach()
            await self._local.prepare(fence, task)
        else:
            self._phone.detach()
            await self._local.reset()
        await self._install_key()
        await self._reach()
        self._pristine = fence is None

    def _suits(self, task: Task) -> bool:
        """Whether the phone as it started is what the task wants: no network, and a screen of this size."""
        here = (self._local.capabilities.width, self._local.capabilities.height)
        return not task.network and parse_screen_size(task) in (None, here)

    def environment(self, fence: int) -> SandboxEnvironment:
        """See `MachineBackend.environment`."""
        self._pristine = False
        return self._local.environment(fence)

    async def healthy(self) -> bool:
        if self._changing.locked():
            return True  # it starts again, which has a bound of its own
        return await self._local.healthy() and await self._answers()

    async def _answers(self) -> bool:
        """Whether the phone answers over adb."""
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                return (await self.device.checked_output("getprop", "sys.boot_completed")) == "1"
        except (AdbRequestFailed, TimeoutError):
            return False

    async def dial(self, port: int) -> socket.socket:
        self._pristine = False
        return await self._local.dial(port)

    async def usage(self) -> Usage:
        return await self._local.usage()

    @property
    def destroyed(self) -> bool:
        """Whether it is gone for good."""
        return self._local.destroyed

    async def destroy(self) -> None:
        self._phone.detach()
        await self._evaluator.forget()
        if self._relay is not None:
            self._relay.close()
            self._relay = None
        await self._adb.disconnect(self.address)
        await self._local.destroy()

    async def _install_key(self) -> None:
        """Let the phone know this server's key. Raises MachineGone."""
        await self._adb.start()
        await self._local.environment(self._local.fence).write(str(TRUSTED_KEYS), self._adb.public_key)

    async def _reach(self) -> None:
        """Sign in to the phone that starts inside. Raises MachineGone."""
        await self._adb.start()
        if self._relay is None:
            self._socket.unlink(missing_ok=True)
            self._relay = await asyncio.start_unix_server(self._forward_connection, self._socket)
            self._socket.chmod(0o600)
        await self._adb.disconnect(self.address)
        try:
            async with asyncio.timeout(BOOT_SECONDS):
                self._phone.attach(PhoneActionExecutor(await self._booted(), self._names, HOME))
        except TimeoutError:
            raise MachineGone(f"the phone of {self.id} does not start") from None

    async def _booted(self) -> Device:
        """Raises MachineGone."""
        while not self.destroyed:
            with suppress(AdbRequestFailed):
                device = await self._adb.connect(self.address)
                if await device.checked_output("getprop", "sys.boot_completed") == "1":
                    return device
            await asyncio.sleep(BOOT_POLL)
        raise MachineGone(f"machine {self.id} is gone")

    async def _forward_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection of adb's to the daemon inside."""
        try:
            inside = await asyncio.open_connection(sock=await self._local.dial(PORT))
        except (OSError, TimeoutError):
            writer.close()
            return
        await relay((reader, writer), inside, idle=IDLE_SECONDS)


class PhoneHost:
    """The machines of a local host, of which those with a phone's image are phones."""

    def __init__(
        self,
        local: LocalHost,
        data: Path,
        suites: Mapping[str, Suite] | None = None,
        android_world: Path | None = None,
    ) -> None:
        """`android_world` is the interpreter that has AndroidWorld's package, where there is one."""
        self.images = local.images
        self._local, self._suites = local, suites or {}
        self._phones = {name for name in local.images if read_manifest(IMAGES / name).platform == "phone"}
        self._adb = AdbServer(data / "adb")
        self._android_world = android_world
        self._made: list[PhoneSandbox] = []

    async def create(self, image: str) -> Sandbox:
        made = await self._local.create(image)
        if image not in self._phones:
            return made
        phone = self._phone(made)
        async with destroy_on_failure(phone):
            await phone.start()
        return phone

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        return await asyncio.gather(*map(self._adopted, await self._local.adopt(ids)))

    async def _adopted(self, left: Sandbox) -> Sandbox:
        """One that does not answer is found by its health checks, like any other."""
        if left.image not in self._phones:
            return left
        phone = self._phone(left)
        try:
            await phone.adopt()
        except BridgeError as error:
            logger.warning("the phone of %s could not be reached again: %s", left.id, error)
        return phone

    async def close(self) -> None:
        await asyncio.gather(*(phone.destroy() for phone in self._made))
        self._made.clear()
        await self._local.close()
        await self._adb.close()

    def _phone(self, made: Sandbox) -> PhoneSandbox:
        assert isinstance(made, LocalSandbox)
        phone = PhoneSandbox(made, self._adb, self._suites, self._android_world)
        self._made = [*(made for made in self._made if not made.destroyed), phone]
        return phone


def read_app_names(folder: Path) -> dict[str, str]:
    """The packages of a simulated phone's apps, by the names people call them."""
    apps = json.loads((folder / "manifest.json").read_text("utf-8"))["apps"]
    return {app[name]: app["package"] for name in ("name", "name_zh") for app in apps}


def app_display_names(names: Mapping[str, str]) -> tuple[str, ...]:
    """The first name of each package."""
    first: dict[str, str] = {}
    for name, package in names.items():
        first.setdefault(package, name)
    return tuple(first.values())
