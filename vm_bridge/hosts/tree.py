"""One tree of processes behind walls of its own: a guest, and the desktop it is told to start."""

import asyncio
import os
import select
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, Self

from pydantic import ValidationError

from vm_bridge.drivers.computer_frames import FrameMemory, Screen
from vm_bridge.drivers.computer_link import Greeting, GuestLink, Nothing
from vm_bridge.errors import MachineGone
from vm_bridge.guest.digest import tree_digest
from vm_bridge.guest.relay import listener_at
from vm_bridge.hosts.advice import PACKAGES, explain
from vm_bridge.hosts.confine import Confinement, command
from vm_bridge.hosts.firstprocess import FirstProcess
from vm_bridge.hosts.limits import Groups, Limits
from vm_bridge.hosts.usage import usage_of
from vm_bridge.hosts.users import user_free
from vm_bridge.images.build import image_names
from vm_bridge.images.manifest import Manifest, manifest_read
from vm_bridge.images.tools import tools_services
from vm_bridge.machine import Service
from vm_bridge.sandbox import Usage
from vm_bridge.seccomp import filter_descriptor
from vocabulary.base import Frozen

START_SECONDS = 30.0
STOP_SECONDS = 10.0
ADOPT_SECONDS = 5.0
LEASH_SECONDS = 60
"""How long a tree outlives the host that made it, unless another adopts it."""
STATE, ERRORS = "tree.json", "errors"


class Standing(Frozen):
    """What a later host must know of a tree to adopt it."""

    pid: int
    began: int
    groups: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Image:
    """A prepared image: its folder, its manifest, and the digest of the home folder it gives."""

    name: str
    folder: Path
    manifest: Manifest
    home: str
    tools: Path | None
    """What is mounted at /image/tools, where the manifest wants it."""
    services: tuple[Service, ...]
    """Web programs it has."""

    @classmethod
    def read(cls, name: str, folder: Path, tools: Callable[[], Path]) -> Self:
        """`tools` gives their folder, and is asked only when the image has them. Raises NoMachine."""
        manifest = manifest_read(folder)
        mounted = tools() if manifest.tools else None
        services = tools_services(mounted) if mounted is not None else ()
        return cls(name, folder, manifest, tree_digest(folder / "home"), mounted, services)


