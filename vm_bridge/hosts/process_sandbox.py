"""One isolated process tree: a guest, and the desktop that it starts on request."""

import asyncio
import os
import select
import shutil
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, Protocol, Self

from pydantic import ValidationError

from protocol.base import FrozenModel
from vm_bridge.drivers.computer.frames import FrameMemory, GuestScreen, SharedFrameMemory
from vm_bridge.drivers.computer.guest_link import EmptyReply, GuestCapabilities, GuestLink, GuestState
from vm_bridge.drivers.computer.tool_catalog import ToolCatalog
from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.machine_io import tree_digest
from vm_bridge.guest.common.relay import listen_on_unix_socket
from vm_bridge.images.build import IMAGES, list_images
from vm_bridge.images.manifest import ImageManifest, missing_applications, read_manifest
from vm_bridge.images.tools import read_services
from vm_bridge.isolation.bubblewrap import SandboxConfig, bubblewrap_command
from vm_bridge.isolation.cgroups import ControlGroups, ResourceLimits
from vm_bridge.isolation.init_process import InitProcess
from vm_bridge.isolation.resource_usage import measure_usage
from vm_bridge.isolation.seccomp import open_filter
from vm_bridge.isolation.start_errors import PACKAGES, explain_start_failure
from vm_bridge.isolation.users import user_free
from vm_bridge.machine import WebProgram
from vm_bridge.sandbox import Usage

START_SECONDS = 30.0
STOP_SECONDS = 10.0
ADOPT_SECONDS = 5.0
ORPHAN_TIMEOUT_SECONDS = 60
"""How long a tree outlives the host that made it, unless another adopts it."""
STATE_FILE, ERRORS_FILE = "tree.json", "errors"
REMOTE_STATE_FILE = "pod.json"
"""In place of the state file, where the processes are on another machine."""


class ProcessSandboxState(FrozenModel):
    """What a later host must know of a tree to adopt it."""

    pid: int
    began: int
    groups: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class PreparedImage:
    """A prepared image: its folder, its manifest, and the digest of the home folder it gives."""

    name: str
    folder: Path
    manifest: ImageManifest
    home: str
    tools: Path | None
    """What is mounted at /image/tools, where the manifest wants it."""
    services: tuple[WebProgram, ...]
    """Web programs it has."""
    tool_catalog: ToolCatalog = field(default_factory=ToolCatalog)
    """What its own MCP servers offer, once a new machine listed it."""

    @classmethod
    def read(cls, name: str, folder: Path, tools: Callable[[], Path]) -> Self:
        """`tools` gives their folder, and is asked only when the image has them. Raises NoMachine."""
        manifest = read_manifest(folder)
        mounted = tools() if manifest.tools else None
        services = read_services(mounted) if mounted is not None else ()
        return cls(name, folder, manifest, tree_digest(folder / "home"), mounted, services)


class GuestTree(ABC):
    """What a desktop on a local host is made of at present: a guest, and the programs it started.

    In its folder lie the sockets by which it is reached: `guest.sock` for the host, `tunnel.sock` for connections to
    programs inside, `display/rfb.sock` for viewers; and the folder `egress`, which is /run/egress inside.
    """

    able: ClassVar[GuestCapabilities | None] = None
    """What its guest can do, where that is not what every guest with or without a screen can."""

    def __init__(self, folder: Path, groups: ControlGroups, link: GuestLink, memory: FrameMemory) -> None:
        self.folder, self.groups, self.link = folder, groups, link
        self.screen: GuestScreen | None = None
        """None before a desktop has started, and where there is none to see."""
        self.fence = 1
        """The lowest fencing token that may act."""
        self._memory = memory
        self._ending: asyncio.Task[None] | None = None

    async def begin(self, *, fence: int, width: int, height: int) -> None:
        """Start the image's desktop at this size, none at zero. Raises MachineGone when it does not come up."""
        try:
            await self.link.call("start", EmptyReply, timeout=START_SECONDS, fence=fence, width=width, height=height)
        except MachineGone as gone:
            raise MachineGone(f"{gone}: {read_errors(self.folder)}") from gone
        if width:
            self.screen = GuestScreen(self._memory, width, height)
        self.fence = fence
        # From now on nothing inside can replace the display's socket.
        if os.geteuid() == 0:
            os.chown(self.folder / "display", 0, 0)

    @abstractmethod
    async def usage(self) -> Usage:
        """What it costs now."""

    async def end(self) -> None:
        """Returns when no process is left. Idempotent. Raises MachineGone when they do not end."""
        if self._ending is None:
            self.link.close()
            self._ending = asyncio.create_task(self._finish())
        await asyncio.shield(self._ending)

    @abstractmethod
    async def _finish(self) -> None:
        """End every process of it, once. Raises MachineGone."""


