"""One virtual machine: its QEMU process, its control, and its saved states."""

import asyncio
import os
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from vm_bridge.drivers.computer.frames import GuestScreen, SharedFrameMemory
from vm_bridge.drivers.computer.guest_link import EmptyReply, GuestLink, GuestState, ObserveReply
from vm_bridge.errors import MachineGone
from vm_bridge.hosts.process_sandbox import ProcessSandboxState, read_sandbox_state, write_sandbox_state
from vm_bridge.hosts.qemu.channel import VirtualMachineChannel
from vm_bridge.hosts.qemu.qmp import QmpClient, QmpError
from vm_bridge.isolation.init_process import InitProcess
from vm_bridge.machine import REACH_SECONDS, STATE_SECONDS
from vm_bridge.virtual.base_image import BaseImage
from vm_bridge.virtual.handshake import PORT_NAME

QEMU = "qemu-system-x86_64"
PACKAGES = "qemu-system-x86 qemu-utils mmdebstrap e2fsprogs"
FRAMES_BYTES = 128 << 20
"""Memory for frames, as the guest sees it: a device's memory is a power of two."""
STATES_BYTES = 1 << 20
"""The disk that is only there to hold states."""
BOOT_SECONDS = {"kvm": 60.0, "tcg": 1800.0}
"""Longest a first boot may take. A KVM that opens but runs nothing is known by this."""
START_SECONDS = REST_SECONDS = 900.0
STOP_SECONDS = 20.0
SOCKET_SECONDS, SOCKET_POLL = 30.0, 0.05
FRAMES_NAME = "frames"
"""The memory for frames, as QEMU's own descriptor of it is called."""
KERNEL_ARGUMENTS = "console=ttyS0 root=/dev/vda ro quiet panic=-1 init=/usr/lib/pilothouse/init"
EMULATED_ARGUMENTS = "mitigations=off cryptomgr.notests"
"""An emulated processor leaks nothing by computing ahead."""

Accelerator = Literal["kvm", "tcg"]


@dataclass(frozen=True)
class Hardware:
    """What a virtual machine is made of. `image` is the disk with the sandbox's image and the guest."""

    base: BaseImage
    image: Path
    accelerator: Accelerator
    memory: int
    """MiB."""


