"""Desktops on this machine: each in namespaces of its own, as an unprivileged user, all of it in memory."""

import asyncio
import os
import secrets
import shutil
import socket
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from vm_bridge.drivers.computer import Computer, ComputerMachine, Nothing
from vm_bridge.drivers.computer_frames import FrameMemory
from vm_bridge.drivers.computer_link import GuestLink
from vm_bridge.errors import BridgeError, MachineGone, NoMachine
from vm_bridge.guest.digest import tree_digest
from vm_bridge.hosts.advice import PACKAGES, explain
from vm_bridge.hosts.confine import Confinement, command
from vm_bridge.hosts.firstprocess import FirstProcess
from vm_bridge.hosts.limits import PROCESSES, groups_create, groups_remove, groups_sweep
from vm_bridge.hosts.runtime import RuntimeFolder
from vm_bridge.hosts.usage import usage_of
from vm_bridge.images.build import image_names, image_prepare
from vm_bridge.machine import Machine
from vm_bridge.sandbox import FrameSource, Sandbox, Usage
from vm_bridge.suites import Desk, Suite

WIDTH, HEIGHT = 1280, 720
START_SECONDS = 30.0
STOP_SECONDS = 5.0
HEALTH_SECONDS = 5.0
FIRST_USER = 0x6F000000
"""Where the range of users begins that sandboxes run as when this process is root; far above those in use."""
USERS = 0x10000


class LocalSandbox:
    """One desktop. Its writable layer lives in memory and goes with its last process, so a reset is a new start."""

    def __init__(self, name: str, image: str, folder: Path, sockets: Path, suites: Mapping[str, Suite]) -> None:
        self.id = name
        self.image = image
        self.vnc_socket: Path | None = sockets / "rfb.sock"
        self._memory = FrameMemory(WIDTH, HEIGHT)
        self._computer = Computer(self._memory, suites)
        self.capabilities = self._computer.capabilities
        self.frames: FrameSource | None = self._computer.frames
        self._folder, self._sockets = folder, sockets
        self._user = FIRST_USER + secrets.randbelow(USERS) if os.geteuid() == 0 else None
        self._groups: tuple[Path, ...] = ()
        self._process: asyncio.subprocess.Process | None = None
        self._first: FirstProcess | None = None
        self._changing = asyncio.Lock()
        """Held while the desktop is ended or started, so that there is never a second one."""
        self.destroyed = False

    def bind(self, fencing_token: int) -> Machine:
        return ComputerMachine(self._computer, fencing_token, self._prepare)

    def desk(self, fencing_token: int) -> Desk:
        """The inside, as suites use it."""
        return self._computer.desk(fencing_token)

    @property
    def pid(self) -> int:
        """Its outermost process on this machine. Raises MachineGone when there is none."""
        if self._process is None:
            raise MachineGone(f"machine {self.id} is gone")
        return self._process.pid

    async def start(self) -> None:
        """Raises MachineGone when the guest does not come up, with what it said."""
        ours, theirs = socket.socketpair()
        told, tells = os.pipe()
        self._make_sockets_folder()
        try:
            self._process = await self._spawn(theirs, tells)
        finally:
            theirs.close()
            os.close(tells)
        link = await GuestLink.open(ours)
        self._computer.attach(link)
        try:
            fresh = await link.ready(START_SECONDS)
            self._first = FirstProcess(told)
        except MachineGone as gone:
            raise MachineGone(f"{gone}: {await self._last_words()}") from gone
        finally:
            os.close(told)
        if fresh != tree_digest(self._folder / "home"):
            raise MachineGone("the machine did not start from its image's state")
        if self._user is not None:
            # From now on nobody inside can put something else in the socket's place.
            os.chown(self._sockets, 0, 0)

    async def reset(self) -> None:
        self._computer.end_lease()
        self._hang_up()  # a call that still runs must not keep the next lease waiting
        async with self._changing:
            await self._restart()

    async def healthy(self) -> bool:
        try:
            await self._computer.link.call("ping", Nothing, timeout=HEALTH_SECONDS)
        except BridgeError:
            return False
        return True

    async def usage(self) -> Usage:
        if self._process is None:
            return Usage(pss=0, cpu_seconds=0.0, processes=0)
        return await asyncio.to_thread(usage_of, self._process.pid)

    async def destroy(self) -> None:
        if self.destroyed:
            return
        self.destroyed = True
        self._hang_up()
        async with self._changing:
            await self._stop()
        self._computer.frames.close()
        self._memory.close()
        groups_remove(self._groups)
        shutil.rmtree(self._sockets, ignore_errors=True)

    async def _prepare(self, fencing_token: int) -> None:
        """The reset a lease asks for. Raises StaleLease when that lease has ended meanwhile."""
        async with self._changing:
            # The guest must have seen this token before anything is thrown away.
            await self._computer.hurry(fencing_token)
            await self._restart()

    async def _restart(self) -> None:
        if self.destroyed:
            raise MachineGone(f"machine {self.id} is gone")
        await self._stop()
        await self.start()

    async def _spawn(self, end: socket.socket, info: int) -> asyncio.subprocess.Process:
        confined = Confinement(self._folder, self._sockets, self._user, info, self._groups)
        try:
            return await asyncio.create_subprocess_exec(
                *command(confined, self._arguments(end)),
                pass_fds=(end.fileno(), self._memory.descriptor, info),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
            )
        except FileNotFoundError as error:
            raise MachineGone(f"{error.filename} is not installed; install {PACKAGES}") from error

    def _arguments(self, end: socket.socket) -> list[str]:
        given = {"link": end.fileno(), "memory": self._memory.descriptor, "width": WIDTH, "height": HEIGHT}
        given |= {"fence": self._computer.fence, "processes": PROCESSES}
        return [f"--{name}={value}" for name, value in given.items()]

    def _make_sockets_folder(self) -> None:
        shutil.rmtree(self._sockets, ignore_errors=True)
        self._sockets.mkdir(mode=0o700)
        if self._user is not None:
            os.chown(self._sockets, self._user, self._user)
        if not self._groups:
            self._groups = groups_create(self.id)

    async def _stop(self) -> None:
        """Returns when no process is left. Hanging up ends the guest, and the kernel the rest of the sandbox."""
        process, self._process = self._process, None
        first, self._first = self._first, None
        self._hang_up()
        if process is None:
            return
        try:
            async with asyncio.timeout(STOP_SECONDS):
                await process.communicate()
        except TimeoutError:
            process.kill()
            await process.communicate()
        if first is not None:
            await asyncio.to_thread(first.wait, STOP_SECONDS)

    def _hang_up(self) -> None:
        """Every call to the guest ends, and the guest with it."""
        with suppress(MachineGone):
            self._computer.link.close()

    async def _last_words(self) -> str:
        """What a sandbox that does not start said; for people."""
        process, self._process = self._process, None
        if process is None:
            return ""
        with suppress(ProcessLookupError):
            process.kill()
        _, errors = await process.communicate()
        return explain(errors.decode("utf-8", "replace"))


