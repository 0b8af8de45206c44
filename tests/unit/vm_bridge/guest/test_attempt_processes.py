"""Ending what an attempt left running: what began since the mark goes, what was there before stays."""

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from vm_bridge.guest.linux.attempt_processes import AttemptProcesses


class Processes:
    """A /proc of some processes; those that may be killed are real, and their numbers are looked up when asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)
        self.started.append(process)
        (self.folder / str(process.pid)).symlink_to(f"/proc/{process.pid}")
        return process


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    made = Processes(tmp_path)
    yield made
    for process in made.started:
        process.kill()
        process.communicate()


def test_what_began_since_the_mark_is_ended(processes: Processes) -> None:
    own = processes.start("cat")
    known = AttemptProcesses(processes.folder)
    assert known.mark({}) == {"failed": None}
    left = [processes.start("cat"), processes.start("sleep", "1000")]
    assert known.end({}) == {"failed": None}
    assert [process.wait() for process in left] == [-signal.SIGKILL, -signal.SIGKILL]
    assert own.poll() is None


def test_a_shell_that_stood_there_before_is_ended_too(processes: Processes) -> None:
    shell = processes.start("bash")
    known = AttemptProcesses(processes.folder)
    known.mark({})
    known.end({})
    assert shell.wait() == -signal.SIGKILL


def test_without_a_mark_nothing_is_ended(processes: Processes) -> None:
    running = processes.start("cat")
    assert AttemptProcesses(processes.folder).end({}) == {"failed": None}
    assert running.poll() is None


def test_the_guest_itself_stays(processes: Processes) -> None:
    known = AttemptProcesses(processes.folder)
    known.mark({})
    (processes.folder / str(os.getpid())).symlink_to(f"/proc/{os.getpid()}")
    assert known.end({}) == {"failed": None}


def test_a_process_that_does_not_end_is_told(processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    known = AttemptProcesses(processes.folder)
    known.mark({})
    processes.start("cat")
    monkeypatch.setattr("vm_bridge.guest.linux.attempt_processes.os.kill", lambda pid, number: None)
    monkeypatch.setattr("vm_bridge.guest.linux.attempt_processes.time.sleep", lambda seconds: None)
    assert known.end({}) == {"failed": "1 processes of the attempt do not end"}