class VirtualMachine:
    """In `folder` lie its disk of states, its sockets, and `egress`, which is /run/egress inside."""

    def __init__(self, folder: Path, first: InitProcess, frames: int) -> None:
        self.folder, self.first = folder, first
        self._process: subprocess.Popen[bytes] | None = None
        """None where an earlier host started it."""
        self._frames = SharedFrameMemory(frames, FRAMES_BYTES)
        self._channel = VirtualMachineChannel(folder)
        self._qmp: QmpClient | None = None
        self._link: GuestLink | None = None
        self._ended = False
        self.screen: GuestScreen | None = None
        self.fence = 1
        """The lowest fencing token that the guest admits."""

    @classmethod
    async def launch(cls, hardware: Hardware, folder: Path, *, stopped: bool) -> Self:
        """A QEMU over the states in its folder; its machine boots, or does nothing yet. Raises MachineGone, OSError."""
        (folder / "egress").mkdir(exist_ok=True)
        frames = SharedFrameMemory.make(FRAMES_BYTES)
        try:
            # Not in a thread: a caller cancelled meanwhile would lose the process, and nothing would end it.
            process = _launch(hardware, folder, frames, stopped)
        except FileNotFoundError as error:
            os.close(frames)
            raise MachineGone(f"{QEMU}: {error.strerror}; install {PACKAGES}") from error
        except OSError:
            os.close(frames)
            raise
        machine = cls(folder, InitProcess(process.pid), frames)
        machine._process = process
        try:
            write_sandbox_state(
                folder, ProcessSandboxState(pid=process.pid, began=machine.first.began, groups=(), missing=())
            )
            machine._qmp = await machine._control()
            await machine._channel.open()
        except BaseException:
            await machine.end()
            raise
        return machine

    @classmethod
    async def adopt(cls, folder: Path) -> Self:
        """The machine an earlier host left there, with its guest reached. Raises MachineGone when it has ended, or was
        about to become another one."""
        state = read_sandbox_state(folder)
        first = InitProcess(state.pid, state.began)
        try:
            machine = cls(folder, first, await asyncio.to_thread(_find_frames, state.pid))
        except MachineGone:
            await asyncio.to_thread(first.end, STOP_SECONDS)
            raise
        try:
            machine._qmp = await QmpClient.connect(folder / "qmp.sock")
            await machine._at_rest()
            await machine._channel.open()
            greeting = await machine.reach(REACH_SECONDS)
            if not greeting.width:
                raise MachineGone("its desktop had not started when its bridge ended")
        except BaseException:
            await machine.end()
            raise
        return machine

    @property
    def link(self) -> GuestLink:
        """The guest. Raises MachineGone when there is none."""
        if self._link is None:
            raise MachineGone("the virtual machine has not started")
        return self._link

    async def reach(self, seconds: float) -> GuestState:
        """Reconnect to the guest. Returns the guest's state. Raises MachineGone."""
        try:
            await self._channel.connect(seconds)
            end = socket.socket(socket.AF_UNIX)
            end.setblocking(False)
            await asyncio.get_running_loop().sock_connect(end, str(self.folder / "guest.sock"))
            self._link = await GuestLink.open(end)
            greeting = await self._link.ready(seconds)
        except (MachineGone, OSError) as gone:
            raise MachineGone(f"{gone}: {self._last_words()}") from gone
        self.fence = greeting.fence
        self.screen = GuestScreen(self._frames, greeting.width, greeting.height) if greeting.width else None
        return greeting

    async def begin(self, *, fence: int, width: int, height: int) -> None:
        """Start the desktop at this size; returns when it has come to rest. Raises MachineGone."""
        try:
            await self.link.call("start", EmptyReply, timeout=START_SECONDS, fence=fence, width=width, height=height)
            await self.link.call("observe", ObserveReply, timeout=REST_SECONDS, fence=fence, settle=True)
        except MachineGone as gone:
            raise MachineGone(f"{gone}: {self._last_words()}") from gone
        self.screen, self.fence = GuestScreen(self._frames, width, height), fence

    async def save(self, state: str) -> None:
        """Save the current state under a name, replacing an earlier one. The machine is paused meanwhile.

        Raises MachineGone.
        """
        await self.forget(state)
        await self._job("snapshot-save", state, vmstate="states")

    async def load(self, state: str) -> None:
        """Load a state, in which no host is connected, and let the machine run. Raises MachineGone."""
        await self.hang_up()
        await self._job("snapshot-load", state, vmstate="states")
        await self._ask("cont")

    async def forget(self, state: str) -> None:
        """Give up the room of a state, if there is one of this name. Raises MachineGone."""
        if state in await self.states():
            await self._job("snapshot-delete", state)

    async def states(self) -> tuple[str, ...]:
        """The names of all states. Raises MachineGone."""
        nodes = await self._ask("query-named-block-nodes", flat=True)
        return tuple(
            each["name"]
            for node in nodes
            if node.get("node-name") == "states"
            for each in node["image"].get("snapshots", ())
        )

    async def hang_up(self) -> None:
        """End all that is led into the machine; returns when QEMU knows, so that the machine will."""
        if self._link is not None:
            self._link.close()
        await self._channel.hang_up()
        ends = time.monotonic() + SOCKET_SECONDS
        while True:
            lines = [each["filename"] for each in await self._ask("query-chardev") if each["label"] == "line"]
            if all(line.startswith("disconnected") for line in lines):
                return
            if time.monotonic() > ends:
                raise MachineGone("QEMU keeps a line that has ended")
            await asyncio.sleep(SOCKET_POLL)

    async def end(self) -> None:
        """Returns when the process has ended. Idempotent. Raises MachineGone when it does not."""
        if self._ended:
            return
        self._ended = True
        if self._link is not None:
            self._link.close()
        await self._channel.close()
        if self._qmp is not None:
            self._qmp.close()
        await asyncio.to_thread(self._end)

    def _end(self) -> None:
        self.first.end(STOP_SECONDS)
        if self._process is not None:
            self._process.wait()

    async def _at_rest(self) -> None:
        """Returns when what the earlier host asked for is done. Raises MachineGone where it was to be put back: nobody
        knows whether it was."""
        ends = time.monotonic() + STATE_SECONDS
        while any(job["status"] != "concluded" for job in await self._ask("query-jobs")):
            if time.monotonic() > ends:
                raise MachineGone("QEMU does not finish the command of its earlier host")
            await asyncio.sleep(SOCKET_POLL)
        for job in await self._ask("query-jobs"):
            await self._ask("job-dismiss", id=job["id"])
        if not (await self._ask("query-status"))["running"]:
            raise MachineGone("it was being put back when its bridge ended")

    async def _control(self) -> QmpClient:
        """Raises MachineGone when QEMU ended at once."""
        path = self.folder / "qmp.sock"
        with suppress(TimeoutError):
            async with asyncio.timeout(SOCKET_SECONDS):
                while self._process is not None and self._process.poll() is None:
                    with suppress(MachineGone):
                        return await QmpClient.connect(path)
                    await asyncio.sleep(SOCKET_POLL)
        raise MachineGone(f"QEMU did not start: {self._last_words()}")

    async def _ask(self, command: str, **arguments: Any) -> Any:
        if self._qmp is None:
            raise MachineGone("QEMU has not started")
        try:
            return await self._qmp.ask(command, **arguments)
        except QmpError as refused:
            raise MachineGone(str(refused)) from refused

    async def _job(self, command: str, state: str, **arguments: Any) -> None:
        if self._qmp is None:
            raise MachineGone("QEMU has not started")
        try:
            await self._qmp.do(command, seconds=STATE_SECONDS, tag=state, devices=["states"], **arguments)
        except QmpError as refused:
            raise MachineGone(str(refused)) from refused

    def _last_words(self) -> str:
        """What QEMU and the machine's console said last; for people."""
        said = [
            (self.folder / name).read_text(encoding="utf-8", errors="replace")
            for name in ("errors", "console")
            if (self.folder / name).exists()
        ]
        return " ".join(" ".join(said).split())[-600:] or "nothing was said"


