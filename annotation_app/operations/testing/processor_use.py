"""CPU use of this machine during a run, by program.

Processes that tests start are often ended by other processes, so that no test is charged for them. Here each process
counts for its program, regardless of its parent.
"""

import os
import threading
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

SAMPLE_SECONDS = 2.0
"""Sampling a few hundred processes takes about 10 ms."""
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")
KERNEL_THREAD = 0x00200000
"""The flag of a kernel thread (PF_KTHREAD)."""
MAX_LOOKS = 2
INTERPRETERS = ("python", "node")
WORKER_START = "import sys;exec(eval(sys.stdin.readline()))"
"""The code that execnet runs in the interpreters of pytest's workers."""

Process = tuple[str, str]
"""A process id and its start time, because ids are reused."""


class ProcessorUse:
    """Samples in a thread of its own while the context is active. Processes shorter than a sample interval are not
    seen."""

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc
        self._before: dict[Process, int] = {}
        self._last: dict[Process, int] = {}
        self._programs: dict[Process, str] = {}
        self._looks = Counter[Process]()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self.sample()
        self._before = dict(self._last)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()
        self.sample()

    def by_program(self) -> Counter[str]:
        """CPU seconds of each program."""
        found = Counter[str]()
        for process, ticks in self._last.items():
            found[self._programs[process]] += ticks - self._before.get(process, 0)
        return Counter({name: ticks / TICKS_PER_SECOND for name, ticks in found.items() if ticks})

    def sample(self) -> None:
        """Sample all processes once."""
        for folder in os.listdir(self._proc):
            if folder.isdecimal():
                try:
                    self._sample_process(folder)
                except OSError:
                    continue  # it has just ended

    def _sample_process(self, pid: str) -> None:
        name, _, rest = (self._proc / pid / "stat").read_text(errors="replace").partition("(")[2].rpartition(")")
        words = rest.split()
        process = (pid, words[19])
        self._programs.setdefault(process, "kernel" if int(words[6]) & KERNEL_THREAD else name)
        self._last[process] = int(words[11]) + int(words[12])
        # Read a process twice: at first it may still be its parent's copy.
        if self._looks[process] < MAX_LOOKS:
            self._looks[process] += 1
            if command := (self._proc / pid / "cmdline").read_text(errors="replace").split("\0")[:-1]:
                self._programs[process] = program_name(command)

    def _run(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self.sample()


def program_name(command: list[str]) -> str:
    """A process's name in a report: the program, and for an interpreter what it runs.

    Args:
        command: Its words; one long word if the program has overwritten them.
    """
    program, *words = command
    program = program.partition(" ")[0].rstrip(":").rpartition("/")[2]
    if kind := next((word for word in words if word.startswith("--type=")), ""):
        return f"{program} {kind.removeprefix('--type=')}"
    if not program.startswith(INTERPRETERS):
        return program
    return f"{program.rstrip('0123456789.')} {_interpreted(words)}".rstrip()


def _interpreted(words: list[str]) -> str:
    """What an interpreter runs: a module, a script with its first word, or a pytest worker."""
    for at, word in enumerate(words):
        if word == "-m":
            return " ".join(["-m", *words[at + 1 : at + 2]])
        if word == "-c":
            return "pytest worker" if words[at + 1 :] == [WORKER_START] else "-c"
        if not word.startswith("-"):
            first = words[at + 1 : at + 2] if word.endswith("manage.py") else []
            return " ".join([word.rpartition("/")[2], *first])
    return ""
