"""What a virtual machine is beyond the contract that it shares with every machine."""

import asyncio
import itertools
import platform
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from protocol.actions.types import OpenApp, ReadFile, RunCommand, TypeText, WriteFile
from protocol.trajectory.tasks import Task
from tests.integration.qemu.machines import VIRTUAL, need_virtual, virtual_host
from tests.processes import commands_with
from tests.waiting import eventually
from vm_bridge.errors import CannotRestore
from vm_bridge.hosts.qemu.sandbox import MAX_SNAPSHOTS, QemuSandbox
from vm_bridge.hosts.qemu.virtual_machine import BOOT_SECONDS

pytestmark = list(VIRTUAL)
commands = (f"command-{number:04}" for number in itertools.count())


@pytest_asyncio.fixture
async def sandbox(tmp_path: Path) -> AsyncIterator[QemuSandbox]:
    need_virtual()
    host = virtual_host(tmp_path)
    sandbox = await host.create("desktop-vm")
    assert isinstance(sandbox, QemuSandbox)
    yield sandbox
    await host.close()


async def ran(sandbox: QemuSandbox, command: str) -> str:
    done = await sandbox.bind(sandbox.fence).perform(next(commands), RunCommand(command=command), settle=False)
    assert done.error is None, done.error
    return done.after.text or ""


async def test_it_has_a_kernel_of_its_own_and_no_network_card(sandbox: QemuSandbox) -> None:
    assert (await ran(sandbox, "uname -r")).strip() != platform.release()
    assert await ran(sandbox, "ls /sys/class/net 2>/dev/null || true") in ("", "lo\n")


async def test_its_clock_and_its_chance_are_fresh_after_a_reset(sandbox: QemuSandbox) -> None:
    drawn = set()
    for _ in range(2):
        assert abs(float(await ran(sandbox, "date +%s.%N")) - time.time()) < 60
        drawn.add(await ran(sandbox, "head -c 16 /dev/urandom | od -An -tx1"))
        await sandbox.reset()
    assert len(drawn) == 2


async def test_a_snapshot_holds_what_programs_have_in_memory(sandbox: QemuSandbox) -> None:
    """Doing again what was done could not bring this back: the process drew a number when it began."""
    machine = sandbox.bind(1)
    await ran(
        sandbox, "(exec -a keeper bash -c 'n=$RANDOM$RANDOM; while :; do echo $n > ~/drawn; sleep 0.2; done') & sleep 1"
    )
    kept = await machine.snapshot()
    before = await ran(sandbox, "cat ~/drawn")
    await ran(sandbox, "pkill -f keeper; rm ~/drawn")
    await machine.restore(kept)
    await ran(sandbox, "rm -f ~/drawn; until [ -s ~/drawn ]; do sleep 0.1; done")
    assert await ran(sandbox, "cat ~/drawn") == before


async def test_windows_and_what_is_typed_in_them_come_back(sandbox: QemuSandbox) -> None:
    """As at the desk: an act, an undo, and the viewers see the window as it was."""
    machine = sandbox.bind(1)
    await machine.prepare(Task(id="t", instruction="Do."))
    await machine.perform(next(commands), OpenApp(name="terminal"))
    typed = await machine.perform(next(commands), TypeText(text="echo first > note.txt; clear; echo seen\n"))
    kept = await machine.snapshot()
    await machine.perform(next(commands), TypeText(text="echo second > note.txt; exit\n"))
    assert sandbox.frames is not None
    async with sandbox.frames.subscribe(fps=30) as frames:
        before = await asyncio.wait_for(anext(frames), 60)
        seen = await machine.restore(kept)
        after = await asyncio.wait_for(anext(frames), 60)
    assert after.serial > before.serial
    assert seen.screenshot == typed.after.screenshot
    assert await ran(sandbox, "cat note.txt") == "first\n"


async def test_only_the_latest_snapshots_are_kept(sandbox: QemuSandbox) -> None:
    machine = sandbox.bind(1)
    taken = []
    for number in range(MAX_SNAPSHOTS + 1):
        taken.append(await machine.snapshot())
        await machine.perform(next(commands), WriteFile(path="n.txt", text=str(number)), settle=False)
    with pytest.raises(CannotRestore):
        await machine.restore(taken[0])
    await machine.restore(taken[1])
    assert (await machine.perform(next(commands), ReadFile(path="n.txt"))).after.text == "0"


async def test_a_task_has_the_screen_it_asks_for(sandbox: QemuSandbox) -> None:
    machine = sandbox.bind(1)
    for size in ("800x600", "1280x720"):
        seen = await machine.prepare(Task(id="t", instruction="Do.", parameters={"screen": size}))
        assert f"{seen.width}x{seen.height}" == size


async def test_one_that_nobody_wants_any_more_ends(tmp_path: Path) -> None:
    """As when its bridge is told to leave while it is made."""
    need_virtual()
    host = virtual_host(tmp_path)
    sandboxes = (await host._opened()).sandboxes
    try:
        coming = asyncio.create_task(host.create("desktop-vm"))
        await eventually(lambda: coming.done() or commands_with(f"filename={sandboxes}/"), BOOT_SECONDS["tcg"])
        coming.cancel()
        with pytest.raises(asyncio.CancelledError):
            await coming
        assert commands_with(f"filename={sandboxes}/") == []
        assert list(sandboxes.iterdir()) == []
    finally:
        await host.close()


async def test_viewers_see_it(sandbox: QemuSandbox) -> None:
    assert sandbox.vnc_socket is not None
    reader, writer = await asyncio.open_unix_connection(sandbox.vnc_socket)
    async with asyncio.timeout(60):
        assert await reader.readexactly(12) == b"RFB 003.008\n"
    writer.close()
