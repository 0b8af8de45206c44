"""The PC that Windows is installed on, as a real QEMU takes it, emulated and without anything to boot."""

import shutil
from pathlib import Path

import pytest

from vm_bridge.windows_image.settings import Screen
from vm_bridge.windows_image.virtual_machine import Hardware, create_disk, free_port, run_machine

QEMU, QEMU_IMG = "qemu-system-x86_64", "qemu-img"


@pytest.mark.skipif(not (shutil.which(QEMU) and shutil.which(QEMU_IMG)), reason="needs qemu-system-x86 and qemu-utils")
async def test_qemu_runs_it_shows_its_screen_and_ends(tmp_path: Path) -> None:
    disk, overlay, medium = tmp_path / "disk.qcow2", tmp_path / "overlay.qcow2", tmp_path / "medium,1.iso"
    create_disk(QEMU_IMG, disk, gib=64)
    create_disk(QEMU_IMG, overlay, backing=disk)
    medium.write_bytes(bytes(2**17))
    hardware = Hardware(QEMU, overlay, Screen(), 512, 1, accelerated=False, media=(medium, medium), port=free_port())
    async with run_machine(hardware, tmp_path) as machine:
        picture = await machine.save_screenshot(tmp_path / "screen.png")
        assert picture is not None
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert machine.serial_lines() == []
        assert not machine.ended
    assert machine.ended
