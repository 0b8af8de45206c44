"""The folder through which attempts come: whoever plays puts whole folders of trajectories in, the trainer takes them.

A folder appears under its name when it is whole, and leaves after the checkpoint that has learned from it is there:
whatever is killed in between, each is learned from once. What cannot be used is set aside with the reason.
"""

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from trainer.attempts import Attempt
from trainer.errors import RolloutsMissing, TrainerError
from vocabulary.exports import UNFINISHED

TAKEN, REFUSED = ".taken", ".refused"
REASON = "refused.txt"
LOOK_EVERY = 0.1
"""Seconds between two looks at a folder that has too little."""


@dataclass(frozen=True)
class Taken:
    """What an update learns from."""

    attempts: tuple[Attempt, ...]
    folders: tuple[str, ...]
    refused: Counter[str]
    """Folders set aside on the way, by the reason's code."""


class Inbox:
    """The attempts that wait in a folder, the oldest names first."""

    def __init__(self, path: Path, *, patience: float) -> None:
        """`patience` is how many seconds it waits for what is missing."""
        self._path, self._patience = path, patience
        path.mkdir(parents=True, exist_ok=True)
        self._read: dict[str, list[Attempt]] = {}

    def take(self, count: int, read: Callable[[Path], list[Attempt]], check: Callable[[Attempt], None]) -> Taken:
        """So many attempts or a few more, whole folders; what is left stays for the next time.

        `read` and `check` raise TrainerError for what cannot be used; its whole folder is set aside. Raises
        RolloutsMissing when they do not come.
        """
        refused: Counter[str] = Counter()
        until = time.monotonic() + self._patience
        while True:
            chosen: list[str] = []
            found: list[Attempt] = []
            for name in waiting(self._path):
                attempts = self._attempts(name, read, check, refused)
                if attempts:
                    chosen.append(name)
                    found += attempts
                if len(found) >= count:
                    return Taken(tuple(found), tuple(chosen), refused)
            if time.monotonic() > until:
                raise RolloutsMissing(f"{len(found)} of {count} attempts came within {self._patience:g} s")
            time.sleep(LOOK_EVERY)

    def settle(self, names: Iterable[str]) -> None:
        """These were learned from."""
        for name in names:
            self._read.pop(name, None)
            self._set_aside(name, TAKEN)

    def _attempts(
        self, name: str, read: Callable[[Path], list[Attempt]], check: Callable[[Attempt], None], refused: Counter[str]
    ) -> list[Attempt]:
        try:
            if name not in self._read:
                self._read[name] = read(self._path / name)
            for attempt in self._read[name]:
                check(attempt)
        except TrainerError as error:
            self._read.pop(name, None)
            refused[error.code] += 1
            (self._path / name / REASON).write_text(f"{error.code}: {error}\n")
            self._set_aside(name, REFUSED)
            return []
        return self._read[name]

    def _set_aside(self, name: str, where: str) -> None:
        source, target = self._path / name, self._path / where / name
        if not source.exists():
            return
        target.parent.mkdir(exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        os.rename(source, target)


def waiting(path: Path) -> list[str]:
    """The whole folders in an inbox, the oldest name first."""
    found = (one.name for one in path.iterdir() if one.is_dir())
    return sorted(name for name in found if not name.startswith(".") and not name.endswith(UNFINISHED))
