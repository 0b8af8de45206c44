"""A sandbox that does not start leaves nothing, whatever the reason."""

import asyncio
import errno
from pathlib import Path

import pytest

from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.hosts.lifecycle import destroy_on_failure
from vm_bridge.hosts.qemu.host import IMAGE, MEMORY_MIB, QemuHost
from vm_bridge.hosts.qemu.states import PreparedMachine
from vm_bridge.hosts.qemu.virtual_machine import Hardware
from vm_bridge.images.manifest import ImageManifest
from vm_bridge.simulators.fake.sandbox import FakeSandbox
from vm_bridge.virtual.base_image import BaseImage


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (MachineGone("the guest ended"), NoMachine),
        (OSError(errno.ENOSPC, "No space left on device"), NoMachine),
        (ArithmeticError("nobody thought of this"), ArithmeticError),
        (asyncio.CancelledError("the bridge ends"), asyncio.CancelledError),
    ],
)
async def test_whatever_the_reason_it_is_destroyed(failure: BaseException, told: type[BaseException]) -> None:
    sandbox = FakeSandbox("desktop")
    with pytest.raises(told, match=str(failure)[-10:]):
        async with destroy_on_failure(sandbox):
            raise failure
    assert not await sandbox.healthy()


async def test_what_succeeds_goes_on() -> None:
    sandbox = FakeSandbox("desktop")
    async with destroy_on_failure(sandbox):
        pass
    assert await sandbox.healthy()


async def test_a_virtual_machine_whose_states_cannot_be_copied_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a full disk: they are hundreds of megabytes, and it is tried again every few seconds."""
    base = BaseImage(tmp_path)
    states = tmp_path / "states.qcow2"
    states.mkdir()  # which no copy can be made of
    ready = PreparedMachine(
        Hardware(base, tmp_path / "disk", "tcg", MEMORY_MIB), ImageManifest(width=800, height=600), "", states
    )

    async def prepared(_: QemuHost) -> PreparedMachine:
        return ready

    monkeypatch.setattr(QemuHost, "prepared", prepared)
    host = QemuHost(tmp_path)
    try:
        with pytest.raises(NoMachine, match="Is a directory"):
            await host.create(IMAGE)
        assert list((await host._opened()).sandboxes.iterdir()) == []
    finally:
        await host.close()