class ProcessSandbox(GuestTree):
    """Its writable layer lives in memory and goes with its last process."""

    def __init__(
        self, folder: Path, groups: ControlGroups, first: InitProcess, link: GuestLink, memory: SharedFrameMemory
    ) -> None:
        super().__init__(folder, groups, link, memory)
        self.first = first
        self._launcher: subprocess.Popen[bytes] | None = None

    @classmethod
    async def spawn(cls, image: PreparedImage, folder: Path) -> Self:
        """Start a guest that waits for a request to start a desktop. Raises MachineGone with its errors."""
        user = user_free()
        limits = ResourceLimits(image.manifest.cores, image.manifest.memory, image.manifest.processes)
        groups = ControlGroups.create(folder.name, limits)
        told, tells = os.pipe()
        launcher, link = None, None
        try:
            try:
                make_folder(folder, user)
                config = SandboxConfig(
                    image=image.folder,
                    tools=image.tools,
                    display=folder / "display",
                    egress=folder / "egress",
                    user=user,
                    info=tells,
                    groups=groups.paths,
                    environment=image.manifest.environment,
                )
                # Not in a thread: a caller cancelled meanwhile would lose the process.
                launcher = _launch(config, folder, limits.processes, user_namespaces=image.manifest.user_namespaces)
            finally:
                os.close(tells)
            link, memory = await connect_started(image, folder)
            first = InitProcess.told(told)
        except BaseException as error:
            if link is not None:
                link.close()
            said = await asyncio.to_thread(_clean_up, launcher, told, groups, folder)
            if isinstance(error, MachineGone | OSError):
                raise MachineGone(f"{error}: {said}" if said else str(error)) from error
            raise
        os.close(told)
        tree = cls(folder, groups, first, link, memory)
        tree._launcher = launcher
        await tree.write_state()
        return tree

    @classmethod
    async def adopt(cls, folder: Path) -> Self:
        """The tree an earlier host left there. Raises MachineGone when it has ended."""
        state = read_sandbox_state(folder)
        groups = ControlGroups(tuple(map(Path, state.groups)), state.missing)
        first = InitProcess(state.pid, state.began)
        try:
            link, memory, greeting = await _connect(folder, ADOPT_SECONDS)
        except MachineGone:
            first.close()
            raise
        link.pristine = False
        tree = cls(folder, groups, first, link, memory)
        tree.fence = greeting.fence
        if greeting.width:
            tree.screen = GuestScreen(memory, greeting.width, greeting.height)
        return tree

    async def usage(self) -> Usage:
        return await asyncio.to_thread(measure_usage, self.first.pid)

    async def _finish(self) -> None:
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self.first.end(STOP_SECONDS)
        if self._launcher is not None:
            self._launcher.wait(STOP_SECONDS)
        self.groups.remove()
        shutil.rmtree(self.folder, ignore_errors=True)

    async def write_state(self) -> None:
        """Write down what a later host needs to adopt or end it. Raises MachineGone, and then it has ended."""
        state = ProcessSandboxState(
            pid=self.first.pid,
            began=self.first.began,
            groups=tuple(map(str, self.groups.paths)),
            missing=self.groups.missing,
        )
        try:
            write_sandbox_state(self.folder, state)
        except OSError as error:
            await self.end()
            raise MachineGone(str(error)) from error


class ProcessSandboxFactory(Protocol):
    """Makes the sandboxes of one kind of host."""

    images: Mapping[str, str]
    """What its machines are called, and the prepared image that each begins from."""
    apart: str
    """Below its data folder: what keeps its trees apart from those of another kind."""

    async def spawn(self, image: PreparedImage, folder: Path) -> GuestTree:
        """See `ProcessSandbox.spawn`."""
        ...

    async def adopt(self, folder: Path) -> GuestTree:
        """See `ProcessSandbox.adopt`."""
        ...

    def end(self, folder: Path) -> None:
        """See `end_sandbox`."""
        ...


class BubblewrapSandboxFactory:
    """Namespaces made by bubblewrap."""

    apart = ""

    def __init__(self) -> None:
        self.images: Mapping[str, str] = {
            name: name for name in list_images() if not missing_applications(read_manifest(IMAGES / name))
        }

    async def spawn(self, image: PreparedImage, folder: Path) -> ProcessSandbox:
        return await ProcessSandbox.spawn(image, folder)

    async def adopt(self, folder: Path) -> ProcessSandbox:
        return await ProcessSandbox.adopt(folder)

    def end(self, folder: Path) -> None:
        end_sandbox(folder)


def is_alive(folder: Path) -> bool:
    """Whether processes are left of the tree whose folder this is. Those on another machine count as left."""
    if (folder / REMOTE_STATE_FILE).exists():
        return True
    try:
        state = read_sandbox_state(folder)
        InitProcess(state.pid, state.began).close()
    except MachineGone:
        return False
    return True


