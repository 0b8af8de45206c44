"""One leased desktop in a virtual machine. A reset loads a saved state."""

import asyncio
import shutil
import socket
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from protocol.actions.types import Action
from protocol.blobs import BlobRef
from protocol.trajectory.observations import MachineSnapshot, Transition
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.command_log import ActionHistory, StateFingerprint
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.guest_link import EmptyReply
from vm_bridge.drivers.computer.machine import ComputerMachine
from vm_bridge.drivers.task_parameters import parse_screen_size
from vm_bridge.errors import CannotRestore, MachineGone
from vm_bridge.hosts.computer_sandbox import ComputerSandbox
from vm_bridge.hosts.persisted_state import PersistedState, read_state, write_state
from vm_bridge.hosts.qemu.states import WAITING_STATE, PreparedMachine, size_state_name
from vm_bridge.hosts.qemu.virtual_machine import VirtualMachine
from vm_bridge.images.manifest import ImageManifest
from vm_bridge.isolation.resource_usage import measure_usage
from vm_bridge.machine import REACH_SECONDS, Machine
from vm_bridge.network.sandbox_network import SandboxNetwork
from vm_bridge.sandbox import Usage
from vm_bridge.suites import Suite

MAX_SNAPSHOTS = 12
"""States that a person can go back to; each has the machine's memory on disk."""
SNAPSHOT_PREFIX = "kept-"
"""How the names of their states begin."""


class QemuSandbox(ComputerSandbox):
    """`folder` is the machine's own: its states, its sockets, its acts."""

    def __init__(
        self,
        name: str,
        image: str,
        manifest: ImageManifest,
        folder: Path,
        suites: Mapping[str, Suite],
        gate: SandboxNetwork,
    ) -> None:
        super().__init__(name, image, folder, suites)
        self._manifest, self._gate = manifest, gate
        self.vnc_socket = folder / "rfb.sock"
        self._machine: VirtualMachine | None = None
        self._kept: OrderedDict[str, str] = OrderedDict()
        """The states of snapshots, the oldest first, by the snapshot's name."""
        self._numbers = 0

    def bind(self, fencing_token: int) -> Machine:
        return QemuMachine(self._computer, fencing_token, self)

    @property
    def machine(self) -> VirtualMachine:
        """Raises MachineGone when there is none."""
        if self._machine is None or self.destroyed:
            raise MachineGone(f"machine {self.id} is gone")
        return self._machine

    async def begin(self, ready: PreparedMachine) -> None:
        """Raises MachineGone when the machine does not come up, OSError."""
        async with self._changing:
            await asyncio.to_thread(shutil.copyfile, ready.states, self.folder / "states.qcow2")
            self._machine = await VirtualMachine.launch(ready.hardware, self.folder, stopped=True)
            await self._put_back(None)

    async def adopt(self) -> None:
        """Go on with the machine an earlier host left. Its snapshots were that host's, and go. Raises MachineGone."""
        kept = read_state(self.folder)
        async with self._changing:
            machine = self._machine = await VirtualMachine.adopt(self.folder)
            for state in await machine.states():
                if state.startswith(SNAPSHOT_PREFIX):
                    await machine.forget(state)
            self._computer.attach(machine.link, machine.screen, machine.fence)
            self._computer.restored(kept.task)
            await self._let_out(kept.task)

    async def snapshot(self, fencing_token: int) -> MachineSnapshot:
        """Keep the present state. Raises StaleLease."""
        async with self._changing, self._computer.one_at_a_time:
            await self._computer.skip_settle(fencing_token)
            snapshot = self._computer.history.snapshot(StateFingerprint(None))
            self._numbers += 1
            state = f"{SNAPSHOT_PREFIX}{self._numbers}"
            await self.machine.save(state)
            old = self._kept.pop(snapshot.id, None)
            self._kept[snapshot.id] = state
            if old is None and len(self._kept) > MAX_SNAPSHOTS:
                old = self._kept.popitem(last=False)[1]
            if old is not None:
                await self.machine.forget(old)
            return snapshot

    async def restore(self, fencing_token: int, snapshot: MachineSnapshot) -> None:
        """See `SandboxController.restore`."""
        async with self._changing, self._computer.one_at_a_time:
            await self._computer.skip_settle(fencing_token)
            state = self._kept.get(snapshot.id)
            if state is None:
                raise CannotRestore("that state is of another set-up of the machine, or too long ago")
            history, self._computer.history = self._computer.history, ActionHistory()
            await self._load(state)
            history.go_back(snapshot)
            self._computer.history = history

    async def dial(self, port: int) -> socket.socket:
        return await self._gate.dial(port)

    async def usage(self) -> Usage:
        if self._machine is None or self.destroyed:
            return Usage()
        return await asyncio.to_thread(measure_usage, self._machine.first.pid)

    async def _end(self) -> None:
        async with self._changing:
            machine, self._machine = self._machine, None
            if machine is not None:
                await machine.end()
        await self._gate.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _put_back(self, task: Task | None) -> None:
        """To the state of a fresh desktop, of the size a task asks for. Raises MachineGone."""
        width, height = parse_screen_size(task) or (self._manifest.width, self._manifest.height)
        state = size_state_name(width, height)
        for old in self._kept.values():
            await self.machine.forget(old)
        self._kept.clear()
        if state in await self.machine.states():
            await self._load(state)
        else:
            await self.machine.load(WAITING_STATE)
            await self.machine.reach(REACH_SECONDS)
            await self.machine.begin(fence=1, width=width, height=height)
            await self.machine.save(state)
            await self._reached()
        await self._let_out(task)
        write_state(self.folder, PersistedState(image=self.image, task=task))

    async def _let_out(self, task: Task | None) -> None:
        """To what its task allows."""
        await self._gate.attach(self.folder, task.network if task is not None else ())

    async def _load(self, state: str) -> None:
        """Raises MachineGone."""
        await self.machine.load(state)
        await self.machine.reach(REACH_SECONDS)
        await self._reached()

    async def _reached(self) -> None:
        """Drive the guest that is there now, which has forgotten the tokens it saw since its state."""
        machine = self.machine
        await machine.link.call("hurry", EmptyReply, timeout=self.health_seconds, fence=self._computer.fence)
        self._computer.attach(machine.link, machine.screen, self._computer.fence)


class QemuMachine(ComputerMachine):
    """A virtual machine seen through one lease: its snapshots are whole states, not ways back."""

    def __init__(self, computer: ComputerDriver, fence: int, sandbox: QemuSandbox) -> None:
        super().__init__(computer, fence, sandbox)
        self._sandbox = sandbox

    async def snapshot(self) -> MachineSnapshot:
        return await self._sandbox.snapshot(self._fence)

    async def perform(
        self,
        command_id: str,
        action: Action,
        *,
        settle: bool = True,
        snapshot: bool = False,
        expected: BlobRef | None = None,
        wait_for_timers: bool = True,
    ) -> Transition:
        save = self.snapshot if snapshot else None
        return await self._computer.perform(
            self._fence,
            command_id,
            action,
            settle=settle,
            save_state=save,
            expected=expected,
            wait_for_timers=wait_for_timers,
        )
