"""Ends processes that an attempt left running, so that they can neither end nor mislead its tests."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

Message = dict[str, Any]

SHELLS = frozenset({"bash", "sh", "dash", "env", "setsid"})
"""Programs of the terminals: a shell that ran before the attempt may have been used by it."""
MAX_ROUNDS = 50
ROUND_SECONDS = 0.02
"""Time for killed processes to disappear before they are counted again."""


class ProcessId(NamedTuple):
    """A unique process identity: a pid is reused, but not together with its start time."""

    pid: int
    started: int
    """Ticks of the kernel's clock."""


class AttemptProcesses:
    """Tracks the processes from before the attempt. One per guest; two tools for suites."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._known: frozenset[ProcessId] | None = None

    def mark(self, _: Message) -> Message:
        """Record the running processes: the attempt begins."""
        self._known = frozenset(each for each in self._running() if self._program(each) not in SHELLS)
        return {"failed": None}

    def end(self, _: Message) -> Message:
        """End all processes that started after the mark, including the terminals' shells. Does nothing without a mark.

        Returns the number of processes that do not end.
        """
        if self._known is None:
            return {"failed": None}
        spared = self._known | {each for each in self._running() if each.pid in (1, os.getpid())}
        left: list[ProcessId] = []
        for _round in range(MAX_ROUNDS):
            left = [each for each in self._running() if each not in spared]
            if not left:
                return {"failed": None}
            for number in (signal.SIGSTOP, signal.SIGKILL):  # a stopped process starts no others
                for each in left:
                    with suppress(ProcessLookupError):
                        os.kill(each.pid, number)
            time.sleep(ROUND_SECONDS)
        return {"failed": f"{len(left)} processes of the attempt do not end"}

    def _running(self) -> list[ProcessId]:
        """Every running process."""
        found = []
        for name in os.listdir(self._proc):
            if name.isdecimal():
                with suppress(OSError):
                    fields = (self._proc / name / "stat").read_text("latin-1").rpartition(") ")[2].split()
                    if fields[0] not in "ZX":
                        found.append(ProcessId(int(name), int(fields[19])))
        return found

    def _program(self, process: ProcessId) -> str:
        try:
            return os.path.basename(os.readlink(self._proc / str(process.pid) / "exe"))
        except OSError:
            return ""
