"""Virtual machines as processes: what they are given, and that what a dead bridge left is ended."""

import os
import subprocess
from pathlib import Path

import pytest

from vm_bridge.hosts.process_sandbox import ProcessSandboxState, write_sandbox_state
from vm_bridge.hosts.qemu.virtual_machine import Accelerator, Hardware, end_machine, list_accelerators, qemu_command
from vm_bridge.isolation.init_process import InitProcess
from vm_bridge.virtual.base_image import BaseImage


def qemu_arguments(accelerator: Accelerator) -> list[str]:
    hardware = Hardware(BaseImage(Path("/base")), Path("/image.img"), accelerator, 512)
    return qemu_command(hardware, Path("/machine"), 9, stopped=True)


@pytest.mark.parametrize("accelerator", ["kvm", "tcg"])
def test_no_machine_has_a_network_card_and_qemu_starts_no_programs(accelerator: Accelerator) -> None:
    given = qemu_arguments(accelerator)
    assert given[given.index("-nic") + 1] == "none"
    assert "spawn=deny" in given[given.index("-sandbox") + 1]
    assert "-netdev" not in given


@pytest.mark.parametrize("accelerator", ["kvm", "tcg"])
def test_only_the_disk_of_states_is_written_to(accelerator: Accelerator) -> None:
    disks = [word for word in qemu_arguments(accelerator) if "node-name=" in word]
    assert {word.split("node-name=")[1].split(",")[0] for word in disks if "read-only=on" not in word} == {
        "states-file",
        "states",
    }


def test_an_emulated_machine_goes_by_its_own_time() -> None:
    assert "-icount" in qemu_arguments("tcg")
    assert "-icount" not in qemu_arguments("kvm")


def test_a_kvm_that_is_not_of_the_processor_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kvm").mkdir()
    (tmp_path / "kvm_pvm").mkdir()
    assert list_accelerators(tmp_path) == ("tcg",)


@pytest.mark.skipif(not os.access("/dev/kvm", os.R_OK | os.W_OK), reason="needs /dev/kvm")
def test_a_kvm_of_the_processor_is_tried_first(tmp_path: Path) -> None:
    (tmp_path / "kvm_amd").mkdir()
    assert list_accelerators(tmp_path) == ("kvm", "tcg")


def test_a_machine_that_was_left_is_ended(tmp_path: Path) -> None:
    folder = tmp_path / "machine"
    folder.mkdir()
    with subprocess.Popen(("sleep", "600")) as left:
        first = InitProcess(left.pid)
        write_sandbox_state(folder, ProcessSandboxState(pid=first.pid, began=first.began, groups=(), missing=()))
        first.close()
        end_machine(folder)
        assert left.wait(20) < 0
    assert not folder.exists()


def test_a_process_that_only_has_the_number_is_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "machine"
    folder.mkdir()
    with subprocess.Popen(("sleep", "600")) as other:
        try:
            first = InitProcess(other.pid)
            write_sandbox_state(
                folder, ProcessSandboxState(pid=first.pid, began=first.began - 1, groups=(), missing=())
            )
            first.close()
            end_machine(folder)
            assert other.poll() is None
        finally:
            other.kill()
    assert not folder.exists()