def end_machine(folder: Path) -> None:
    """End the machine an earlier host left in a folder, if it still runs, and remove the folder."""
    with suppress(MachineGone):
        state = read_sandbox_state(folder)
        InitProcess(state.pid, state.began).end(STOP_SECONDS)
    shutil.rmtree(folder, ignore_errors=True)


def _find_frames(pid: int) -> int:
    """A descriptor of the memory for frames that a QEMU holds. Raises MachineGone."""
    try:
        for held in Path("/proc", str(pid), "fd").iterdir():
            if os.readlink(held).startswith(f"/memfd:{FRAMES_NAME} "):
                return os.open(held, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise MachineGone(f"QEMU cannot be looked into: {error.strerror}") from error
    raise MachineGone("QEMU holds no memory for frames")


def create_states_disk(path: Path) -> None:
    """An empty disk of states. Raises MachineGone."""
    try:
        done = subprocess.run(
            ("qemu-img", "create", "-q", "-f", "qcow2", str(path), str(STATES_BYTES)),  # noqa: S607 - the host's qemu
            capture_output=True,
            text=True,
            timeout=STATE_SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise MachineGone(f"qemu-img is not installed; install {PACKAGES}") from error
    if done.returncode:
        raise MachineGone(f"qemu-img: {done.stderr.strip()[-300:]}")


def list_accelerators(modules: Path = Path("/sys/module")) -> tuple[Accelerator, ...]:
    """What may run a machine here, the fastest first; whether the first really does is only told by trying.

    A KVM that is not of the processor (as `kvm_pvm` in a virtual machine) runs only kernels made for it; of others it
    computes each instruction by itself, more than ten times slower than QEMU does.
    """
    of_processor = any((modules / name).exists() for name in ("kvm_intel", "kvm_amd"))
    return ("kvm", "tcg") if of_processor and os.access("/dev/kvm", os.R_OK | os.W_OK) else ("tcg",)


def is_qemu_installed() -> bool:
    """Whether the programs are there."""
    return all(shutil.which(name) for name in (QEMU, "qemu-img"))


@cache
def qemu_version() -> str:
    """As the program says it. Raises MachineGone."""
    try:
        return subprocess.run((QEMU, "--version"), capture_output=True, text=True, timeout=STATE_SECONDS).stdout
    except FileNotFoundError as error:
        raise MachineGone(f"{QEMU} is not installed; install {PACKAGES}") from error


def _launch(hardware: Hardware, folder: Path, frames: int, stopped: bool) -> "subprocess.Popen[bytes]":
    with (folder / "errors").open("wb") as errors:
        return subprocess.Popen(
            qemu_command(hardware, folder, frames, stopped=stopped),
            pass_fds=(frames,),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )


def qemu_command(hardware: Hardware, folder: Path, frames: int, *, stopped: bool) -> list[str]:
    """QEMU's command line. The machine has no network card: all it reaches is led through its line."""
    tcg = hardware.accelerator == "tcg"
    return [
        *(QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-nic", "none"),
        *("-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"),
        *("-machine", "q35,vmport=off", "-accel", "tcg,thread=single" if tcg else "kvm"),
        # Its time goes by what it computed, so that nothing inside runs out of time where the host is busy.
        *(("-icount", "shift=1,sleep=on") if tcg else ()),
        *("-cpu", "max" if tcg else "host", "-smp", "1" if tcg else "2", "-m", str(hardware.memory)),
        *("-kernel", str(hardware.base.kernel), "-initrd", str(hardware.base.initrd)),
        *("-append", f"{KERNEL_ARGUMENTS} {EMULATED_ARGUMENTS}" if tcg else KERNEL_ARGUMENTS),
        *("-blockdev", f"driver=file,node-name=root-file,read-only=on,filename={hardware.base.disk}"),
        *("-blockdev", "driver=qcow2,node-name=root,read-only=on,file=root-file"),
        *("-blockdev", f"driver=file,node-name=image-file,read-only=on,filename={hardware.image}"),
        *("-blockdev", "driver=raw,node-name=image,read-only=on,file=image-file"),
        # States go with their machine, so nobody waits until they are on the disk.
        *("-blockdev", f"driver=file,node-name=states-file,cache.no-flush=on,filename={folder / 'states.qcow2'}"),
        *("-blockdev", "driver=qcow2,node-name=states,cache.no-flush=on,file=states-file"),
        # In this order they are /dev/vda, vdb and vdc.
        *(word for node in ("root", "image", "states") for word in ("-device", f"virtio-blk-pci,drive={node}")),
        *("-object", f"memory-backend-file,id=frames,share=on,mem-path=/proc/self/fd/{frames},size={FRAMES_BYTES}"),
        # Only the master's memory is part of a state.
        *("-device", "ivshmem-plain,memdev=frames,master=on"),
        *("-chardev", f"socket,id=line,path={folder / 'line.sock'},server=on,wait=off"),
        *("-device", "virtio-serial-pci", "-device", f"virtserialport,chardev=line,name={PORT_NAME}"),
        *("-chardev", f"socket,id=qmp,path={folder / 'qmp.sock'},server=on,wait=off"),
        *("-mon", "chardev=qmp,mode=control", "-serial", f"file:{folder / 'console'}"),
        *(("-S",) if stopped else ()),
    ]
