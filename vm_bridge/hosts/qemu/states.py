"""What every virtual machine of an image begins with: the disk with the guest, and the states after the first boot."""

import asyncio
import hashlib
import logging
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.guest.common.machine_io import tree_digest
from vm_bridge.hosts.qemu.virtual_machine import (
    BOOT_SECONDS,
    Hardware,
    VirtualMachine,
    create_states_disk,
    list_accelerators,
    qemu_command,
    qemu_version,
)
from vm_bridge.images.build import GUEST_PYTHON, PACKAGE, prepare_image, run_step
from vm_bridge.images.manifest import ImageManifest, read_manifest
from vm_bridge.virtual.base_image import prepare_base_image

logger = logging.getLogger(__name__)

IMAGE = "desktop"
"""The image that runs inside: the same as on a host without virtual machines."""
SOURCES = tuple(
    PACKAGE / folder / f"{name}.py"
    for folder, names in (
        ("virtual", ("__init__", "multiplexer", "handshake", "guest_init")),
        ("isolation", ("__init__", "bubblewrap")),
    )
    for name in names
)
"""What runs in a virtual machine beside the guest."""
WAITING_STATE = "waiting"
"""The state in which the guest waits for the screen size."""
DISK_MIB = 192


@dataclass(frozen=True)
class PreparedMachine:
    """All that a machine begins with. `states` is copied for each: it has `WAITING_STATE`, and one
    named by the screen's size."""

    hardware: Hardware
    manifest: ImageManifest
    home: str
    states: Path


def size_state_name(width: int, height: int) -> str:
    """The name of the state in which a desktop of this size has come to rest."""
    return f"{width}x{height}"


async def prepare_states(data: Path, disks: Path, memory: int) -> PreparedMachine:
    """Made on first use under `disks`, by booting: minutes without KVM. `data` has the prepared images.

    Raises NoMachine.
    """
    base = await asyncio.to_thread(prepare_base_image, disks)
    folder = await asyncio.to_thread(prepare_image, IMAGE, data)
    disk = await asyncio.to_thread(_make_disk, folder, base.folder.parent)
    manifest, home = read_manifest(folder), tree_digest(folder / "home")
    made = [Hardware(base, disk, accelerator, memory) for accelerator in list_accelerators()]
    could_be = [PreparedMachine(each, manifest, home, disk.with_name(_states_name(each))) for each in made]
    for ready in could_be:
        if ready.states.exists():
            return ready
    problems = []
    for ready in could_be:
        accelerator = ready.hardware.accelerator
        try:
            await _create_states(ready)
        except MachineGone as gone:
            logger.warning("no virtual machine runs by %s here: %s", accelerator, gone)
            problems.append(f"{accelerator}: {gone}")
        else:
            return ready
    raise NoMachine(f"no virtual machine could be started: {'; '.join(problems)}")


async def _create_states(ready: PreparedMachine) -> None:
    """Make the states. Raises MachineGone."""
    manifest, accelerator = ready.manifest, ready.hardware.accelerator
    logger.info("booting the first virtual machine by %s, once", accelerator)
    with tempfile.TemporaryDirectory(prefix="pilothouse-boot-") as scratch:
        folder = Path(scratch)
        await asyncio.to_thread(create_states_disk, folder / "states.qcow2")
        machine = await VirtualMachine.launch(ready.hardware, folder, stopped=False)
        try:
            greeting = await machine.reach(BOOT_SECONDS[accelerator])
            if greeting.home != ready.home:
                raise MachineGone("the machine did not start from its image's state")
            await machine.save(WAITING_STATE)
            await machine.begin(fence=1, width=manifest.width, height=manifest.height)
            await machine.save(size_state_name(manifest.width, manifest.height))
        finally:
            await machine.end()
        await asyncio.to_thread(_publish, folder / "states.qcow2", ready.states)


def _publish(made: Path, states: Path) -> None:
    """Whoever finds the file finds all of it; what it replaces, of other sources, goes."""
    fresh = states.with_suffix(".writing")
    try:
        shutil.copyfile(made, fresh)
        fresh.rename(states)
    except OSError:  # as on a full disk, of which a part of the file would keep what is left
        fresh.unlink(missing_ok=True)
        raise
    _remove_older(states)


def _remove_older(made: Path) -> None:
    """Remove what was made like this before. Machines that run hold what they use."""
    for other in made.parent.glob(f"{made.stem.rpartition('-')[0]}-*{made.suffix}"):
        if other != made:
            other.unlink(missing_ok=True)


def _make_disk(image: Path, disks: Path) -> Path:
    """The prepared image and what runs beside the guest, as a disk."""
    sums = hashlib.sha256(image.name.encode())
    for path in SOURCES:
        sums.update(path.name.encode() + path.read_bytes())
    disk = disks / f"{IMAGE}-{sums.hexdigest()[:16]}.img"
    if not disk.exists():
        with tempfile.TemporaryDirectory(prefix=".disk-", dir=disk.parent) as scratch:
            root, made = Path(scratch) / "image", Path(scratch) / "disk"
            shutil.copytree(image, root, symlinks=True)
            for path in SOURCES:
                target = root / "site" / "vm_bridge" / path.relative_to(PACKAGE)
                target.parent.mkdir(exist_ok=True)
                shutil.copyfile(path, target)
            run_step(
                GUEST_PYTHON, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(root / "site")
            )
            features = ("-t", "ext4", "-O", "^has_journal", "-m", "0")
            run_step("mke2fs", "-q", *features, "-d", str(root), str(made), f"{DISK_MIB}M")
            made.rename(disk)
        _remove_older(disk)
    return disk


def _states_name(hardware: Hardware) -> str:
    """A state is good for the same machine only, down to the version that runs it."""
    told = (
        hardware.base.folder.name,
        hardware.image.name,
        qemu_version(),
        qemu_command(hardware, Path(), 0, stopped=False),
    )
    return (
        f"states-{hardware.accelerator}-{hardware.memory}-{hashlib.sha256(repr(told).encode()).hexdigest()[:16]}.qcow2"
    )