def end_sandbox(folder: Path) -> None:
    """End the tree an earlier host left there, if it still lives, and remove its folder. Raises MachineGone."""
    with suppress(MachineGone):
        state = read_sandbox_state(folder)
        InitProcess(state.pid, state.began).end(STOP_SECONDS)
        ControlGroups(tuple(map(Path, state.groups)), ()).remove()
    shutil.rmtree(folder, ignore_errors=True)


def write_atomic(path: Path, text: str) -> None:
    """Replace a file atomically. Only its owner can read it: a task may hold the values of secrets."""
    fresh = path.with_suffix(".writing")
    with open(os.open(fresh, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    fresh.replace(path)


def write_sandbox_state(folder: Path, state: ProcessSandboxState) -> None:
    """Write down what a later host needs."""
    write_atomic(folder / STATE_FILE, state.model_dump_json())


def read_sandbox_state(folder: Path) -> ProcessSandboxState:
    """What an earlier host wrote down. Raises MachineGone."""
    try:
        return ProcessSandboxState.model_validate_json((folder / STATE_FILE).read_bytes())
    except (OSError, ValidationError) as error:
        raise MachineGone(f"nothing is known of {folder.name}") from error


def make_folder(folder: Path, user: int | None) -> None:
    """The folder of a new tree; the sandbox's user may pass through it and write to `display` alone."""
    for path, mode in ((folder, 0o711), (folder / "egress", 0o711), (folder / "display", 0o700)):
        path.mkdir()
        path.chmod(mode)
    if user is not None:
        os.chown(folder / "display", user, user)


@contextmanager
def open_inherited(folder: Path) -> Iterator[dict[str, int]]:
    """What every guest starts with, as open descriptors: the sockets it listens on, and the memory for frames."""
    memory = SharedFrameMemory.make()
    try:
        with (
            listen_on_unix_socket(folder / "guest.sock") as guest,
            listen_on_unix_socket(folder / "tunnel.sock") as tunnel,
        ):
            yield {"listen": guest.fileno(), "tunnel": tunnel.fileno(), "memory": memory}
    finally:
        os.close(memory)


def _launch(config: SandboxConfig, folder: Path, processes: int, *, user_namespaces: bool) -> "subprocess.Popen[bytes]":
    """Start the outermost process, with all it inherits. Raises MachineGone."""
    try:
        with (
            open_inherited(folder) as given,
            open_filter(user_namespaces=user_namespaces) as seccomp,
            (folder / ERRORS_FILE).open("wb") as errors,
        ):
            arguments = given | {"processes": processes, "leash": ORPHAN_TIMEOUT_SECONDS}
            return subprocess.Popen(
                bubblewrap_command(
                    replace(config, seccomp=seccomp), [f"--{name}={value}" for name, value in arguments.items()]
                ),
                pass_fds=(*given.values(), config.info, seccomp),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                start_new_session=True,
            )
    except FileNotFoundError as error:
        raise MachineGone(f"{error.filename} is not installed; install {PACKAGES}") from error


async def connect_started(image: PreparedImage, folder: Path) -> tuple[GuestLink, SharedFrameMemory]:
    """A link to a guest that has just been started, and its frames. Raises MachineGone."""
    link, memory, greeting = await _connect(folder, START_SECONDS)
    if greeting.home != image.home:
        link.close()
        raise MachineGone("the machine did not start from its image's state")
    return link, memory


async def _connect(folder: Path, seconds: float) -> tuple[GuestLink, SharedFrameMemory, GuestState]:
    """A link to the guest, its frames and what it said. Raises MachineGone."""
    link, descriptor = await GuestLink.connect(folder / "guest.sock", timeout=seconds)
    try:
        memory = SharedFrameMemory(descriptor)
        return link, memory, await link.ready(seconds)
    except BaseException:
        link.close()
        raise


def _clean_up(launcher: "subprocess.Popen[bytes] | None", told: int, groups: ControlGroups, folder: Path) -> str:
    """Remove a tree that failed to start. Returns its errors."""
    try:
        if launcher is not None:
            launcher.kill()
            launcher.wait(STOP_SECONDS)
            with suppress(MachineGone):  # it ends with its launcher, but later
                if select.select([told], [], [], STOP_SECONDS)[0]:
                    InitProcess.told(told).end(STOP_SECONDS)
    finally:
        os.close(told)
    said = read_errors(folder)
    groups.end(STOP_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)
    return said


def read_errors(folder: Path) -> str:
    """What a guest said on its way; for people."""
    errors = folder / ERRORS_FILE
    return explain_start_failure(errors.read_text(encoding="utf-8", errors="replace")) if errors.exists() else ""
