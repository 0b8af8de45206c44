"""Phones as hosts make them: adopted after a bridge that died, and reached as a real device is."""

import asyncio
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from protocol.actions.types import OpenApp, ReadFile, RunCommand, WriteFile
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.phone.adb import AdbRequestFailed
from vm_bridge.errors import NoMachine, StaleLease
from vm_bridge.hosts.composite import CompositeHost
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.hosts.phone.devices import IMAGE, DeviceHost, parse_size
from vm_bridge.hosts.phone.simulated import PhoneHost, PhoneSandbox
from vm_bridge.simulators.phone.paths import TRUSTED_KEYS

TASK = Task(id="task-1", instruction="Do something.", platform="phone")
commands = (f"command-{number:04}" for number in itertools.count())


BRIDGE = """
import asyncio, sys
from pathlib import Path
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.phone.simulated import PhoneHost
from protocol.actions.types import WriteFile

async def main():
    data = Path(sys.argv[1])
    phone = await PhoneHost(LocalHost(data), data).create("phone")
    await phone.bind(5).perform("adopted-0001", WriteFile(path="note.txt", text="still here"))
    print(phone.id, flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest_asyncio.fixture
async def devices(phone: PhoneSandbox, tmp_path: Path) -> AsyncIterator[DeviceHost]:
    """A simulated phone in the place of a real one, which trusts a second server's key."""
    host = DeviceHost(tmp_path, [phone.address], ["org.pilothouse.notes"])
    await host.adb.start()
    await phone.environment(1).write(str(TRUSTED_KEYS), host.adb.public_key)
    yield host
    await host.close()


async def test_a_device_is_driven_by_nothing_but_adb(devices: DeviceHost) -> None:
    sandbox = await devices.create(IMAGE)
    assert (sandbox.capabilities.width, sandbox.capabilities.height) == (412, 915)
    assert await sandbox.healthy()
    machine = sandbox.bind(1)
    first = await machine.prepare(TASK)
    opened = await machine.perform(next(commands), OpenApp(name="notes"))
    assert opened.error is None
    assert opened.after.screenshot != first.screenshot
    assert opened.after.rest == "rested"
    shown = await machine.perform(next(commands), RunCommand(command="dumpsys activity"))
    assert "org.pilothouse.notes" in (shown.after.text or "")


async def test_a_device_is_lent_once_and_to_one(devices: DeviceHost) -> None:
    sandbox = await devices.create(IMAGE)
    with pytest.raises(NoMachine):
        await devices.create(IMAGE)
    await sandbox.bind(2).observe()
    with pytest.raises(StaleLease):
        await sandbox.bind(1).observe()
    await sandbox.reset()
    with pytest.raises(StaleLease):
        await sandbox.bind(2).observe()
    await sandbox.destroy()
    assert not await sandbox.healthy()
    assert (await devices.create(IMAGE)).id == sandbox.id


async def test_a_device_that_is_not_there_is_none(tmp_path: Path) -> None:
    host = CompositeHost([DeviceHost(tmp_path, ["nothing-here"], [])])
    with pytest.raises(NoMachine):
        await host.create(IMAGE)
    with pytest.raises(NoMachine):
        await host.create("desktop")
    await host.close()


def test_a_size_that_was_set_counts() -> None:
    assert parse_size("Physical size: 1080x2400") == (1080, 2400)
    assert parse_size("Physical size: 1080x2400\nOverride size: 720x1600") == (720, 1600)
    with pytest.raises(AdbRequestFailed):
        parse_size("error: no devices/emulators found")


async def test_a_phone_that_nobody_used_is_not_started_again(
    phone: PhoneSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Task] = []
    start = LocalSandbox.prepare

    async def count(sandbox: LocalSandbox, fence: int, task: Task) -> None:
        started.append(task)
        await start(sandbox, fence, task)

    monkeypatch.setattr(LocalSandbox, "prepare", count)
    machine = phone.bind(1)
    first = await machine.prepare(TASK)
    assert (await machine.perform(next(commands), OpenApp(name="notes"))).error is None
    assert not started
    again = await machine.prepare(TASK)
    assert again.screenshot == first.screenshot
    assert started == [TASK], "somebody used it"

    await phone.reset()
    machine = phone.bind(2)
    assert (await machine.perform(next(commands), WriteFile(path="note.txt", text="early"))).error is None
    await machine.prepare(TASK)
    assert started == [TASK, TASK], "something was done before it was prepared"
    read = await machine.perform(next(commands), ReadFile(path="note.txt"))
    assert read.error is not None


async def test_a_phone_of_another_screen_is_started_again(phone: PhoneSandbox) -> None:
    wide = TASK.model_copy(update={"parameters": {"screen": "480x800"}})
    seen = await phone.bind(1).prepare(wide)
    assert (seen.width, seen.height) == (480, 800)


async def test_a_phone_outlives_its_bridge(tmp_path: Path, data: Path) -> None:
    (tmp_path / "images").symlink_to(data / "images")
    name = await asyncio.to_thread(killed_bridge, tmp_path)
    host = PhoneHost(LocalHost(tmp_path), tmp_path)
    try:
        (adopted,) = await host.adopt([name])
        with pytest.raises(StaleLease):
            await adopted.bind(4).observe()
        machine = adopted.bind(5)
        await machine.perform(next(commands), WriteFile(path="note.txt", text="and still in use"))
        again = await machine.perform("adopted-0001", WriteFile(path="note.txt", text="still here"))
        assert again.error is None
        assert (await machine.perform(next(commands), ReadFile(path="note.txt"))).after.text == "and still in use"
        assert await adopted.healthy()
        await adopted.reset()
        assert await adopted.healthy()
    finally:
        await host.close()


def killed_bridge(data: Path) -> str:
    """Runs a bridge until its phone is in use, and kills it; the phone's id."""
    (data / "images").resolve().mkdir(exist_ok=True)
    bridge = subprocess.Popen([sys.executable, "-c", BRIDGE, str(data)], stdout=subprocess.PIPE, text=True)
    assert bridge.stdout is not None
    with bridge, bridge.stdout:
        name = bridge.stdout.readline().strip()
        os.kill(bridge.pid, signal.SIGKILL)
    return name
