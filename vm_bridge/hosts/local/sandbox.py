"""One desktop on this machine: a driver, and the tree of processes it drives at present."""

import asyncio
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from protocol.trajectory.observations import MachineSnapshot
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.command_log import ActionHistory, ReplayPath
from vm_bridge.drivers.computer.driver import ComputerDriver
from vm_bridge.drivers.computer.replay import replay
from vm_bridge.drivers.task_parameters import parse_screen_size
from vm_bridge.errors import BridgeError, CannotRestore, MachineGone
from vm_bridge.hosts.computer_sandbox import ComputerSandbox
from vm_bridge.hosts.local.prestarted_sandboxes import PrestartedSandboxes
from vm_bridge.hosts.persisted_state import PersistedState, write_state
from vm_bridge.hosts.process_sandbox import GuestTree, PreparedImage
from vm_bridge.machine import RESTORE_SECONDS, Capabilities
from vm_bridge.network.sandbox_network import SandboxNetwork
from vm_bridge.sandbox import Usage
from vm_bridge.suites import Suite

RFB_SOCKET = "rfb.sock"


class LocalSandbox(ComputerSandbox):
    """A reset puts a new tree in the place of the old one."""

    health_seconds = 4.0

    def __init__(
        self,
        name: str,
        image: PreparedImage,
        folder: Path,
        prestarted: PrestartedSandboxes,
        suites: Mapping[str, Suite],
        gate: SandboxNetwork,
    ) -> None:
        super().__init__(name, image.name, folder, suites)
        self._image, self._prestarted, self._suites, self._gate = image, prestarted, suites, gate
        self._has_screen = image.manifest.width > 0
        if self._has_screen:
            self.vnc_socket = folder / RFB_SOCKET
        else:
            self.frames = None
            # Viewers can act on a screen without the guest, so whether something was done is unknown.
            self._computer.image_tools = image.tool_catalog
        self._tree: GuestTree | None = None
        self._replaying: GuestTree | None = None

    @property
    def capabilities(self) -> Capabilities:
        unbounded = self._tree.groups.missing if self._tree is not None else ()
        told = {"services": self._image.services, "unbounded": unbounded}
        return super().capabilities.model_copy(update=told)

    @property
    def tree(self) -> GuestTree:
        """The present processes; another one after a reset. Raises MachineGone when there are none."""
        if self._tree is None:
            raise MachineGone(f"machine {self.id} is gone")
        return self._tree

    async def adopt(self, tree: GuestTree, task: Task | None) -> None:
        """Go on with the tree an earlier host left, prepared for that task."""
        await self._take(tree, task)
        self._computer.restored(task)

    async def assign(self, task: Task) -> None:
        """Keep the present processes for a task: a later host takes them for prepared. Raises MachineGone."""
        async with self._changing:
            self._note(task)

    async def restore(self, fencing_token: int, snapshot: MachineSnapshot) -> None:
        """A twin is set up like this desktop and does again what was done; only if it ends in the same state does it
        take this one's place. Raises StaleLease; CannotRestore, and then nothing has changed."""
        async with self._changing, self._computer.one_at_a_time:
            await self._computer.skip_settle(fencing_token)
            tree = await self._twin(fencing_token, self._computer.history.path_to(snapshot))
            old, history = self.tree, self._computer.history
            self._computer.history = ActionHistory()
            await self._take(tree, self._computer.task)
            history.go_back(snapshot)
            self._computer.history = history
            self._note(self._computer.task)
            await old.end()
            self._prestarted.refill(self._image)

    async def _twin(self, fence: int, replay_path: ReplayPath) -> GuestTree:
        """A tree in the state that a way leads to. Raises CannotRestore."""
        task, twin = self._computer.task, ComputerDriver(self._suites)
        twin.file_staging = self._computer.file_staging
        try:
            tree = await self._begun(parse_screen_size(task))
        except BridgeError as error:
            raise CannotRestore(f"no second desktop could be started: {error}") from error
        twin.attach(tree.link, tree.screen, tree.fence)
        self._replaying, done = tree, False
        try:
            async with asyncio.timeout(RESTORE_SECONDS):
                if task is not None:
                    await twin.set_up(fence, task)
                await replay(twin, fence, replay_path)
            done = True
        except CannotRestore:
            raise
        except (BridgeError, TimeoutError) as error:
            reason = str(error) or f"it takes longer than {RESTORE_SECONDS:.0f} s"
            raise CannotRestore(f"what was done could not be done again: {reason}") from error
        finally:
            self._replaying = None
            if not done:
                await tree.end()
        return tree

    async def dial(self, port: int) -> socket.socket:
        if self._tree is not None:
            self._tree.link.pristine = False  # a web program inside can write files
        return await self._gate.dial(port)

    async def usage(self) -> Usage:
        if self._tree is None:
            return Usage()
        return await self._tree.usage()

    async def _end(self) -> None:
        async with self._changing:
            tree, self._tree = self._tree, None
            if tree is not None:
                await tree.end()
        await self._gate.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _put_back(self, task: Task | None) -> None:
        """A new tree starts while the old one ends; returns when the one is up and nothing is left of the other."""
        if self.destroyed:
            raise MachineGone(f"machine {self.id} is gone")
        old, self._tree = self._tree, None
        ending = asyncio.create_task(old.end()) if old is not None else None
        new = None
        try:
            new = await self._begun(parse_screen_size(task))
        finally:
            if ending is not None:
                await self._ended(ending, new)
        await self._take(new, task)
        self._note(task)
        self._prestarted.refill(self._image)

    async def _begun(self, size: tuple[int, int] | None) -> GuestTree:
        manifest = self._image.manifest
        width, height = size if size is not None and self._has_screen else (manifest.width, manifest.height)
        tree = await self._prestarted.take(self._image)
        begun = False
        try:
            await tree.begin(fence=self._computer.fence, width=width, height=height)
            begun = True
        finally:
            if not begun:
                await tree.end()
        return tree

    async def _ended(self, ending: "asyncio.Task[None]", successor: GuestTree | None) -> None:
        """Returns when nothing is left of a tree. Raises MachineGone otherwise: then it has no successor either."""
        try:
            await ending
        except MachineGone:
            if successor is not None:
                await successor.end()
            raise

    async def _take(self, tree: GuestTree, task: Task | None) -> None:
        try:
            await self._gate.attach(tree.folder, task.network if task is not None else ())
        except BaseException:
            await tree.end()
            raise
        self._tree = tree
        self._computer.attach(tree.link, tree.screen, tree.fence, tree.able)

    def _note(self, task: Task | None) -> None:
        """Write down what a later host needs; viewers find the new display under the same name."""
        write_state(self.folder, PersistedState(image=self.image, tree=self.tree.folder.name, task=task))
        if self.vnc_socket is not None:
            fresh = self.folder / f"{RFB_SOCKET}.writing"
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(self.tree.folder / "display" / RFB_SOCKET)
            fresh.replace(self.vnc_socket)

    def _hang_up(self) -> None:
        """Every call to the guest ends, and to that of a twin."""
        super()._hang_up()
        if self._replaying is not None:
            self._replaying.link.close()
