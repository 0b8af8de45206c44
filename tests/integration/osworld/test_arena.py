"""Task files of WindowsAgentArena, set up and judged by a stand-in for its package in the evaluator's sandbox."""

import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import pytest_asyncio

from agent_backend.rollout.task_sources import read_tasks
from benchmarks.parts.published.adapters import arena_client
from benchmarks.parts.published.own_tasks import write_arena_task
from protocol.actions.types import RunCommand
from vm_bridge.errors import MachineGone, UnsupportedTask, VerifierFailed
from vm_bridge.hosts.osworld.evaluator_settings import EvaluatorSettings
from vm_bridge.hosts.osworld.host import ARENA, GuestHost
from vm_bridge.machine import Machine
from vm_bridge.simulators.osworld.process import REVERT, simulated_guest


class Guest:
    """A machine and the guest behind it, which can be switched off."""

    def __init__(self, machine: Machine, running: ExitStack) -> None:
        self.machine, self._running = machine, running

    def stop(self) -> None:
        self._running.close()


@pytest_asyncio.fixture
async def guest(tmp_path: Path) -> AsyncIterator[Guest]:
    with arena_client() as client, ExitStack() as running:
        address = running.enter_context(simulated_guest(tmp_path / "guest", "Windows"))
        settings = EvaluatorSettings(Path(sys.executable), files=client, arena=True)
        host = GuestHost(tmp_path, [address], REVERT, ARENA, settings)
        yield Guest((await host.create(ARENA.image)).bind(1), running)
        await host.close()


async def test_a_task_is_set_up_and_judged(guest: Guest, tmp_path: Path) -> None:
    (task,) = read_tasks(write_arena_task(tmp_path / "arena"))
    await guest.machine.prepare(task)
    assert (await guest.machine.evaluate()).score == 0
    await guest.machine.perform("solve", RunCommand(command="wc -l < ~/list.txt > ~/count.txt"))
    assert (await guest.machine.evaluate()).score == 1


async def test_a_guest_that_does_not_answer_is_no_score_of_zero(guest: Guest, tmp_path: Path) -> None:
    (task,) = read_tasks(write_arena_task(tmp_path / "arena"))
    await guest.machine.prepare(task)
    guest.stop()
    with pytest.raises(VerifierFailed):
        await guest.machine.evaluate()
    with pytest.raises(MachineGone):
        await guest.machine.prepare(task)


async def test_what_the_package_lacks_is_refused_before_anything_is_reset(guest: Guest, tmp_path: Path) -> None:
    (task,) = read_tasks(write_arena_task(tmp_path / "arena", {"func": "compare_table"}))
    await guest.machine.perform("leave", RunCommand(command="echo kept > ~/kept.txt"))
    with pytest.raises(UnsupportedTask, match="compare_table"):
        await guest.machine.prepare(task)
    kept = await guest.machine.perform("look", RunCommand(command="cat ~/kept.txt"))
    assert kept.after.text == "kept\n"
