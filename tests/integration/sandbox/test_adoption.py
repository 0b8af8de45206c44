"""What a killed bridge left running is found again by the next, and ends by itself when none comes."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from protocol.actions.types import OpenApp, ReadFile, TypeText, WriteFile
from protocol.trajectory.tasks import Task
from tests.processes import first_process
from tests.waiting import LIMIT, eventually
from vm_bridge.errors import NoMachine, StaleLease
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.hosts.process_sandbox import ProcessSandbox

BRIDGE = """
import asyncio, sys
from pathlib import Path
from vm_bridge.hosts.local.host import LocalHost
from protocol.actions.types import OpenApp, WriteFile
from protocol.trajectory.tasks import Task

async def main():
    sandbox = await LocalHost(Path(sys.argv[1])).create("desktop")
    machine = sandbox.bind(7)
    await machine.prepare(Task(id="task-1", instruction="Do something.", parameters={"screenshot": "png"}))
    await machine.perform("adopted-0001", WriteFile(path="note.txt", text="before"))
    await machine.perform("adopted-0002", OpenApp(name="terminal"))
    assert await sandbox.environment(7).wait_for_window("xterm")
    await machine.observe(settle=True)
    print(sandbox.id, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.fixture
def private_data(tmp_path: Path, data: Path) -> Path:
    """A data folder nobody else uses, with the images that are prepared already."""
    (tmp_path / "images").symlink_to(data / "images")
    return tmp_path


def killed_bridge(data: Path) -> str:
    """Runs a bridge until its machine is in use, and kills it; the machine's id."""
    (data / "images").resolve().mkdir(exist_ok=True)
    bridge = subprocess.Popen([sys.executable, "-c", BRIDGE, str(data)], stdout=subprocess.PIPE, text=True)
    assert bridge.stdout is not None
    with bridge, bridge.stdout:
        name = bridge.stdout.readline().strip()
        os.kill(bridge.pid, signal.SIGKILL)
    return name


async def test_a_machine_goes_on_with_the_next_bridge(private_data: Path) -> None:
    name = await asyncio.to_thread(killed_bridge, private_data)
    host = LocalHost(private_data)
    try:
        (sandbox,) = await host.adopt([name])
        with pytest.raises(StaleLease):
            await sandbox.bind(6).observe()
        machine = sandbox.bind(7)
        seen = await machine.observe(settle=True)
        assert seen.screenshot is not None
        assert seen.screenshot.media_type == "image/png"
        typed = await machine.perform("adopted-0003", TypeText(text="echo still here >> note.txt\n"))
        assert typed.after.screenshot != seen.screenshot
        assert (await machine.perform("adopted-0004", ReadFile(path="note.txt"))).after.text == "beforestill here\n"
        resent = await machine.perform("adopted-0002", OpenApp(name="terminal"))
        assert resent.after.screenshot is not None
        assert (await machine.blob(resent.after.screenshot)).startswith(b"\x89PNG")
        assert sandbox.vnc_socket is not None
        assert sandbox.vnc_socket.is_socket()
        await sandbox.reset()
        assert (await sandbox.bind(8).perform("adopted-0005", ReadFile(path="note.txt"))).error is not None
    finally:
        await host.close()


async def test_it_is_reached_before_its_image_is_prepared_and_ended_where_that_fails(
    private_data: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As after an upgrade, when there is a new image to prepare: meanwhile it would end by itself."""
    name = await asyncio.to_thread(killed_bridge, private_data)
    reached: list[ProcessSandbox] = []
    adopt = ProcessSandbox.adopt

    async def reach(folder: Path) -> ProcessSandbox:
        reached.append(await adopt(folder))
        return reached[0]

    def prepare(*_: object) -> NoReturn:
        raise NoMachine("a library cannot be had" if reached else "it is too early")

    monkeypatch.setattr(ProcessSandbox, "adopt", reach)
    monkeypatch.setattr("vm_bridge.hosts.local.host.prepare_image", prepare)
    host = LocalHost(private_data)
    try:
        assert await host.adopt([name]) == []
        assert "a library cannot be had" in caplog.text
        (tree,) = reached
        await eventually(lambda: not Path("/proc", str(tree.first.pid)).exists())
        await eventually(lambda: not tree.folder.exists())
    finally:
        await host.close()


async def test_what_nobody_asks_for_is_ended(private_data: Path) -> None:
    name = await asyncio.to_thread(killed_bridge, private_data)
    host = LocalHost(private_data)
    try:
        assert await host.adopt([]) == []
        again = await host.create("desktop")
        assert isinstance(again, LocalSandbox)
        assert name not in {path.name for path in again.folder.parent.iterdir()}
        assert again.tree.folder in set(again.tree.folder.parent.iterdir())
    finally:
        await host.close()


async def test_a_guest_whose_host_is_gone_waits_and_then_ends(
    private_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vm_bridge.hosts.process_sandbox.ORPHAN_TIMEOUT_SECONDS", 1)
    host = LocalHost(private_data)
    try:
        sandbox = await host.create("desktop")
        assert isinstance(sandbox, LocalSandbox)
        await sandbox.bind(1).perform("leash-0001", WriteFile(path="note.txt", text="x"))
        process = Path("/proc", str(first_process(sandbox).pid))
        sandbox.tree.link.close()
        await eventually(lambda: not process.exists(), LIMIT)
    finally:
        await host.close()


async def test_tasks_survive_with_the_machine(private_data: Path) -> None:
    name = await asyncio.to_thread(killed_bridge, private_data)
    host = LocalHost(private_data)
    try:
        (sandbox,) = await host.adopt([name, "desktop-no-such"])
        verdict = await sandbox.bind(7).evaluate()
        assert verdict.success is None
        await sandbox.bind(7).prepare(Task(id="task-2", instruction="Do something else."))
    finally:
        await host.close()
