"""One container with a sandbox inside: the same guest over the same sockets, isolated by a container engine."""

import asyncio
import json
import os
import re
import select
import shutil
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from protocol.harbor.dockerfile import CONTAINER_IMAGE
from vm_bridge.drivers.computer.frames import SharedFrameMemory
from vm_bridge.drivers.computer.guest_link import GuestLink
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.docker.engine import LABEL, ContainerEngine
from vm_bridge.hosts.docker.task_machine import TaskMachine
from vm_bridge.hosts.process_sandbox import (
    ERRORS_FILE,
    ORPHAN_TIMEOUT_SECONDS,
    START_SECONDS,
    PreparedImage,
    ProcessSandbox,
    connect_started,
    end_sandbox,
    make_folder,
    open_inherited,
    read_errors,
)
from vm_bridge.images.build import make_readable
from vm_bridge.isolation.bubblewrap import ENVIRONMENT, HOME, USER_ID, WRITABLE
from vm_bridge.isolation.cgroups import ControlGroups
from vm_bridge.isolation.init_process import InitProcess
from vm_bridge.isolation.users import user_free
from vm_bridge.sandbox import Usage

IMAGE = "desktop-container"
SYSTEM_IMAGE = "pilothouse-sandbox"
"""The engine's image that docker/sandbox/Dockerfile makes."""
PREFIX = "pilothouse-"
COMMAND = ["/usr/bin/python3", "-s", "-m", "vm_bridge.guest.linux.container_init"]
START_SOCKET = "start"
"""The folder through which the first process is given what it needs; empty from then on."""
ACCOUNT_FILES = ("passwd", "group")
"""Files of the image's /etc with the user's number in them."""
CHROMIUM_CONFIG = "chromium.d/container"
UNSANDBOXED_FLAGS = 'export CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox --test-type"\n'
"""The engine's isolation does not let a browser create its own sandbox."""
MODES = {HOME: "0700", "/tmp": "1777", "/run": "0755", "/var/tmp": "1777"}
"""What can be written, in memory; /dev/shm too, which the engine makes."""


class DockerSandboxFactory:
    """Containers made by an engine on this machine: desktops of its image `system`, and those of tasks, which may have
    its `network`."""

    images: Mapping[str, str] = {IMAGE: "desktop", CONTAINER_IMAGE: "terminal"}
    apart = "containers"

    def __init__(self, engine: ContainerEngine, system: str = SYSTEM_IMAGE, network: str = "") -> None:
        self._engine, self._system, self._network = engine, system, network

    async def spawn(self, image: PreparedImage, folder: Path) -> ProcessSandbox:
        if image.name == CONTAINER_IMAGE:
            return await TaskMachine.launch(self._engine, image, folder, PREFIX + folder.name, self._network)
        return await Container.launch(self._engine, self._system, image, folder)

    async def adopt(self, folder: Path) -> ProcessSandbox:
        if folder.name.startswith(f"{CONTAINER_IMAGE}-"):
            machine = await TaskMachine.adopt(folder)
            machine.engine, machine.name = self._engine, PREFIX + folder.name
            return machine
        container = await Container.adopt(folder)
        container.engine = self._engine
        return container

    def end(self, folder: Path) -> None:
        """End the container an earlier host left there, if it still lives; its folder goes too."""
        if folder.name.startswith(f"{CONTAINER_IMAGE}-"):
            end_sandbox(folder)  # first: it must not make a container meanwhile
        with suppress(MachineGone):
            self._engine.remove(PREFIX + folder.name)
        with suppress(PermissionError):  # whom only the engine may end it finds by its label, once it answers
            end_sandbox(folder)
        shutil.rmtree(folder, ignore_errors=True)


class Container(ProcessSandbox):
    """A process sandbox whose isolation, limits and end are the engine's."""

    engine: ContainerEngine

    @classmethod
    async def launch(cls, engine: ContainerEngine, system: str, image: PreparedImage, folder: Path) -> Self:
        """See `ProcessSandbox.spawn`."""
        free = user_free()
        user = os.geteuid() if free is None else free
        try:
            missing = await asyncio.to_thread(engine.missing)
            first = await _launch_uncancelled(engine, system, image, folder, user)
            link, memory = await _connect(image, folder, first)
        except BaseException as error:
            said = await asyncio.to_thread(_give_up, engine, folder)
            if isinstance(error, MachineGone | OSError):
                raise MachineGone(f"{error}: {said}" if said else str(error)) from error
            raise
        container = cls(folder, ControlGroups((), missing), first, link, memory)
        container.engine = engine
        await container.write_state()
        return container

    @property
    def name(self) -> str:
        """As the engine knows it."""
        return PREFIX + self.folder.name

    async def usage(self) -> Usage:
        """Memory is what the engine counts, which every user may ask for; the rest every user may see."""
        memory, usage = await asyncio.gather(asyncio.to_thread(self.engine.memory, self.name), super().usage())
        return replace(usage, pss=memory)

    def _end(self) -> None:
        with suppress(MachineGone):  # whether its processes have ended, the kernel says
            self.engine.remove(self.name)
        try:
            super()._end()
        except PermissionError as error:
            raise MachineGone("processes of the container do not end") from error


