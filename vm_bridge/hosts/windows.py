"""Machines of Windows that somebody supplies, each driven through our agent inside it, lent out one at a time."""

import asyncio
import logging
import re
import socket
import time
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

from vm_bridge.drivers.computer import KINDS, Able, Computer, ComputerMachine
from vm_bridge.drivers.computer_canvas import Canvas
from vm_bridge.drivers.computer_frames import Screen
from vm_bridge.drivers.computer_link import GuestLink, Nothing
from vm_bridge.drivers.computer_task import screen_of, servers_of
from vm_bridge.drivers.inside import GuestTerminals
from vm_bridge.errors import BridgeError, InvalidAction, MachineGone, NoMachine, UnsupportedAction
from vm_bridge.guest.win32.apps import APPS
from vm_bridge.hosts.command import command_run
from vm_bridge.machine import Capabilities, Machine, Snapshot
from vm_bridge.sandbox import FrameSource, Sandbox, Usage
from vocabulary.observations import Observation
from vocabulary.tasks import Task

logger = logging.getLogger(__name__)

IMAGE = "windows"
LACKING = ("type_terminal", "run_code", "call_tool")
ABLE = Able(
    kinds=tuple(kind for kind in KINDS if kind not in LACKING),
    streams=("webrtc", "stills"),
    snapshots=False,
    apps=tuple(APPS),
)
HEALTH_SECONDS = 10.0
DIAL_SECONDS = 10.0
BOOT_SECONDS = 300.0
"""Longest an agent may take to answer once its machine was put back."""
BOOT_POLL = 0.5


class WindowsSandbox:
    """One machine. `revert` are the words of the command that puts it back, which gets its address as its last; without
    them it goes back to no earlier state: what one lease left, the next one finds."""

    def __init__(self, address: str, secret: str, revert: Sequence[str], folder: Path) -> None:
        self.id, self.image = f"{IMAGE}-{re.sub('[^A-Za-z0-9]', '-', address)}", IMAGE
        self.address = address
        self.vnc_socket: Path | None = None
        self.destroyed = False
        self._secret, self._revert = secret, tuple(revert)
        folder = folder / self.id
        folder.mkdir(parents=True, exist_ok=True)
        self._computer = Computer({}, folder)
        self.frames: FrameSource | None = self._computer.frames
        self._changing = asyncio.Lock()

    @property
    def capabilities(self) -> Capabilities:
        return self._computer.capabilities

    def bind(self, fencing_token: int) -> Machine:
        return WindowsMachine(self._computer, fencing_token, self)

    async def start(self) -> None:
        """Raises MachineGone when no agent that knows the secret answers."""
        async with self._changing:
            await self._put_back(None)

    async def reset(self) -> None:
        self._computer.end_lease()
        self._hang_up()  # a call that still runs must not keep the next lease waiting
        async with self._changing:
            await self._put_back(None)

    async def prepare(self, fencing_token: int, task: Task) -> None:
        """See `Keeper.prepare`."""
        wanted, has = screen_of(task), (self.capabilities.width, self.capabilities.height)
        if wanted not in (None, has):
            raise InvalidAction(f"the screen of this machine is {has[0]}x{has[1]} for good")
        if servers_of(task):
            raise InvalidAction("this machine has no tools")
        async with self._changing:
            # The guest must have seen this token before anything is thrown away.
            await self._computer.hurry(fencing_token)
            await self._put_back(task)

    async def restore(self, fencing_token: int, snapshot: Snapshot) -> None:
        """See `Keeper.restore`."""
        raise UnsupportedAction("this machine goes back to no earlier state")

    async def healthy(self) -> bool:
        if self._changing.locked():
            return True  # it is put back, which has a bound of its own
        try:
            await self._computer.link.call("ping", Nothing, timeout=HEALTH_SECONDS)
        except BridgeError:
            return False
        return not self.destroyed

    async def dial(self, port: int) -> socket.socket:
        raise ConnectionRefusedError("a machine of Windows has no ports to offer")

    async def usage(self) -> Usage:
        return Usage(pss=0, cpu_seconds=0.0, processes=0)

    async def destroy(self) -> None:
        """The machine itself is somebody else's and runs on."""
        self.destroyed = True
        self._hang_up()
        self._computer.frames.close()

    async def _put_back(self, task: Task | None) -> None:
        """Raises MachineGone."""
        self._hang_up()
        if self._revert:
            await command_run((*self._revert, self.address))
        ends = time.monotonic() + BOOT_SECONDS
        while True:
            try:
                await self._reach()
            except MachineGone:
                if self.destroyed or not self._revert or time.monotonic() > ends:
                    raise
                await asyncio.sleep(BOOT_POLL)
            else:
                break
        if self.destroyed:  # meanwhile
            self._hang_up()
            raise MachineGone(f"machine {self.id} is gone")
        self._computer.restored(task)

    async def _reach(self) -> None:
        """Drive the agent that is there now, which may have forgotten the tokens it saw. Raises MachineGone."""
        host, _, port = self.address.rpartition(":")
        link = await GuestLink.dial(host.strip("[]"), int(port), self._secret, timeout=DIAL_SECONDS)
        try:
            said = await link.ready(HEALTH_SECONDS)
            canvas = Canvas(said.width, said.height)
            link.paint = canvas.paint
            fence = max(said.fence, self._computer.fence)
            await link.call("hurry", Nothing, timeout=HEALTH_SECONDS, fence=fence)
        except BaseException:
            link.close()
            raise
        self._computer.attach(link, Screen(canvas, said.width, said.height), fence, ABLE)

    def _hang_up(self) -> None:
        """Every call to the agent ends."""
        with suppress(MachineGone):
            self._computer.link.close()


class WindowsMachine(ComputerMachine):
    """A machine of Windows seen through one lease."""

    async def snapshot(self) -> Snapshot:
        raise UnsupportedAction("this machine goes back to no earlier state")

    async def restore(self, snapshot: Snapshot) -> Observation:
        raise UnsupportedAction("this machine goes back to no earlier state")

    @property
    def terminals(self) -> GuestTerminals:
        raise UnsupportedAction("this machine has no interactive terminals")

    async def tools(self) -> tuple[()]:
        return ()


class WindowsHost:
    """The machines at these addresses, whose agents know this secret."""

    def __init__(self, data: Path, addresses: Sequence[str], secret: str, revert: Sequence[str] = ()) -> None:
        self.images: tuple[str, ...] = (IMAGE,)
        self._addresses, self._secret, self._revert = tuple(addresses), secret, tuple(revert)
        self._folder = data / IMAGE
        self._lent: dict[str, WindowsSandbox] = {}
        if not revert:
            logger.warning("no command puts the machines of Windows back: each lease finds what the one before left")

    async def create(self, image: str) -> Sandbox:
        free = [each for each in self._addresses if each not in self._lent or self._lent[each].destroyed]
        if not free:
            raise NoMachine(f"all {len(self._addresses)} machines of the image {IMAGE} are in use")
        problems = []
        for address in free:
            sandbox = self._lent[address] = WindowsSandbox(address, self._secret, self._revert, self._folder)
            try:
                await sandbox.start()
            except MachineGone as gone:
                problems.append(str(gone))
                await sandbox.destroy()
            else:
                return sandbox
        raise NoMachine("; ".join(problems))

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        return []  # their leases are given back; the next one finds them put back

    async def close(self) -> None:
        for sandbox in self._lent.values():
            await sandbox.destroy()