class LocalHost:
    """Makes desktops on this machine. `data` keeps prepared images; sandboxes themselves store nothing on disk."""

    def __init__(self, data: Path, suites: Mapping[str, Suite] | None = None) -> None:
        self.images = image_names()
        self._data = data
        self._suites = suites or {}
        self._made: list[LocalSandbox] = []
        self._preparing = asyncio.Lock()
        self._runtime: RuntimeFolder | None = None

    async def create(self, image: str) -> Sandbox:
        async with self._preparing:
            runtime, folder = await asyncio.to_thread(self._prepare, image)
        name = f"{image}-{secrets.token_hex(4)}"
        sandbox = LocalSandbox(name, image, folder, runtime.path / name, self._suites)
        self._made = [made for made in self._made if not made.destroyed]
        self._made.append(sandbox)
        try:
            await sandbox.start()
        except BridgeError as error:
            await sandbox.destroy()
            raise NoMachine(str(error)) from error
        return sandbox

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        return []  # a sandbox ends with the process that made it

    def _prepare(self, image: str) -> tuple[RuntimeFolder, Path]:
        if self._runtime is None:
            groups_sweep()
            self._runtime = RuntimeFolder()
        return self._runtime, self._runtime.image(image_prepare(image, self._data))

    async def close(self) -> None:
        for sandbox in self._made:
            await sandbox.destroy()
        self._made.clear()
        if self._runtime is not None:
            self._runtime.remove()
            self._runtime = None