def _make_folders(image: PreparedImage, folder: Path, user: int) -> None:
    make_folder(folder, user if os.geteuid() == 0 else None)
    (folder / START_SOCKET).mkdir()
    (folder / START_SOCKET).chmod(0o711)
    etc = folder / "etc"
    shutil.copytree(image.folder / "etc", etc)
    for name in ACCOUNT_FILES:
        named = (etc / name).read_text(encoding="utf-8")
        (etc / name).write_text(re.sub(rf"\b{USER_ID}\b", str(user), named), encoding="utf-8")
    (etc / CHROMIUM_CONFIG).write_text(UNSANDBOXED_FLAGS, encoding="utf-8")
    make_readable(etc)


def _give_up(engine: ContainerEngine, folder: Path) -> str:
    """Remove a container that failed to start. Returns its errors."""
    with suppress(MachineGone):
        engine.remove(PREFIX + folder.name)
    said = read_errors(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return said


async def _launch_uncancelled(
    engine: ContainerEngine, system: str, image: PreparedImage, folder: Path, user: int
) -> InitProcess:
    """See `_launch`. A cancelled caller waits for it, because its thread continues and its container must be
    removed."""
    launching = asyncio.ensure_future(asyncio.to_thread(_launch, engine, system, image, folder, user))
    try:
        return await asyncio.shield(launching)
    except asyncio.CancelledError:
        with suppress(MachineGone, OSError):
            (await launching).close()
        raise


async def _connect(image: PreparedImage, folder: Path, first: InitProcess) -> tuple[GuestLink, SharedFrameMemory]:
    try:
        return await connect_started(image, folder)
    except BaseException:
        first.close()
        raise


def _launch(engine: ContainerEngine, system: str, image: PreparedImage, folder: Path, user: int) -> InitProcess:
    """Start the container and give its first process what it needs. Raises MachineGone, OSError."""
    _make_folders(image, folder, user)
    with (
        socket.socket(socket.AF_UNIX) as listener,
        open_inherited(folder) as given,
        (folder / ERRORS_FILE).open("wb") as errors,
    ):
        start = folder / START_SOCKET / "start.sock"
        listener.bind(str(start))
        start.chmod(0o666)  # the sandbox is another user; no other user can reach the folder
        listener.listen(1)
        pid = engine.start(PREFIX + folder.name, container_config(system, image, folder, user))
        first = InitProcess(pid)
        try:
            _send_descriptors(listener, pid, [*given.values(), errors.fileno()])
        except MachineGone:
            first.close()
            raise
        finally:
            start.unlink()
    return first


def _send_descriptors(listener: socket.socket, pid: int, descriptors: list[int]) -> None:
    """Raises MachineGone when the first process ends, or does not come."""
    try:
        process = os.pidfd_open(pid)
        try:
            ready, _, _ = select.select([listener.fileno(), process], [], [], START_SECONDS)
        finally:
            os.close(process)
        if listener.fileno() not in ready:
            raise MachineGone("the container ended as it started" if ready else "the container did not start")
        come, _ = listener.accept()
        with come:
            socket.send_fds(come, [json.dumps({"leash": ORPHAN_TIMEOUT_SECONDS}).encode()], descriptors)
    except OSError as error:
        raise MachineGone("the container ended as it started") from error


def container_config(system: str, image: PreparedImage, folder: Path, user: int) -> dict[str, Any]:
    """The engine's configuration of one container: identity, mounts and rights."""
    manifest = image.manifest
    seen = {
        image.folder: "/image",
        folder / START_SOCKET: "/run/host",
        folder / "egress": "/run/egress",
        **{path: f"/etc/{path.name}" for path in sorted((folder / "etc").iterdir())},
        **({image.tools: "/image/tools"} if image.tools is not None else {}),
    }
    return {
        "Image": system,
        "Cmd": COMMAND,
        "User": f"{user}:{user}",
        "Hostname": "desktop",
        "WorkingDir": HOME,
        "Env": [f"{name}={value}" for name, value in ENVIRONMENT.items()],
        # By this a later bridge finds what one that was killed left.
        "Labels": {LABEL: str(folder.parent.parent)},
        "HostConfig": {
            "NetworkMode": "none",
            "IpcMode": "private",
            "ReadonlyRootfs": True,
            "CapDrop": ["ALL"],
            "SecurityOpt": ["no-new-privileges:true"],
            "AutoRemove": True,
            "LogConfig": {"Type": "none"},
            "NanoCpus": round(manifest.cores * 1e9),
            "Memory": manifest.memory,
            "MemorySwap": manifest.memory,
            "PidsLimit": manifest.processes,
            "ShmSize": WRITABLE["/dev/shm"],
            "Tmpfs": {path: _tmpfs(path, mode, user) for path, mode in MODES.items()},
            "Binds": [*(f"{path}:{where}:ro" for path, where in seen.items()), f"{folder / 'display'}:/run/vnc:rw"],
        },
    }


def _tmpfs(path: str, mode: str, user: int) -> str:
    size = WRITABLE[path] if path in WRITABLE else WRITABLE["/var"]
    return f"rw,exec,nosuid,nodev,size={size},mode={mode},uid={user},gid={user}"
