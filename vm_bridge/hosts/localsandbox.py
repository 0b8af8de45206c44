"""One desktop on this machine: a driver, and the tree of processes it drives at present."""

import asyncio
import shutil
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from vm_bridge.drivers.computer import Computer, ComputerMachine
from vm_bridge.drivers.computer_link import Nothing
from vm_bridge.drivers.computer_task import screen_of
from vm_bridge.drivers.history import History, Way
from vm_bridge.errors import BridgeError, CannotRestore, MachineGone
from vm_bridge.hosts.nursery import Nursery
from vm_bridge.hosts.tree import Image, Tree, write_whole
from vm_bridge.machine import Capabilities, Machine, Snapshot
from vm_bridge.network.gate import Gate
from vm_bridge.sandbox import FrameSource, Usage
from vm_bridge.suites import Desk, Suite
from vocabulary.base import Frozen
from vocabulary.tasks import Task

HEALTH_SECONDS = 4.0
RESTORE_SECONDS = 120.0
"""Longest that making an earlier state again may take."""
STATE, RFB = "machine.json", "rfb.sock"


class Kept(Frozen):
    """What a later host must know of a sandbox to adopt it."""

    image: str
    tree: str
    task: Task | None


class LocalSandbox:
    """A reset puts a new tree in the place of the old one. In `folder` lies what outlives this process."""

    def __init__(
        self, name: str, image: Image, folder: Path, nursery: Nursery, suites: Mapping[str, Suite], gate: Gate
    ) -> None:
        self.id, self.image, self.folder = name, image.name, folder
        self._image, self._nursery = image, nursery
        self._computer, self._suites = Computer(suites, folder), suites
        self._has_screen = image.manifest.width > 0
        self.vnc_socket: Path | None = folder / RFB if self._has_screen else None
        self.frames: FrameSource | None = self._computer.frames if self._has_screen else None
        self._gate = gate
        self._tree: Tree | None = None
        self._replaying: Tree | None = None
        self._changing = asyncio.Lock()
        """Held while the tree is replaced, so that there is never a second one."""
        self.destroyed = False

    @property
    def capabilities(self) -> Capabilities:
        unbounded = self._tree.groups.missing if self._tree is not None else ()
        told = {"services": self._image.services, "unbounded": unbounded}
        return self._computer.capabilities.model_copy(update=told)

    def bind(self, fencing_token: int) -> Machine:
        return ComputerMachine(self._computer, fencing_token, self)

    def desk(self, fencing_token: int) -> Desk:
        """The inside, as suites use it."""
        return self._computer.desk(fencing_token)

    @property
    def tree(self) -> Tree:
        """The present processes; another one after a reset. Raises MachineGone when there are none."""
        if self._tree is None:
            raise MachineGone(f"machine {self.id} is gone")
        return self._tree

    @property
    def fence(self) -> int:
        """The lowest fencing token that may act."""
        return self._computer.fence

    @property
    def task(self) -> Task | None:
        """What it was last prepared for."""
        return self._computer.task

    async def start(self) -> None:
        """Raises MachineGone when the desktop does not come up."""
        async with self._changing:
            await self._replace(None)

    async def adopt(self) -> None:
        """Go on with the tree an earlier host left. Raises MachineGone."""
        kept = _kept(self.folder)
        await self._take(await self._nursery.trees.adopt(self._nursery.folder / kept.tree), kept.task)
        self._computer.restored(kept.task)

    async def prepare(self, fencing_token: int, task: Task) -> None:
        """The reset a lease asks for. Raises StaleLease when that lease has ended meanwhile."""
        async with self._changing:
            # The guest must have seen this token before anything is thrown away.
            await self._computer.hurry(fencing_token)
            await self._replace(task)

    async def restore(self, fencing_token: int, snapshot: Snapshot) -> None:
        """A twin is set up like this desktop and does again what was done; only if it ends in the same state does it
        take this one's place. Raises StaleLease; CannotRestore, and then nothing has changed."""
        async with self._changing, self._computer.one_at_a_time:
            await self._computer.hurry(fencing_token)
            tree = await self._twin(fencing_token, self._computer.history.way_to(snapshot))
            old, history = self.tree, self._computer.history
            self._computer.history = History()
            await self._take(tree, self._computer.task)
            history.go_back(snapshot)
            self._computer.history = history
            self._note(self._computer.task)
            await old.end()
            self._nursery.refill(self._image)

    async def _twin(self, fence: int, way: Way) -> Tree:
        """A tree in the state that a way leads to. Raises CannotRestore."""
        task, twin = self._computer.task, Computer(self._suites)
        twin.cargo = self._computer.cargo
        try:
            tree = await self._begun(screen_of(task))
        except BridgeError as error:
            raise CannotRestore(f"no second desktop could be started: {error}") from error
        twin.attach(tree.link, tree.screen, tree.fence)
        self._replaying, done = tree, False
        try:
            async with asyncio.timeout(RESTORE_SECONDS):
                if task is not None:
                    await twin.set_up(fence, task)
                await twin.replay(fence, way)
            done = True
        except CannotRestore:
            raise
        except (BridgeError, TimeoutError) as error:
            raise CannotRestore(f"what was done could not be done again: {error or 'it took too long'}") from error
        finally:
            self._replaying = None
            if not done:
                await tree.end()
        return tree

    async def reset(self) -> None:
        self._computer.end_lease()
        self._hang_up()  # a call that still runs must not keep the next lease waiting
        async with self._changing:
            await self._replace(None)

    async def healthy(self) -> bool:
        if self._changing.locked():
            return True  # it starts again, which has a bound of its own
        try:
            await self._computer.link.call("ping", Nothing, timeout=HEALTH_SECONDS)
        except BridgeError:
            return False
        return True

    async def dial(self, port: int) -> socket.socket:
        return await self._gate.dial(port)

    async def usage(self) -> Usage:
        if self._tree is None:
            return Usage(pss=0, cpu_seconds=0.0, processes=0)
        return await self._tree.usage()

    async def destroy(self) -> None:
        if self.destroyed:
            return
        self.destroyed = True
        self._hang_up()
        async with self._changing:
            tree, self._tree = self._tree, None
            if tree is not None:
                await tree.end()
        await self._gate.close()
        self._computer.frames.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def _replace(self, task: Task | None) -> None:
        """A new tree starts while the old one ends; returns when the one is up and nothing is left of the other."""
        if self.destroyed:
            raise MachineGone(f"machine {self.id} is gone")
        old, self._tree = self._tree, None
        ending = asyncio.create_task(old.end()) if old is not None else None
        new = None
        try:
            new = await self._begun(screen_of(task))
        finally:
            if ending is not None:
                await self._ended(ending, new)
        await self._take(new, task)
        self._note(task)
        self._nursery.refill(self._image)

    async def _begun(self, size: tuple[int, int] | None) -> Tree:
        manifest = self._image.manifest
        width, height = size if size is not None and self._has_screen else (manifest.width, manifest.height)
        tree = await self._nursery.take(self._image)
        begun = False
        try:
            await tree.begin(fence=self._computer.fence, width=width, height=height)
            begun = True
        finally:
            if not begun:
                await tree.end()
        return tree

    async def _ended(self, ending: "asyncio.Task[None]", successor: Tree | None) -> None:
        """Returns when nothing is left of a tree. Raises MachineGone otherwise: then it has no successor either."""
        try:
            await ending
        except MachineGone:
            if successor is not None:
                await successor.end()
            raise

    async def _take(self, tree: Tree, task: Task | None) -> None:
        await self._gate.attach(tree.folder, task.network if task is not None else ())
        self._tree = tree
        self._computer.attach(tree.link, tree.screen, tree.fence)

    def _note(self, task: Task | None) -> None:
        """Write down what a later host needs; viewers find the new display under the same name."""
        kept = Kept(image=self.image, tree=self.tree.folder.name, task=task)
        write_whole(self.folder / STATE, kept.model_dump_json())
        if self.vnc_socket is not None:
            fresh = self.folder / f"{RFB}.writing"
            fresh.unlink(missing_ok=True)
            fresh.symlink_to(self.tree.folder / "display" / RFB)
            fresh.replace(self.vnc_socket)

    def _hang_up(self) -> None:
        """Every call to the guest ends, and to that of a twin."""
        with suppress(MachineGone):
            self._computer.link.close()
        if self._replaying is not None:
            self._replaying.link.close()


def sandbox_image(folder: Path) -> str:
    """The image of a sandbox an earlier host left there. Raises MachineGone."""
    return _kept(folder).image


def _kept(folder: Path) -> Kept:
    try:
        return Kept.model_validate_json((folder / STATE).read_bytes())
    except (OSError, ValidationError) as error:
        raise MachineGone(f"nothing is known of {folder.name}") from error
