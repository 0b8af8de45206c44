"""An earlier state is made again by doing again, on a twin, what was done; otherwise nothing changes."""

import asyncio
import itertools

import pytest

from protocol.actions.types import Action, OpenApp, ReadFile, RunCommand, TypeText
from protocol.trajectory.observations import Transition
from protocol.trajectory.tasks import Task
from tests.processes import first_process
from vm_bridge.errors import BridgeError, CannotRestore, MachineGone
from vm_bridge.hosts.local.sandbox import LocalSandbox
from vm_bridge.isolation.init_process import InitProcess
from vm_bridge.machine import Machine

TASK = Task(id="task-1", instruction="Do something.")
numbers = itertools.count()


async def do(machine: Machine, action: Action) -> Transition:
    return await machine.perform(f"restore-{next(numbers):04}", action)


async def test_windows_and_what_is_typed_in_them_come_back(desktop: LocalSandbox, machine: Machine) -> None:
    await machine.prepare(TASK)
    await do(machine, OpenApp(name="terminal"))
    typed = await do(machine, TypeText(text="echo first > note.txt; clear; echo seen\n"))
    kept = await machine.snapshot()
    await do(machine, TypeText(text="echo second > note.txt; exit\n"))
    old = first_process(desktop)
    assert desktop.frames is not None
    async with desktop.frames.subscribe(fps=30) as frames:
        before = await asyncio.wait_for(anext(frames), 10)
        seen = await machine.restore(kept)
        after = await asyncio.wait_for(anext(frames), 10)
    assert after.serial > before.serial
    assert seen.screenshot == typed.after.screenshot
    assert (await do(machine, ReadFile(path="note.txt"))).after.text == "first\n"
    with pytest.raises(MachineGone):
        InitProcess(old.pid, old.began)
    assert desktop.vnc_socket is not None
    assert desktop.vnc_socket.is_socket()


async def test_what_cannot_be_done_again_changes_nothing(desktop: LocalSandbox, machine: Machine) -> None:
    await machine.prepare(TASK)
    stamp = await do(machine, RunCommand(command="date +%s%N | tee stamp.txt"))
    kept = await machine.snapshot()
    await do(machine, RunCommand(command="echo later > later.txt"))
    tree = desktop.tree
    with pytest.raises(CannotRestore, match="files"):
        await machine.restore(kept)
    assert desktop.tree is tree
    assert (await do(machine, ReadFile(path="stamp.txt"))).after.text == stamp.after.text
    assert (await do(machine, ReadFile(path="later.txt"))).after.text == "later\n"
    twins = {path.name for path in tree.folder.parent.iterdir()} - {tree.folder.name}
    assert len(twins) <= 1  # the one that waits to be used next


async def test_one_step_back_after_another(machine: Machine) -> None:
    await machine.prepare(TASK)
    states = []
    for word in ("one", "two", "three"):
        states.append(await machine.snapshot())
        await do(machine, RunCommand(command=f"echo {word} >> words.txt"))
    for state, left in ((states[2], "one\ntwo\n"), (states[1], "one\n")):
        await machine.restore(state)
        assert (await do(machine, ReadFile(path="words.txt"))).after.text == left
        await machine.restore(state)
    with pytest.raises(CannotRestore):
        await machine.restore(states[2])


async def test_the_first_state_after_a_reset_is_of_a_screen_at_rest(desktop: LocalSandbox) -> None:
    """And not of one that is still black because the desktop before this one had come to rest."""
    for lease in (2, 3):
        await desktop.reset()
        machine = desktop.bind(lease)
        await machine.restore(await machine.snapshot())


async def test_the_end_of_the_lease_cuts_it_short(desktop: LocalSandbox, machine: Machine) -> None:
    await do(machine, RunCommand(command="sleep 0.5"))
    kept = await machine.snapshot()
    going_back = asyncio.create_task(machine.restore(kept))
    waits = asyncio.create_task(machine.restore(kept))
    await asyncio.sleep(0)
    await desktop.reset()
    for outcome in await asyncio.gather(going_back, waits, return_exceptions=True):
        assert isinstance(outcome, BridgeError)
    assert (await desktop.bind(2).observe(settle=True)).rest == "rested"
