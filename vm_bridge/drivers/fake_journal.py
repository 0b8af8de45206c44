"""What the guests of fake machines saw, to hold against what the holders of their leases believe."""

import json
import time
from pathlib import Path


class Journal:
    """Every call that reached a fake guest, in a file: when, which machine, under which token, whether it was refused.

    Processes that share the file do not mix their lines.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)

    def note(self, machine_id: str, token: int, *, stale: bool) -> None:
        """One call."""
        line = {"at": time.time(), "machine": machine_id, "token": token, "stale": stale}
        self._file.write(json.dumps(line).encode() + b"\n")
