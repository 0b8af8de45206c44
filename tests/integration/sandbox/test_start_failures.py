"""A desktop that does not come up leaves nothing: no folder, no process, no control group."""

import asyncio
import errno
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from tests.processes import commands_with
from tests.waiting import eventually
from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.hosts.process_sandbox import PreparedImage, ProcessSandbox
from vm_bridge.isolation.cgroups import PARENT, ROOT


def remaining_files(folder: Path) -> list[str]:
    """What there is of a tree."""
    groups = (ROOT / PARENT / folder.name, *ROOT.glob(f"*/{PARENT}/{folder.name}"))
    return [*(str(path) for path in (folder, *groups) if path.exists()), *commands_with(str(folder))]


async def test_a_tree_of_another_state_leaves_nothing(image: PreparedImage, folder: Path) -> None:
    with pytest.raises(MachineGone, match="did not start from its image's state"):
        await ProcessSandbox.spawn(replace(image, home="another digest"), folder)
    assert remaining_files(folder) == []


async def test_a_tree_that_is_no_longer_wanted_leaves_nothing(image: PreparedImage, folder: Path) -> None:
    coming = asyncio.create_task(ProcessSandbox.spawn(image, folder))
    await eventually(lambda: bool(commands_with(str(folder))))
    coming.cancel()
    with pytest.raises(asyncio.CancelledError):
        await coming
    assert remaining_files(folder) == []


async def test_a_desktop_on_a_full_disk_leaves_nothing(host: LocalHost, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await host.create("desktop")
    assert isinstance(first, LocalSandbox)
    machines, sandboxes = first.folder.parent, first.tree.folder.parent
    await first.destroy()

    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    for step in (
        "hosts.local.sandbox.write_state",
        "network.sandbox_network.SandboxNetwork.attach",
        "hosts.process_sandbox.write_sandbox_state",
    ):
        with monkeypatch.context() as change:
            change.setattr(f"vm_bridge.{step}", full)
            with pytest.raises(NoMachine, match="No space left"):
                await host.create("desktop")
        assert list(machines.iterdir()) == []
    assert list(sandboxes.iterdir()) == [], "the one that stood ready was taken"
