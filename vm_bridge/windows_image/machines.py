"""Starts machines from a made image, each on a disk of its own, and keeps the state that leases begin with."""

import asyncio
import json
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.qemu.qmp import QmpClient, QmpError
from vm_bridge.hosts.qemu_revert import STATE
from vm_bridge.windows_image.agent import AgentCheck
from vm_bridge.windows_image.errors import ImageError
from vm_bridge.windows_image.settings import DISK_FILE, MANIFEST_FILE, SECRET_FILE, Screen
from vm_bridge.windows_image.virtual_machine import Hardware, check_host, create_disk

MACHINES_FOLDER = "machines"
"""Below the image: `PORT.qcow2`, and `PORT.sock`, by which a machine is put back."""
BOOT_SECONDS, REST_SECONDS, STATE_SECONDS = 900.0, 60.0, 600.0
"""Longest until the agent answers; how long Windows then settles before its state is kept; longest for keeping it."""
POLL_SECONDS = 2.0
START_SECONDS = 60


@dataclass(frozen=True)
class MadeImage:
    """A folder that `make_image` made."""

    folder: Path
    manifest: dict[str, Any]
    secret: str

    @classmethod
    def read(cls, folder: Path) -> "MadeImage":
        """Raises ImageError."""
        try:
            manifest = json.loads((folder / MANIFEST_FILE).read_text())
            return cls(folder.resolve(), manifest, (folder / SECRET_FILE).read_text())
        except (OSError, ValueError) as error:
            raise ImageError("image_missing", f"{folder} is no made image: {error}") from error

    @property
    def machines(self) -> Path:
        """Where the machines' disks and sockets lie."""
        return self.folder / MACHINES_FOLDER

    def hardware(self, port: int, qemu: str, *, accelerated: bool) -> Hardware:
        """The PC behind a port."""
        width, height = self.manifest["screen"]
        return Hardware(
            qemu=qemu,
            disk=self.machines / f"{port}.qcow2",
            screen=Screen(width, height),
            memory_mib=self.manifest["memory_mib"],
            cores=self.manifest["cores"],
            accelerated=accelerated,
            port=port,
        )


async def start_machines(
    image: MadeImage,
    ports: Sequence[int],
    say: Callable[[str], None],
    *,
    qemu: str = "qemu-system-x86_64",
    qemu_img: str = "qemu-img",
    needs_kvm: bool = True,
) -> None:
    """Start a machine behind each port of the loopback, and keep its state as `ready`. Raises ImageError.

    A machine that does not come up is ended; those before it run on.
    """
    check_host((qemu, qemu_img), needs_kvm=needs_kvm)
    image.machines.mkdir(mode=0o700, exist_ok=True)
    for port in ports:
        control = image.machines / f"{port}.sock"
        if await _is_running(control):
            say(f"{port}: runs already")
            continue
        hardware = image.hardware(port, qemu, accelerated=needs_kvm)
        create_disk(qemu_img, hardware.disk, backing=image.folder / DISK_FILE)
        control.unlink(missing_ok=True)
        _launch(hardware, control)
        try:
            await _prepare(image, hardware, control)
        except BaseException:
            await stop_machine(image, port)
            raise
        say(f"{port}: ready")


async def stop_machine(image: MadeImage, port: int) -> bool:
    """End a machine and remove its disk; whether it ran."""
    control = image.machines / f"{port}.sock"
    running = await _is_running(control)
    if running:
        with suppress(MachineGone):  # it ends before it answers
            qmp = await QmpClient.connect(control)
            await qmp.ask("quit")
            qmp.close()
    for name in (f"{port}.sock", f"{port}.qcow2", f"{port}.log"):
        (image.machines / name).unlink(missing_ok=True)
    return running


def bridge_settings(image: MadeImage, ports: Sequence[int]) -> list[str]:
    """The bridge's settings for these machines, as lines of an environment file."""
    return [
        f"PILOTHOUSE_WINDOWS={','.join(f'127.0.0.1:{port}' for port in ports)}",
        f"PILOTHOUSE_WINDOWS_SECRET={image.secret}",
        f"PILOTHOUSE_WINDOWS_REVERT=python -m vm_bridge.hosts.qemu_revert {image.machines}",
    ]


def _launch(hardware: Hardware, control: Path) -> None:
    """Start QEMU as a process of its own. Raises ImageError."""
    command = [*hardware.command(control, control.with_suffix(".log")), "-daemonize"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=START_SECONDS)
    if done.returncode != 0:
        raise ImageError("start_failed", f"QEMU did not start: {done.stderr.strip()[-500:]}")


async def _prepare(image: MadeImage, hardware: Hardware, control: Path) -> None:
    """Raises ImageError."""
    check = AgentCheck(hardware.port, image.secret, hardware.screen)
    ends = time.monotonic() + BOOT_SECONDS
    while (problem := await check.problem()) is not None:
        if time.monotonic() > ends:
            raise ImageError("agent_not_reached", problem)
        await asyncio.sleep(POLL_SECONDS)
    await asyncio.sleep(REST_SECONDS)
    try:
        qmp = await QmpClient.connect(control)
        try:
            await qmp.do("snapshot-save", seconds=STATE_SECONDS, tag=STATE, vmstate="disk", devices=["disk"])
        finally:
            qmp.close()
    except (MachineGone, QmpError) as error:
        raise ImageError("start_failed", f"the state cannot be kept: {error}") from error


async def _is_running(control: Path) -> bool:
    try:
        (await QmpClient.connect(control)).close()
    except MachineGone:
        return False
    return True
