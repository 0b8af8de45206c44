"""A machine whose inside is a container of the task's own image: the process that drives it, and how both end."""

import asyncio
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Self

import vm_bridge
from vm_bridge.drivers.computer.frames import SharedFrameMemory
from vm_bridge.drivers.computer.guest_link import GuestCapabilities
from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.relay import listen_on_unix_socket
from vm_bridge.hosts.docker.engine import ContainerEngine, memory_of
from vm_bridge.hosts.docker.task_config import MachineLimits
from vm_bridge.hosts.docker.task_io import TASK_KINDS
from vm_bridge.hosts.process_sandbox import (
    ERRORS_FILE,
    ORPHAN_TIMEOUT_SECONDS,
    STOP_SECONDS,
    PreparedImage,
    ProcessSandbox,
    connect_started,
    make_folder,
    read_errors,
)
from vm_bridge.isolation.cgroups import ControlGroups
from vm_bridge.isolation.init_process import InitProcess
from vm_bridge.sandbox import Usage

MAX_WRITTEN_BYTES = 16 * 2**30
"""Most that a container may write onto the engine's disk."""
PACKAGES = Path(vm_bridge.__file__).parents[1]
INHERITED = ("PATH", "HOME", "LANG", "TMPDIR", "DOCKER_HOST")
"""Variables of the bridge that the process needs; none of them is a secret."""
LOCK_FILE = "task-build.lock"


class TaskMachine(ProcessSandbox):
    """Its container is made when a task is prepared, and goes with it."""

    able = GuestCapabilities(TASK_KINDS, ("terminal",), snapshots=False, needs_suite=True)
    engine: ContainerEngine
    name: str

    @classmethod
    async def launch(cls, engine: ContainerEngine, image: PreparedImage, folder: Path, name: str, network: str) -> Self:
        """See `ProcessSandbox.spawn`; `name` is the container's."""
        manifest = image.manifest
        limits = MachineLimits(
            owner=str(folder.parent.parent),
            network=network,
            cores=manifest.cores,
            memory=manifest.memory,
            processes=manifest.processes,
        )
        process = None
        try:
            missing = await asyncio.to_thread(engine.missing)
            make_folder(folder, None)
            process = _launch(folder, name, limits)
            link, memory = await connect_started(image, folder)
        except BaseException as error:
            if process is not None:
                process.kill()
                process.wait(STOP_SECONDS)
            said = read_errors(folder)
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, MachineGone | OSError):
                raise MachineGone(f"{error}: {said}" if said else str(error)) from error
            raise
        machine = cls(folder, ControlGroups((), missing), InitProcess(process.pid), link, memory)
        machine._launcher, machine.engine, machine.name = process, engine, name
        await machine.write_state()
        return machine

    async def usage(self) -> Usage:
        """What the engine counts of the container. One that fills the disk is ended."""
        stats, written = await asyncio.gather(
            asyncio.to_thread(self.engine.stats, self.name), asyncio.to_thread(self.engine.written, self.name)
        )
        if written > MAX_WRITTEN_BYTES:
            self.link.close()
            await asyncio.to_thread(self.engine.remove, self.name)
        cpu = stats.get("cpu_stats", {}).get("cpu_usage", {}).get("total_usage", 0)
        processes = stats.get("pids_stats", {}).get("current", 0)
        return Usage(memory_of(stats), cpu / 1e9, int(processes or 0))

    def _end(self) -> None:
        super()._end()  # first: it must not make a container meanwhile
        with suppress(MachineGone):
            self.engine.remove(self.name)


def _launch(folder: Path, name: str, limits: MachineLimits) -> "subprocess.Popen[bytes]":
    """Start the process that speaks to the engine. Raises OSError."""
    memory = SharedFrameMemory.make()
    try:
        with listen_on_unix_socket(folder / "guest.sock") as listener, (folder / ERRORS_FILE).open("wb") as errors:
            arguments = {
                "listen": listener.fileno(),
                "memory": memory,
                "leash": ORPHAN_TIMEOUT_SECONDS,
                "container": name,
                "limits": limits.model_dump_json(),
                "lock": folder.parent.parent / LOCK_FILE,
            }
            return subprocess.Popen(
                [
                    *(sys.executable, "-m", "vm_bridge.hosts.docker.task_guest"),
                    *(f"--{option}={value}" for option, value in arguments.items()),
                ],
                pass_fds=(listener.fileno(), memory),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env={name: os.environ[name] for name in INHERITED if name in os.environ}
                | {"PYTHONPATH": str(PACKAGES)},
                start_new_session=True,
            )
    finally:
        os.close(memory)
