"""Tasks in AndroidWorld's form on the simulated phone, through the real adb and the walls of their program."""

import itertools
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agent_backend.rollout.task_sources import read_tasks
from benchmarks.parts.published.own_phone_tasks import (
    DARK,
    NETWORK,
    SEED,
    phone_environment,
    phone_row,
    write_phone_tasks,
)
from protocol.actions.types import Click, OpenApp, RunCommand
from protocol.benchmarks.forms import oracle_actions
from protocol.trajectory.tasks import Task
from vm_bridge.errors import MachineGone, UnsupportedAction, UnsupportedTask, VerifierFailed
from vm_bridge.hosts.local.host import LocalHost
from vm_bridge.hosts.phone.android_world import ProgramFailed
from vm_bridge.hosts.phone.devices import DeviceHost
from vm_bridge.hosts.phone.list_android_world import list_rows
from vm_bridge.hosts.phone.simulated import PhoneHost, PhoneSandbox
from vm_bridge.machine import Machine
from vm_bridge.simulators.phone.paths import STATE_FILE, TRUSTED_KEYS

commands = (f"world-{number:04}" for number in itertools.count())


@pytest.fixture(scope="module")
def python() -> Iterator[Path]:
    with phone_environment() as made:
        yield made


@pytest_asyncio.fixture
async def sandbox(data: Path, python: Path) -> AsyncIterator[PhoneSandbox]:
    host = PhoneHost(LocalHost(data), data, android_world=python)
    made = await host.create("phone")
    assert isinstance(made, PhoneSandbox)
    yield made
    await host.close()


def task(folder: Path, name: str, goal: str, **place: Any) -> Task:
    return read_tasks(write_phone_tasks(folder, phone_row(name, goal, **place)))[0]


async def play(machine: Machine, played: Task) -> None:
    for action in oracle_actions(played):
        assert (await machine.perform(next(commands), action)).error is None


async def test_a_task_is_set_up_played_and_scored_by_the_package(sandbox: PhoneSandbox, tmp_path: Path) -> None:
    machine = sandbox.bind(1)
    dark = task(tmp_path, "DarkTheme", DARK)
    for _ in range(2):  # what the first attempt left is restored from the snapshot before the second
        await machine.prepare(dark)
        assert (await machine.evaluate(answer="It is dark now.")).score == 0
        await play(machine, dark)
        verdict = await machine.evaluate()
        assert (verdict.success, verdict.score) == (True, 1.0)

    with pytest.raises(UnsupportedAction):  # adb's shell could write what is scored
        await machine.perform(next(commands), RunCommand(command="echo '{}' > phone/state.json"))
    asked = task(tmp_path / "asked", "NetworkName", NETWORK)
    await machine.prepare(asked)
    assert (await machine.evaluate(answer="TrainNet")).score == 0
    assert (await machine.evaluate(answer="Maple Home")).score == 1


async def test_what_cannot_be_scored_is_told_from_what_the_attempt_broke(sandbox: PhoneSandbox, tmp_path: Path) -> None:
    machine = sandbox.bind(1)
    await machine.prepare(task(tmp_path / "1", "Unjudgeable", "Do what nobody can judge."))
    with pytest.raises(VerifierFailed, match="no such table"):
        await machine.evaluate()
    fragile = task(tmp_path / "2", "Fragile", DARK)
    await machine.prepare(fragile)
    await machine.perform(next(commands), OpenApp(name="Settings"))
    await machine.perform(next(commands), Click(x=206, y=481))
    await machine.perform(next(commands), Click(x=206, y=828))
    broken = await machine.evaluate()
    assert (broken.success, broken.score) == (False, 0.0)
    assert "no such row" in broken.reason
    with pytest.raises(MachineGone, match="Unpreparable"):
        await machine.prepare(task(tmp_path / "3", "Unpreparable", "Begin nowhere."))
    await machine.prepare(task(tmp_path / "timed", "Timed", "Do nothing at 5.", params={"time": 5}))
    assert (await machine.evaluate()).score == 1
    await machine.prepare(task(tmp_path / "4", "Nosy", "Look around."))
    assert (await machine.evaluate()).score == 0
    await sandbox.destroy()
    with pytest.raises(MachineGone):
        await machine.evaluate()


async def test_a_real_device_is_set_up_scored_and_put_back(sandbox: PhoneSandbox, tmp_path: Path, python: Path) -> None:
    """A simulated phone in the place of a real one, reached by another server of adb."""
    host = DeviceHost(tmp_path, [sandbox.address], [], python)
    try:
        await host.adb.start()
        await sandbox.environment(1).write(str(TRUSTED_KEYS), host.adb.public_key)
        device = await host.create("android")
        machine, dark = device.bind(1), task(tmp_path / "dark", "DarkTheme", DARK)
        await machine.prepare(dark)
        assert (await machine.evaluate()).score == 0
        await play(machine, dark)
        assert (await machine.evaluate()).score == 1
        await device.reset()  # the lease ends, and the package undoes its task
        state = json.loads(await sandbox.environment(1).read(str(STATE_FILE)) or "")
        assert state["settings"]["theme"] == "light"
        await device.bind(2).prepare(Task(id="plain", instruction="Do.", platform="phone"))
        assert (await device.bind(2).evaluate()).success is None
    finally:
        await host.close()


async def test_a_task_that_the_package_does_not_have_is_refused(
    sandbox: PhoneSandbox, tmp_path: Path, python: Path
) -> None:
    machine = sandbox.bind(1)
    for wrong in (
        task(tmp_path / "1", "Dreams", DARK),
        task(tmp_path / "2", "DarkTheme", "Other words."),
        task(tmp_path / "3", "DarkTheme", DARK, family="other"),
    ):
        with pytest.raises(UnsupportedTask):
            await machine.prepare(wrong)
    plain = Task(id="plain", instruction="Do.", platform="phone")
    await machine.prepare(plain)
    assert (await machine.perform(next(commands), RunCommand(command="echo here"))).after.text == "here\n"
    assert (await machine.evaluate()).success is None


async def test_tasks_are_listed_with_parameters_that_are_made_again(python: Path) -> None:
    asked = {"do": "list", "family": "android_world", "seed": SEED, "combinations": 2}
    rows = {
        (row["android_world"]["task"], row["android_world"]["combination"]): row
        for row in await list_rows(python, asked)
    }
    again = {row["goal"] for row in await list_rows(python, asked)}
    numbered = {rows["Numbered", number]["goal"] for number in (0, 1)}
    assert len(numbered) == 2
    assert numbered <= again  # the seed makes them again; JSON could not carry them
    assert "params" not in rows["Numbered", 0]["android_world"]
    timed = rows["Timed", 0]
    assert timed["goal"] not in again
    assert str(timed["android_world"]["params"]["time"]) in timed["goal"]
    with pytest.raises(ProgramFailed, match="Unsupported family"):
        await list_rows(python, {**asked, "family": "other"})
