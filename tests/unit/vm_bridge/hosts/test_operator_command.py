"""A command of the operator's: it is waited for alone, and ended with all of its group."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import eventually
from vm_bridge.errors import MachineGone
from vm_bridge.hosts import external_machines
from vm_bridge.hosts.external_machines import run_operator_command


class BackgroundProcess:
    """A process that a script starts beside itself, and whose number it writes down."""

    def __init__(self, note: Path) -> None:
        self._note = note

    def script(self, start: str, then: str) -> tuple[str, ...]:
        return ("sh", "-c", f"{start} & echo $! > {self._note}.new; mv {self._note}.new {self._note}; {then}")

    @property
    def pid(self) -> int:
        return int(self._note.read_text())

    def has_started(self) -> bool:
        return self._note.exists()

    def lives(self) -> bool:
        try:
            return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False


@pytest.fixture
def background_process(tmp_path: Path) -> Iterator[BackgroundProcess]:
    background_process = BackgroundProcess(tmp_path / "pid")
    yield background_process
    if background_process.has_started() and background_process.lives():
        os.kill(background_process.pid, signal.SIGKILL)


async def test_it_has_ended_when_it_has_whatever_it_leaves_running(background_process: BackgroundProcess) -> None:
    async with asyncio.timeout(60):
        await run_operator_command(background_process.script("sleep 600", "exit 0"))
    assert background_process.lives()


async def test_who_no_longer_waits_ends_it_with_what_it_started(background_process: BackgroundProcess) -> None:
    running = asyncio.create_task(run_operator_command(background_process.script("sleep 600", "wait")))
    await eventually(background_process.has_started)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await eventually(lambda: not background_process.lives())


async def test_what_takes_too_long_is_ended_with_what_it_started(
    background_process: BackgroundProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_machines, "REVERT_SECONDS", 2.0)
    with pytest.raises(MachineGone, match="did not end within 2 s"):
        await run_operator_command(background_process.script("sleep 600", "wait"))
    await eventually(lambda: not background_process.lives())


async def test_a_machine_in_a_session_of_its_own_outlives_its_script(background_process: BackgroundProcess) -> None:
    running = asyncio.create_task(run_operator_command(background_process.script("exec setsid sleep 600", "wait")))
    await eventually(
        lambda: background_process.has_started() and os.getsid(background_process.pid) == background_process.pid
    )
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert background_process.lives()


async def test_what_failed_says_why() -> None:
    with pytest.raises(MachineGone, match="sh ended with 3: no such snapshot"):
        await run_operator_command(("sh", "-c", "echo no such snapshot >&2; exit 3"))
    with pytest.raises(MachineGone, match="nowhere"):
        await run_operator_command(("/nowhere/at/all",))
