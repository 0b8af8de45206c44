"""What the processors of this machine compute for while a run goes on, by program.

Processes that tests start are often ended by others than the tests, so that no test is charged for them. Here each
process counts for its program, whoever started it.
"""

import os
import threading
from collections import Counter
from pathlib import Path
from types import TracebackType
from typing import Self

SAMPLE_SECONDS = 2.0
"""Looking at a few hundred processes takes about 10 ms."""
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PROC = Path("/proc")
KERNEL_THREAD = 0x00200000
"""The flag of a process that is a thread of the kernel (PF_KTHREAD)."""
MAX_LOOKS = 2
INTERPRETERS = ("python", "node")
WORKER_START = "import sys;exec(eval(sys.stdin.readline()))"
"""What execnet has the interpreters of pytest's workers do."""

Process = tuple[str, str]
"""A process id and when it started: ids are used again."""


class ProcessorUse:
    """Counts while it is entered, in a thread of its own. What lives shorter than a sample is not seen."""

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
        """Seconds that processors computed for each program."""
        found = Counter[str]()
        for process, ticks in self._last.items():
            found[self._programs[process]] += ticks - self._before.get(process, 0)
        return Counter({name: ticks / TICKS_PER_SECOND for name, ticks in found.items() if ticks})

    def sample(self) -> None:
        """Look at all processes once."""
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
        # A process is looked at twice: at first it may be its parent's copy still.
        if self._looks[process] < MAX_LOOKS:
            self._looks[process] += 1
            if command := (self._proc / pid / "cmdline").read_text(errors="replace").split("\0")[:-1]:
                self._programs[process] = program_name(command)

    def _run(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self.sample()


def program_name(command: list[str]) -> str:
    """What a process is called in a report: the program, and of an interpreter what it runs.

    Args:
        command: Its words; one long word where a program has written over them.
    """
    program, *words = command
    program = program.partition(" ")[0].rstrip(":").rpartition("/")[2]
    if kind := next((word for word in words if word.startswith("--type=")), ""):
        return f"{program} {kind.removeprefix('--type=')}"
    if not program.startswith(INTERPRETERS):
        return program
    return f"{program.rstrip('0123456789.')} {_interpreted(words)}".rstrip()


def _interpreted(words: list[str]) -> str:
    """What an interpreter runs: a module, a script with its first word, or a worker of pytest."""
    for at, word in enumerate(words):
        if word == "-m":
            return " ".join(["-m", *words[at + 1 : at + 2]])
        if word == "-c":
            return "pytest worker" if words[at + 1 :] == [WORKER_START] else "-c"
        if not word.startswith("-"):
            first = words[at + 1 : at + 2] if word.endswith("manage.py") else []
            return " ".join([word.rpartition("/")[2], *first])
    return ""
