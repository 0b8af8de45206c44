"""Machines of Windows that somebody supplies, each driven through our agent inside it, lent out one at a time."""

import logging
import re
import socket
from collections.abc import Collection, Sequence
from pathlib import Path

from protocol.trajectory.observations import MachineSnapshot, Observation
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.computer.driver import ACTION_KINDS
from vm_bridge.drivers.computer.frames import GuestScreen
from vm_bridge.drivers.computer.guest_link import EmptyReply, GuestCapabilities, GuestLink
from vm_bridge.drivers.computer.machine import ComputerMachine
from vm_bridge.drivers.computer.remote_frames import FrameCanvas
from vm_bridge.drivers.task_parameters import parse_screen_size
from vm_bridge.errors import InvalidAction, UnsupportedAction
from vm_bridge.guest.windows.programs import APPS
from vm_bridge.hosts.computer_sandbox import ComputerSandbox
from vm_bridge.hosts.external_machines import RESET_SECONDS, ExternalMachinePool, MachineReverter
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Sandbox, Usage

logger = logging.getLogger(__name__)

IMAGE = "windows"
CAPABILITIES = GuestCapabilities(
    kinds=ACTION_KINDS,
    streams=("webrtc", "stills", "terminal"),
    snapshots=False,
    apps=tuple(APPS),
)
DIAL_SECONDS = 10.0


class WindowsSandbox(ComputerSandbox):
    """One machine; `revert` is as in `MachineReverter`."""

    reset_seconds = RESET_SECONDS

    def __init__(self, address: str, secret: str, revert: Sequence[str], folder: Path) -> None:
        name = f"{IMAGE}-{re.sub('[^A-Za-z0-9]', '-', address)}"
        (folder / name).mkdir(parents=True, exist_ok=True)
        super().__init__(name, IMAGE, folder / name, {})
        self.address = address
        self.released = False
        self._secret, self._putting_back = secret, MachineReverter(address, revert)

    def bind(self, fencing_token: int) -> Machine:
        return WindowsMachine(self._computer, fencing_token, self)

    async def prepare(self, fencing_token: int, task: Task) -> None:
        """What this machine cannot be made into is refused first."""
        wanted, has = parse_screen_size(task), (self.capabilities.width, self.capabilities.height)
        if wanted not in (None, has):
            raise InvalidAction(f"the screen of this machine is {has[0]}x{has[1]} for good")
        await super().prepare(fencing_token, task)

    async def restore(self, fencing_token: int, snapshot: MachineSnapshot) -> None:
        raise UnsupportedAction("this machine goes back to no earlier state")

    async def dial(self, port: int) -> socket.socket:
        raise ConnectionRefusedError("a machine of Windows has no ports to offer")

    async def usage(self) -> Usage:
        return Usage()

    async def _end(self) -> None:
        """The machine itself is somebody else's and runs on."""
        await self._putting_back.end()
        self._hang_up()  # it may have been reached meanwhile
        self.released = True

    async def _put_back(self, task: Task | None) -> None:
        """Raises MachineGone when no agent that knows the secret answers."""
        self._hang_up()
        await self._putting_back.run(self._reach)
        self._computer.restored(task)

    async def _reach(self) -> None:
        """Drive the agent that is there now, which may have forgotten the tokens it saw. Raises MachineGone."""
        host, _, port = self.address.rpartition(":")
        link = await GuestLink.dial(host.strip("[]"), int(port), self._secret, timeout=DIAL_SECONDS)
        try:
            said = await link.ready(self.health_seconds)
            canvas = FrameCanvas(said.width, said.height)
            link.paint = canvas.paint
            fence = max(said.fence, self._computer.fence)
            await link.call("hurry", EmptyReply, timeout=self.health_seconds, fence=fence)
        except BaseException:
            link.close()
            raise
        self._computer.attach(link, GuestScreen(canvas, said.width, said.height), fence, CAPABILITIES)


class WindowsMachine(ComputerMachine):
    """A machine of Windows seen through one lease."""

    async def snapshot(self) -> MachineSnapshot:
        raise UnsupportedAction("this machine goes back to no earlier state")

    async def restore(self, snapshot: MachineSnapshot) -> Observation:
        raise UnsupportedAction("this machine goes back to no earlier state")


class WindowsHost:
    """The machines at these addresses, whose agents know this secret."""

    def __init__(self, data: Path, addresses: Sequence[str], secret: str, revert: Sequence[str] = ()) -> None:
        self.images: tuple[str, ...] = (IMAGE,)
        folder = data / IMAGE
        self._machine_pool = ExternalMachinePool(
            IMAGE, addresses, lambda address: WindowsSandbox(address, secret, revert, folder)
        )
        if not revert:
            logger.warning("no command puts the machines of Windows back: each lease finds what the one before left")

    async def create(self, image: str) -> Sandbox:
        return await self._machine_pool.acquire()

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        return []  # their leases are given back; the next one finds them put back

    async def close(self) -> None:
        await self._machine_pool.close()
