"""Real phones, and whatever else a real adb reaches: a fixed set of devices, lent out one at a time.

Not tried on real hardware: no device could be had. What is asked of one is what the simulator answers.
"""

import asyncio
import re
import socket
from collections.abc import Collection, Sequence
from pathlib import Path

from protocol.trajectory.tasks import Task
from vm_bridge.drivers.phone.actions import ACTION_KINDS, PhoneActionExecutor
from vm_bridge.drivers.phone.adb import AdbRequestFailed, AdbServer, Device
from vm_bridge.drivers.phone.frames import PhoneVideo, Screencap
from vm_bridge.drivers.remote.driver import RemoteDriver, RemoteMachineSpec
from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.hosts.phone.android_world import AndroidWorldEvaluator, PhoneMachine
from vm_bridge.machine import Capabilities, Machine
from vm_bridge.sandbox import MAX_RESET_SECONDS, FrameSource, Sandbox, Usage
from vm_bridge.suites import SandboxEnvironment

IMAGE = "android"
HOME = "/sdcard"
SETTLE_QUIET_SECONDS = 0.8
"""How long the picture stands still before the phone is taken to rest; a picture takes a while by itself (seconds)."""
HEALTH_SECONDS = 4.0
SIZE_PATTERN = re.compile(r"(?:Override|Physical) size: (\d+)x(\d+)")


class DeviceSandbox:
    """One real device without isolation: a reset ends its apps, and clears the configured ones."""

    reset_seconds = MAX_RESET_SECONDS

    def __init__(self, adb: AdbServer, serial: str, clear: Sequence[str], android_world: Path | None = None) -> None:
        self.id, self.image = f"{IMAGE}-{re.sub('[^A-Za-z0-9]', '-', serial)}", IMAGE
        self.capabilities = Capabilities(kinds=ACTION_KINDS, width=0, height=0, streams=("webrtc", "stills"))
        self.vnc_socket: Path | None = None
        self.serial = serial
        self.destroyed = False
        self._adb, self._clear = adb, clear
        self._device = Device(adb, serial)
        self._screencap = Screencap(self._device)
        self._video = PhoneVideo(self._device, self._screencap)
        self.frames: FrameSource | None = self._video
        self._phone = RemoteDriver(
            RemoteMachineSpec("a phone", ACTION_KINDS, self._screencap, SETTLE_QUIET_SECONDS), self, {}
        )
        self._evaluator = AndroidWorldEvaluator(adb, serial, android_world)
        self._changing = asyncio.Lock()

    def bind(self, fencing_token: int) -> Machine:
        return PhoneMachine(self._phone, fencing_token, self.capabilities, self._evaluator)

    async def start(self) -> None:
        """Raises MachineGone when the device does not answer."""
        try:
            # Serials with a port are reached over the network; the others hang on a cable.
            if ":" in self.serial:
                await self._adb.connect(self.serial)
            width, height = parse_size(await self._device.checked_output("wm", "size"))
            await self._first_state()
        except AdbRequestFailed as refused:
            raise MachineGone(f"{self.serial}: {refused}") from refused
        self.capabilities = self.capabilities.model_copy(update={"width": width, "height": height})
        self._phone.attach(PhoneActionExecutor(self._device, {}, HOME))

    async def admit(self, fence: int) -> None:
        """See `MachineBackend.admit`. The phone keeps no tokens, so only the driver checks."""
        if self.destroyed:
            raise MachineGone(f"machine {self.id} is gone")

    async def reset(self, fence: int | None = None, task: Task | None = None) -> None:
        """See `Sandbox.reset`; for a task of a lease, see `MachineBackend.reset`."""
        if fence is None:
            self._phone.end_lease()
        android_world = self._evaluator.check_supported(task)
        await self._evaluator.tear_down()
        async with self._changing:
            if fence is not None:
                await self._phone.admit(fence)
            try:
                await self._first_state()
            except AdbRequestFailed as refused:
                raise MachineGone(f"{self.serial}: {refused}") from refused
            if android_world is not None and task is not None:
                await self._evaluator.initialize(android_world, task.instruction)

    def environment(self, fence: int) -> SandboxEnvironment:
        """See `MachineBackend.environment`."""
        raise MachineGone("no suite runs on a real device")

    async def dial(self, port: int) -> socket.socket:
        raise ConnectionRefusedError("a real device has no ports to offer")

    async def healthy(self) -> bool:
        try:
            async with asyncio.timeout(HEALTH_SECONDS):
                return not self.destroyed and (await self._device.run("true")).code == 0
        except (AdbRequestFailed, TimeoutError):
            return False

    async def usage(self) -> Usage:
        return Usage()

    async def destroy(self) -> None:
        self.destroyed = True
        self._phone.detach()
        await self._evaluator.forget()
        self._video.close()
        self._screencap.close()

    async def _first_state(self) -> None:
        """Awake, upright, at home, none of its own apps running. Raises AdbRequestFailed."""
        device = self._device
        for listed in (await device.checked_output("pm", "list", "packages", "-3")).split():
            await device.checked_output("am", "force-stop", listed.removeprefix("package:"))
        for package in self._clear:
            await device.checked_output("pm", "clear", package)
        await device.checked_output("settings", "put", "system", "accelerometer_rotation", "0")
        await device.checked_output("settings", "put", "system", "user_rotation", "0")
        await device.checked_output("input", "keyevent", "WAKEUP")
        await device.checked_output("input", "keyevent", "HOME")


class DeviceHost:
    """The devices of these serials. `clear` names the packages whose data a reset throws away; `android_world` is the
    interpreter that has AndroidWorld's package, where there is one."""

    images: tuple[str, ...] = (IMAGE,)

    def __init__(
        self, data: Path, serials: Sequence[str], clear: Sequence[str], android_world: Path | None = None
    ) -> None:
        self.adb = AdbServer(data / "adb-devices")
        self._serials, self._clear = tuple(serials), tuple(clear)
        self._android_world = android_world
        self._leased: dict[str, DeviceSandbox] = {}

    async def create(self, image: str) -> Sandbox:
        await self.adb.start()
        free = [serial for serial in self._serials if serial not in self._leased or self._leased[serial].destroyed]
        if not free:
            raise NoMachine(f"all {len(self._serials)} devices are in use")
        sandbox = self._leased[free[0]] = DeviceSandbox(self.adb, free[0], self._clear, self._android_world)
        try:
            await sandbox.start()
        except MachineGone as gone:
            await sandbox.destroy()
            raise NoMachine(str(gone)) from gone
        return sandbox

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        return []  # their leases are given back; the next one finds them reset

    async def close(self) -> None:
        for sandbox in self._leased.values():
            await sandbox.destroy()
        await self.adb.close()


def parse_size(checked_output: str) -> tuple[int, int]:
    """Width and height out of what `wm size` says; a size that was set counts. Raises AdbRequestFailed."""
    sizes = SIZE_PATTERN.findall(checked_output)
    if not sizes:
        raise AdbRequestFailed(f"no size in {checked_output!r}")
    width, height = sizes[-1]
    return int(width), int(height)