class Tree:
    """Its writable layer lives in memory and goes with its last process.

    In its folder lie the sockets by which it is reached: `guest.sock` for the host, `tunnel.sock` for connections to
    programs inside, `display/rfb.sock` for viewers; and the folder `egress`, which is /run/egress inside.
    """

    def __init__(self, folder: Path, groups: Groups, first: FirstProcess, link: GuestLink, memory: FrameMemory) -> None:
        self.folder, self.groups, self.first, self.link = folder, groups, first, link
        self.screen: Screen | None = None
        """None before a desktop has started, and where there is none to see."""
        self.fence = 1
        """The lowest fencing token that may act."""
        self._memory = memory
        self._keeper: subprocess.Popen[bytes] | None = None
        self._ending: asyncio.Task[None] | None = None

    @classmethod
    async def spawn(cls, image: Image, folder: Path) -> Self:
        """A guest that waits to be told to start a desktop. Raises MachineGone with what it said."""
        user = user_free()
        limits = Limits(image.manifest.cores, image.manifest.memory, image.manifest.processes)
        groups = Groups.create(folder.name, limits)
        told, tells = os.pipe()
        keeper, link = None, None
        try:
            try:
                folder_make(folder, user)
                confined = Confinement(
                    image=image.folder,
                    tools=image.tools,
                    display=folder / "display",
                    egress=folder / "egress",
                    user=user,
                    info=tells,
                    groups=groups.paths,
                )
                # Not in a thread: who is cancelled while one runs would never hear of the process.
                keeper = _launch(confined, folder, limits.processes, user_namespaces=image.manifest.user_namespaces)
            finally:
                os.close(tells)
            link, memory = await reach_fresh(image, folder)
            first = FirstProcess.told(told)
        except BaseException as error:
            if link is not None:
                link.close()
            said = await asyncio.to_thread(_give_up, keeper, told, groups, folder)
            if isinstance(error, MachineGone | OSError):
                raise MachineGone(f"{error}: {said}" if said else str(error)) from error
            raise
        os.close(told)
        tree = cls(folder, groups, first, link, memory)
        tree._keeper = keeper
        await tree.noted()
        return tree

    @classmethod
    async def adopt(cls, folder: Path) -> Self:
        """The tree an earlier host left there. Raises MachineGone when it has ended."""
        standing = standing_of(folder)
        groups = Groups(tuple(map(Path, standing.groups)), standing.missing)
        first = FirstProcess(standing.pid, standing.began)
        try:
            link, memory, greeting = await _reach(folder, ADOPT_SECONDS)
        except MachineGone:
            first.close()
            raise
        tree = cls(folder, groups, first, link, memory)
        tree.fence = greeting.fence
        if greeting.width:
            tree.screen = Screen(memory, greeting.width, greeting.height)
        return tree

    async def begin(self, *, fence: int, width: int, height: int) -> None:
        """Start the image's desktop at this size, none at zero. Raises MachineGone when it does not come up."""
        try:
            await self.link.call("start", Nothing, timeout=START_SECONDS, fence=fence, width=width, height=height)
        except MachineGone as gone:
            raise MachineGone(f"{gone}: {words(self.folder)}") from gone
        if width:
            self.screen = Screen(self._memory, width, height)
        self.fence = fence
        # From now on nobody inside can put something else in the place of the display's socket.
        if os.geteuid() == 0:
            os.chown(self.folder / "display", 0, 0)

    async def usage(self) -> Usage:
        """What it costs now."""
        return await asyncio.to_thread(usage_of, self.first.pid)

    async def end(self) -> None:
        """Returns when no process is left. Idempotent. Raises MachineGone when they do not end."""
        if self._ending is None:
            self.link.close()
            self._ending = asyncio.create_task(asyncio.to_thread(self._end))
        await asyncio.shield(self._ending)

    def _end(self) -> None:
        self.first.end(STOP_SECONDS)
        if self._keeper is not None:
            self._keeper.wait(STOP_SECONDS)
        self.groups.remove()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def noted(self) -> None:
        """Write down what a later host needs to adopt or end it. Raises MachineGone, and then it has ended."""
        standing = Standing(
            pid=self.first.pid,
            began=self.first.began,
            groups=tuple(map(str, self.groups.paths)),
            missing=self.groups.missing,
        )
        try:
            standing_note(self.folder, standing)
        except OSError as error:
            await self.end()
            raise MachineGone(str(error)) from error


class Trees(Protocol):
    """The walls that one kind of host puts around its trees."""

    images: Mapping[str, str]
    """What its machines are called, and the prepared image that each begins from."""
    apart: str
    """Below its data folder: what keeps its trees apart from those of another kind."""

    async def spawn(self, image: Image, folder: Path) -> Tree:
        """See `Tree.spawn`."""
        ...

    async def adopt(self, folder: Path) -> Tree:
        """See `Tree.adopt`."""
        ...

    def end(self, folder: Path) -> None:
        """See `tree_end`."""
        ...


class LocalTrees:
    """Namespaces made by bubblewrap."""

    apart = ""

    def __init__(self) -> None:
        self.images: Mapping[str, str] = {name: name for name in image_names()}

    async def spawn(self, image: Image, folder: Path) -> Tree:
        return await Tree.spawn(image, folder)

    async def adopt(self, folder: Path) -> Tree:
        return await Tree.adopt(folder)

    def end(self, folder: Path) -> None:
        tree_end(folder)


def tree_lives(folder: Path) -> bool:
    """Whether processes are left of the tree whose folder this is."""
    try:
        standing = standing_of(folder)
        FirstProcess(standing.pid, standing.began).close()
    except MachineGone:
        return False
    return True


