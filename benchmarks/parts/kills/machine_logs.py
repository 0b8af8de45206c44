"""What really happened inside the machines: lines that acts append to a file there, read from outside.

A machine's file is empty after a reset, so lines of two episodes in one file mean that both held the machine.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

LOG_FILE = "tmp/witness"
"""Below the root of a machine's file system."""
POLL_SECONDS = 0.25
GUEST = b"vm_bridge.guest.linux.main"


class MachineLogReader:
    """Reads the files of machines that this run's episodes wrote to, again and again, until those machines end."""

    def __init__(self, run: str) -> None:
        """`run` begins every line of this run: other machines of this host are somebody else's."""
        self._run = run
        self.files: dict[str, list[str]] = {}
        """The lines of each machine's file, by the first one, which no other file has."""
        self.typed: dict[str, list[str]] = {}
        """What pages of browsers held at the end of their episode."""
        self.ended: set[str] = set()
        """Episodes whose machine was ended on purpose."""

    async def run_forever(self) -> None:
        """Runs for ever."""
        while True:
            await asyncio.to_thread(self.read_all)
            await asyncio.sleep(POLL_SECONDS)

    def read_all(self) -> None:
        """Read every machine's file."""
        for pid in guest_pids():
            self.read(pid)

    def read(self, pid: int) -> bool:
        """Read one machine's file; whether it is one of this run's."""
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/root/{LOG_FILE}").read_text().splitlines()
            if lines and lines[0].startswith(self._run):
                self.files[lines[0]] = max(lines, self.files.get(lines[0], []), key=len)
                return True
        return False

    def end(self, pid: int) -> None:
        """Read a machine's file before the machine is ended, and note whose it was."""
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{pid}/root/{LOG_FILE}").read_text().splitlines()
            if self.read(pid):
                self.ended.add(lines[-1].split()[1])

    def alive(self) -> list[int]:
        """The first processes of machines that this run's episodes wrote to."""
        return [pid for pid in guest_pids() if self.read(pid)]

    @property
    def acts(self) -> "Counter[str]":
        """How often each command was done."""
        lines = [line.split()[2] for lines in self.files.values() for line in lines]
        return Counter(lines) + Counter(name for names in self.typed.values() for name in names)

    @property
    def doubly_held(self) -> int:
        """Machines that two episodes wrote to without a reset in between."""
        return sum(len({line.split()[1] for line in lines}) > 1 for lines in self.files.values())


def guest_pids() -> Iterator[int]:
    """The first process of every desktop and terminal on this host."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            with contextlib.suppress(OSError):
                if GUEST in (entry / "cmdline").read_bytes():
                    yield int(entry.name)


def log_command(run: str, episode: str, command_id: str) -> str:
    """The shell command that leaves a line."""
    return f"echo {run} {episode} {command_id} >> /{LOG_FILE}"
