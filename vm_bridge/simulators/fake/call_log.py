"""What the guests of fake machines saw, to hold against what the holders of their leases believe."""

import time
from pathlib import Path
from typing import Literal

from protocol.base import FrozenModel


class CallEntry(FrozenModel):
    """One call that reached a guest, or a reset; `at` is seconds since the epoch."""

    at: float
    machine: str
    token: int
    event: Literal["admitted", "refused", "reset"]


class CallLog:
    """A file of entries, one a line, kept although the process is killed."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)

    def note(self, machine: str, token: int, event: Literal["admitted", "refused", "reset"]) -> None:
        """Now."""
        entry = CallEntry(at=time.time(), machine=machine, token=token, event=event)
        self._file.write(entry.model_dump_json().encode() + b"\n")


def read_entries(path: Path) -> tuple[CallEntry, ...]:
    """What was written so far, in the order in which it happened."""
    return tuple(map(CallEntry.model_validate_json, path.read_text().splitlines()))