def tree_end(folder: Path) -> None:
    """End the tree an earlier host left there, if it still lives, and remove its folder. Raises MachineGone."""
    with suppress(MachineGone):
        standing = standing_of(folder)
        FirstProcess(standing.pid, standing.began).end(STOP_SECONDS)
        Groups(tuple(map(Path, standing.groups)), ()).remove()
    shutil.rmtree(folder, ignore_errors=True)


def write_whole(path: Path, text: str) -> None:
    """Write a file so that whoever reads it finds all of it or what was there before."""
    fresh = path.with_suffix(".writing")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def standing_note(folder: Path, standing: Standing) -> None:
    """Write down what a later host needs."""
    write_whole(folder / STATE, standing.model_dump_json())


def standing_of(folder: Path) -> Standing:
    """What an earlier host wrote down. Raises MachineGone."""
    try:
        return Standing.model_validate_json((folder / STATE).read_bytes())
    except (OSError, ValidationError) as error:
        raise MachineGone(f"nothing is known of {folder.name}") from error


def folder_make(folder: Path, user: int | None) -> None:
    """The folder of a new tree; the sandbox's user may pass through it and write to `display` alone."""
    for path, mode in ((folder, 0o711), (folder / "egress", 0o711), (folder / "display", 0o700)):
        path.mkdir()
        path.chmod(mode)
    if user is not None:
        os.chown(folder / "display", user, user)


@contextmanager
def inherited(folder: Path) -> Iterator[dict[str, int]]:
    """What every guest starts with, as open descriptors: the sockets it listens on, and the memory for frames."""
    memory = FrameMemory.make()
    try:
        with listener_at(folder / "guest.sock") as guest, listener_at(folder / "tunnel.sock") as tunnel:
            yield {"listen": guest.fileno(), "tunnel": tunnel.fileno(), "memory": memory}
    finally:
        os.close(memory)


def _launch(confined: Confinement, folder: Path, processes: int, *, user_namespaces: bool) -> "subprocess.Popen[bytes]":
    """Start the outermost process, with all it inherits. Raises MachineGone."""
    try:
        with (
            inherited(folder) as given,
            filter_descriptor(user_namespaces=user_namespaces) as seccomp,
            (folder / ERRORS).open("wb") as errors,
        ):
            arguments = given | {"processes": processes, "leash": LEASH_SECONDS}
            return subprocess.Popen(
                command(replace(confined, seccomp=seccomp), [f"--{name}={value}" for name, value in arguments.items()]),
                pass_fds=(*given.values(), confined.info, seccomp),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
    except FileNotFoundError as error:
        raise MachineGone(f"{error.filename} is not installed; install {PACKAGES}") from error


async def reach_fresh(image: Image, folder: Path) -> tuple[GuestLink, FrameMemory]:
    """A link to a guest that has just been started, and its frames. Raises MachineGone."""
    link, memory, greeting = await _reach(folder, START_SECONDS)
    if greeting.home != image.home:
        link.close()
        raise MachineGone("the machine did not start from its image's state")
    return link, memory


async def _reach(folder: Path, seconds: float) -> tuple[GuestLink, FrameMemory, Greeting]:
    """A link to the guest, its frames and what it said. Raises MachineGone."""
    link, descriptor = await GuestLink.connect(folder / "guest.sock", timeout=seconds)
    try:
        memory = FrameMemory(descriptor)
        return link, memory, await link.ready(seconds)
    except BaseException:
        link.close()
        raise


def _give_up(keeper: "subprocess.Popen[bytes] | None", told: int, groups: Groups, folder: Path) -> str:
    """Leave nothing of a tree that does not come up; what it said."""
    try:
        if keeper is not None:
            keeper.kill()
            keeper.wait(STOP_SECONDS)
            with suppress(MachineGone):  # it ends with its keeper, but later
                if select.select([told], [], [], STOP_SECONDS)[0]:
                    FirstProcess.told(told).end(STOP_SECONDS)
    finally:
        os.close(told)
    said = words(folder)
    groups.end(STOP_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)
    return said


def words(folder: Path) -> str:
    """What a guest said on its way; for people."""
    errors = folder / ERRORS
    return explain(errors.read_text(encoding="utf-8", errors="replace")) if errors.exists() else ""
