"""One QEMU with Windows: its command line, its control socket, and what Windows says on its serial line."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vm_bridge.errors import MachineGone
from vm_bridge.hosts.qemu.qmp import QmpClient, QmpError
from vm_bridge.windows_image.errors import ImageError
from vm_bridge.windows_image.guest_files import PREFIX
from vm_bridge.windows_image.settings import AGENT_PORT, Screen

KVM = Path("/dev/kvm")
CONTROL_SOCKET, SERIAL_LOG = "qmp.sock", "serial.log"
CONTROL_SECONDS, CONTROL_POLL_SECONDS = 30.0, 0.05
STOP_SECONDS = 20.0
SERIAL_BYTES = 64 * 1024
"""So much of the end of the serial line is read."""


@dataclass(frozen=True)
class Hardware:
    """A PC with a SATA disk, an e1000e card, a standard screen and a tablet: Windows needs no drivers for it."""

    qemu: str
    disk: Path
    screen: Screen
    memory_mib: int
    cores: int
    accelerated: bool = True
    media: tuple[Path, ...] = ()
    port: int = 0
    """The loopback's port that leads to the agent; without one there is no network at all."""

    def command(self, control: Path, serial: Path) -> list[str]:
        """The command line, with the control socket and the file of the serial line."""
        machine = ("-machine", "q35", "-accel", "kvm", "-cpu", "host") if self.accelerated else ("-machine", "q35")
        network = f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:{AGENT_PORT}" if self.port else ""
        words = [self.qemu, *machine, "-smp", str(self.cores), "-m", f"{self.memory_mib}M", "-rtc", "base=localtime"]
        words += ["-nodefaults", "-device", f"VGA,edid=on,xres={self.screen.width},yres={self.screen.height}"]
        words += ["-usb", "-device", "usb-tablet", "-display", "none"]
        words += ["-blockdev", f"driver=qcow2,node-name=disk,file.driver=file,file.filename={_escaped(self.disk)}"]
        words += ["-device", "ide-hd,drive=disk,bus=ide.0,bootindex=1"]
        for number, medium in enumerate(self.media, 1):
            words += ["-blockdev", f"driver=file,node-name=medium{number},read-only=on,filename={_escaped(medium)}"]
            boot = ",bootindex=2" if number == 1 else ""
            words += ["-device", f"ide-cd,drive=medium{number},bus=ide.{number}{boot}"]
        if network:
            words += ["-netdev", network, "-device", "e1000e,netdev=net"]
        words += ["-serial", f"file:{_escaped(serial)}"]
        words += ["-qmp", f"unix:{_escaped(control)},server=on,wait=off"]
        return words


class VirtualMachine:
    """A running QEMU."""

    def __init__(self, process: asyncio.subprocess.Process, control: QmpClient, folder: Path) -> None:
        self._process, self._control, self._folder = process, control, folder

    @property
    def ended(self) -> bool:
        """Whether QEMU has ended, as it does when Windows shuts down."""
        return self._process.returncode is not None

    def serial_lines(self) -> list[str]:
        """What our script inside said, without the prefix; firmware may write there too."""
        path = self._folder / SERIAL_LOG
        if not path.exists():
            return []
        lines = path.read_bytes()[-SERIAL_BYTES:].decode("ascii", "replace").splitlines()
        return [line.strip().removeprefix(f"{PREFIX} ") for line in lines if line.strip().startswith(f"{PREFIX} ")]

    async def wait(self, seconds: float) -> None:
        """Until QEMU ends, but no longer than this."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()

    async def save_screenshot(self, path: Path) -> Path | None:
        """The screen as a PNG file; None where QEMU gives none."""
        try:
            await self._control.ask("screendump", filename=str(path), format="png")
        except (QmpError, MachineGone):
            return None
        return path

    async def shut_down(self, seconds: float) -> None:
        """Press the power button and wait; afterwards QEMU is ended."""
        with suppress(QmpError, MachineGone):
            await self._control.ask("system_powerdown")
            await self.wait(seconds)

    async def end(self) -> None:
        """End QEMU. Idempotent."""
        self._control.close()
        await _end(self._process)


@asynccontextmanager
async def run_machine(hardware: Hardware, folder: Path) -> AsyncIterator[VirtualMachine]:
    """A QEMU that is ended with the block. Raises ImageError, MachineGone."""
    machine = await _start(hardware, folder)
    try:
        yield machine
    finally:
        await machine.end()


async def _start(hardware: Hardware, folder: Path) -> VirtualMachine:
    """Raises ImageError, MachineGone."""
    control, serial = folder / CONTROL_SOCKET, folder / SERIAL_LOG
    control.unlink(missing_ok=True)
    serial.unlink(missing_ok=True)
    with (folder / "qemu.log").open("wb") as log:
        try:
            process = await asyncio.create_subprocess_exec(
                *hardware.command(control, serial),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        except FileNotFoundError as error:
            raise ImageError("no_program", f"{hardware.qemu} is not installed; install qemu-system-x86") from error
    try:
        client = await _connect(process, folder)
    except BaseException:
        await _end(process)
        raise
    return VirtualMachine(process, client, folder)


def create_disk(qemu_img: str, path: Path, *, gib: int = 0, backing: Path | None = None) -> None:
    """An empty disk of a size, or one that holds what is changed of another. Raises ImageError."""
    base = ("-b", str(backing.resolve()), "-F", "qcow2") if backing is not None else ()
    size = (f"{gib}G",) if gib else ()
    path.unlink(missing_ok=True)
    command = (qemu_img, "create", "-q", "-f", "qcow2", *base, str(path), *size)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ImageError("no_space", f"the disk cannot be made: {done.stderr.strip()[-500:]}")


def check_host(programs: Sequence[str], *, needs_kvm: bool) -> None:
    """Raises ImageError for a host on which no virtual machine of Windows runs."""
    for program in programs:
        if shutil.which(program) is None:
            raise ImageError("no_program", f"{program} is not installed; install qemu-system-x86 and qemu-utils")
    if needs_kvm and not os.access(KVM, os.R_OK | os.W_OK):
        raise ImageError("no_kvm", f"{KVM} cannot be opened: without KVM an installation takes a day")


def free_port() -> int:
    """A port of the loopback that nothing listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


async def _connect(process: asyncio.subprocess.Process, folder: Path) -> QmpClient:
    """Raises ImageError where QEMU ends first, MachineGone where it does not answer."""
    ends = time.monotonic() + CONTROL_SECONDS
    while True:
        try:
            return await QmpClient.connect(folder / CONTROL_SOCKET)
        except MachineGone:
            if process.returncode is not None:
                said = _read_end(folder / "qemu.log")
                raise ImageError("install_failed", f"QEMU did not start: {said}") from None
            if time.monotonic() > ends:
                raise
        await asyncio.sleep(CONTROL_POLL_SECONDS)


def _read_end(path: Path) -> str:
    return path.read_text("utf-8", "replace").strip()[-500:]


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        process.terminate()
    with suppress(TimeoutError):
        async with asyncio.timeout(STOP_SECONDS):
            await process.wait()
            return
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGKILL)
    await process.wait()


def _escaped(path: Path) -> str:
    """A path in an option of QEMU, where a comma separates and two are one."""
    return str(path).replace(",", ",,")
