"""A machine of somebody's own is put back to its state by one command: a real QEMU, which has nothing but firmware."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from vm_bridge.hosts.qemu.qmp import QmpClient
from vm_bridge.hosts.qemu.virtual_machine import QEMU, is_qemu_installed

MEMORY, PLACE = 16 << 20, 4 << 20
BEFORE, AFTER = b"before", b"after!"


@dataclass
class FileBackedMachine:
    """A machine whose memory is a file, and the folder with its control socket."""

    folder: Path
    address: str = "127.0.0.1:5000"

    @property
    def control(self) -> Path:
        return self.folder / "5000.sock"

    def write(self, text: bytes) -> None:
        with (self.folder / "memory").open("r+b") as memory:
            memory.seek(PLACE)
            memory.write(text)

    def read(self) -> bytes:
        with (self.folder / "memory").open("rb") as memory:
            memory.seek(PLACE)
            return memory.read(len(BEFORE))

    def restore(self, *words: str) -> "subprocess.CompletedProcess[str]":
        argv = (sys.executable, "-m", "vm_bridge.hosts.qemu_revert", *words, str(self.folder), self.address)
        return subprocess.run(argv, capture_output=True, text=True, timeout=100)


@pytest.fixture
def file_backed_machine(tmp_path: Path) -> Iterator[FileBackedMachine]:
    if not is_qemu_installed():
        pytest.skip("needs QEMU: qemu-system-x86 qemu-utils")
    machine = FileBackedMachine(tmp_path)
    disk = tmp_path / "disk.qcow2"
    subprocess.run(("qemu-img", "create", "-q", "-f", "qcow2", disk, "1M"), check=True)
    argv = [
        *(QEMU, "-nodefaults", "-display", "none", "-machine", "q35,memory-backend=ram", "-accel", "tcg", "-m", "16M"),
        *("-object", f"memory-backend-file,id=ram,size={MEMORY},mem-path={tmp_path / 'memory'},share=on"),
        *("-blockdev", f"driver=qcow2,node-name=disk,file.driver=file,file.filename={disk}"),
        *("-device", "virtio-blk-pci,drive=disk", "-qmp", f"unix:{machine.control},server=on,wait=off"),
        *("-daemonize", "-pidfile", str(tmp_path / "pid")),
    ]
    subprocess.run(argv, check=True, timeout=100)
    try:
        yield machine
    finally:
        subprocess.run(("kill", (tmp_path / "pid").read_text().strip()), check=True)


async def test_memory_is_as_it_was_and_the_machine_runs(file_backed_machine: FileBackedMachine) -> None:
    file_backed_machine.write(BEFORE)
    qmp = await QmpClient.connect(file_backed_machine.control)
    await qmp.do("snapshot-save", seconds=100, tag="ready", vmstate="disk", devices=["disk"])
    qmp.close()
    file_backed_machine.write(AFTER)
    done = await asyncio.to_thread(file_backed_machine.restore)
    assert (done.returncode, done.stderr) == (0, "")
    assert file_backed_machine.read() == BEFORE
    qmp = await QmpClient.connect(file_backed_machine.control)
    assert (await qmp.ask("query-status"))["running"]
    qmp.close()


async def test_without_such_a_state_nothing_changes(file_backed_machine: FileBackedMachine) -> None:
    file_backed_machine.write(AFTER)
    done = await asyncio.to_thread(file_backed_machine.restore, "--state", "other")
    assert done.returncode == 1
    assert "no state 'other'" in done.stderr
    assert file_backed_machine.read() == AFTER
