"""The PC that Windows is installed on, as a real QEMU takes it, emulated and without anything to boot."""

import json
import shutil
from pathlib import Path

import pytest

from vm_bridge.hosts.qemu_revert import load_state
from vm_bridge.windows_image import machines
from vm_bridge.windows_image.agent import AgentCheck
from vm_bridge.windows_image.machines import MadeImage, start_machines, stop_machine
from vm_bridge.windows_image.settings import DISK_FILE, MANIFEST_FILE, SECRET_FILE, Screen
from vm_bridge.windows_image.virtual_machine import Hardware, create_disk, free_port, run_machine

QEMU, QEMU_IMG = "qemu-system-x86_64", "qemu-img"


pytestmark = pytest.mark.skipif(
    not (shutil.which(QEMU) and shutil.which(QEMU_IMG)), reason="needs qemu-system-x86 and qemu-utils"
)


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


async def test_a_machine_of_an_image_keeps_the_state_it_is_put_back_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_problem(check: AgentCheck) -> None:
        return None

    monkeypatch.setattr(AgentCheck, "problem", no_problem)
    monkeypatch.setattr(machines, "REST_SECONDS", 0)
    create_disk(QEMU_IMG, tmp_path / DISK_FILE, gib=64)
    manifest = {"screen": [1280, 800], "memory_mib": 512, "cores": 1}
    (tmp_path / MANIFEST_FILE).write_text(json.dumps(manifest))
    (tmp_path / SECRET_FILE).write_text("s" * 64)
    image, port, said = MadeImage.read(tmp_path), free_port(), list[str]()
    try:
        for _ in range(2):
            await start_machines(image, [port], said.append, needs_kvm=False)
        assert said == [f"{port}: ready", f"{port}: runs already"]
        await load_state(image.machines / f"{port}.sock", "ready")
    finally:
        assert await stop_machine(image, port)
    assert not await stop_machine(image, port)
    assert list(image.machines.iterdir()) == []
