"""Ends what an attempt left running, so that it can neither end nor mislead the tests that judge it."""

import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

Message = dict[str, Any]

SHELLS = frozenset({"bash", "sh", "dash", "env", "setsid"})
"""Programs of the terminals: a shell that stood there before the attempt may be doing its work since."""
MAX_ROUNDS = 50
ROUND_SECONDS = 0.02
"""How long ended processes get to go before they are counted again."""


class ProcessId(NamedTuple):
    """A process that cannot be taken for another one: a number is used again, together with its start it is not."""

    pid: int
    started: int
    """Ticks of the kernel's clock."""


class AttemptProcesses:
    """Knows which processes were there before the attempt. One of a guest; two tools of suites."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc
        self._known: frozenset[ProcessId] | None = None

    def mark(self, _: Message) -> Message:
        """Take note of what runs now: the attempt begins."""
        self._known = frozenset(each for each in self._running() if self._program(each) not in SHELLS)
        return {"failed": None}

    def end(self, _: Message) -> Message:
        """End everything that began since the mark, the terminals' shells included; without a mark nothing.

        Says how many do not end.
        """
        if self._known is None:
            return {"failed": None}
        spared = self._known | {each for each in self._running() if each.pid in (1, os.getpid())}
        left: list[ProcessId] = []
        for _round in range(MAX_ROUNDS):
            left = [each for each in self._running() if each not in spared]
            if not left:
                return {"failed": None}
            for number in (signal.SIGSTOP, signal.SIGKILL):  # what is stopped begins no other
                for each in left:
                    with suppress(ProcessLookupError):
                        os.kill(each.pid, number)
            time.sleep(ROUND_SECONDS)
        return {"failed": f"{len(left)} processes of the attempt do not end"}

    def _running(self) -> list[ProcessId]:
        """Every process that has not ended yet."""
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
