"""Virtual machines for tests: small ones, on the disk that was made for this installation."""

from pathlib import Path

import pytest

from vm_bridge.hosts.qemu import QemuHost
from vm_bridge.hosts.qemu_process import qemu_installed
from vm_bridge.virtual.base import INSTALLED, base_made

MEMORY = 512
VIRTUAL = (pytest.mark.slow, pytest.mark.timeout(2400))
"""The first one boots, on an emulated processor where there is no KVM."""


def need_virtual() -> None:
    """Skip the test where there is no virtual machine to be had."""
    if not qemu_installed():
        pytest.skip("needs QEMU: qemu-system-x86 qemu-utils")
    if not base_made(INSTALLED):
        pytest.skip("needs the disk that `python -m vm_bridge.virtual` makes in some minutes")


def virtual_host(data: Path) -> QemuHost:
    """Whose machines are small enough to be put back quickly."""
    return QemuHost(data, memory=MEMORY)
