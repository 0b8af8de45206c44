"""Virtual machines for tests: small ones, on the disk that was made for this installation."""

from pathlib import Path

import pytest

from vm_bridge.hosts.qemu.host import QemuHost
from vm_bridge.hosts.qemu.virtual_machine import is_qemu_installed
from vm_bridge.virtual.base_image import DEFAULT_DISKS_FOLDER, base_image_exists

MEMORY = 512
VIRTUAL = (pytest.mark.slow, pytest.mark.timeout(2400))
"""The first one boots, on an emulated processor where there is no KVM."""


def need_virtual() -> None:
    """Skip the test where there is no virtual machine to be had."""
    if not is_qemu_installed():
        pytest.skip("needs QEMU: qemu-system-x86 qemu-utils")
    if not base_image_exists(DEFAULT_DISKS_FOLDER):
        pytest.skip("needs the disk that `python -m vm_bridge.virtual` makes in some minutes")


def virtual_host(data: Path) -> QemuHost:
    """Whose machines are small enough to be put back quickly."""
    return QemuHost(data, memory=MEMORY)
