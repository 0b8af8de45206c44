"""Guard process: ends every program of a supervisor that died without stopping them.

The supervisor holds the other end of this process's standard input. It writes `+ pid signal` when a program starts and
`- pid` when one has ended. The pipe closes when the supervisor ends in any way, including `kill -9`.
This file runs as a script and imports nothing from the project.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable

GRACE_SECONDS = 10.0
POLL_SECONDS = 0.05


def start_guard() -> "subprocess.Popen[str]":
    """Start the guard of this process, as a separate process that signals to ours do not reach."""
    command = [sys.executable, "-I", "-S", __file__]
    return subprocess.Popen(command, stdin=subprocess.PIPE, text=True, start_new_session=True)


def main(lines: Iterable[str]) -> None:
    """Follow the supervisor's messages to their end. Then end the remaining programs, gracefully first, in reverse
    order."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    running: dict[int, int] = {}
    for line in lines:
        match line.split():
            case ["+", pid, number]:
                running[int(pid)] = int(number)
            case ["-", pid]:
                running.pop(int(pid), None)
    for leader, stop_signal in reversed(running.items()):
        _send(os.kill, leader, stop_signal)
    deadline = time.monotonic() + GRACE_SECONDS
    while any(map(group_runs, running)) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    for leader in running:
        _send(os.killpg, leader, signal.SIGKILL)


def _send(how: Callable[[int, int], None], pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        how(pid, number)


def group_runs(group: int) -> bool:
    """Whether a process of the group runs. A zombie does not count: an orphan stays one until the system's first
    process reaps it, which may take seconds."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
            state, _, its_group = file.read().rpartition(")")[2].split()[:3]
            if int(its_group) == group and state not in "ZX":
                return True
    return False


if __name__ == "__main__":
    main(sys.stdin)
