"""The inbox folder for attempts: players put complete folders of trajectories in, the trainer takes them out.

A folder appears under its name when it is whole, and leaves after the checkpoint that has learned from it is there:
whatever is killed in between, each is learned from once. What cannot be used is set aside with the reasons. While too
few are there, a file reports the shortage to the players (`protocol.training.inbox`). It reads no tensors: importing it
takes no torch.
"""

import json
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from protocol.training.inbox import (
    PROCESSED_FOLDER,
    REASONS_FILE,
    REJECTED_FOLDER,
    SHORTAGE_FILE,
    AttemptShortage,
    waiting_folders,
)
from trainer.errors import RolloutsMissing, TrainerError

if TYPE_CHECKING:
    from trainer.rl.attempts import Attempt

LOOK_EVERY = 0.1
"""Seconds between two looks at a folder that has too little."""
OVER_SHARE = "over_judged_share"
"""Attempts wait because an update has its share of rewards that models decided."""
ALONE = "attempt_alone"
"""Attempts wait because no other attempt at their task is there to compare them with."""


@dataclass(frozen=True)
class AttemptBatch:
    """What an update learns from."""

    attempts: "tuple[Attempt, ...]"
    folders: tuple[str, ...]
    refused: Counter[str]
    """Attempts and folders that could not be used, by the reason's code."""


Read = Callable[[Path], "tuple[list[Attempt], Counter[str]]"]
"""The attempts of a folder, and why others of it cannot be used. Raises TrainerError for the whole folder."""

Check = Callable[["Attempt"], None]
"""Raises TrainerError for an attempt that cannot be used now."""


class Inbox:
    """The attempts that wait in a folder, the oldest names first."""

    def __init__(self, path: Path, *, patience: float) -> None:
        """`patience` is how many seconds it waits for what is missing."""
        self._path, self._patience = path, patience
        path.mkdir(parents=True, exist_ok=True)
        self._read: dict[str, tuple[list[Attempt], Counter[str]]] = {}
        self._reported: AttemptShortage | None = None

    def take(
        self,
        count: int,
        read: Read,
        check: Check,
        *,
        most_judged: int | None = None,
        compared: Collection[str] | None = None,
    ) -> AttemptBatch:
        """So many attempts or a few more, whole folders; what is left stays for the next time.

        Attempts that cannot be used are left out, and folders without any other set aside. `select_attempts` chooses
        from the others by `most_judged` and `compared`. Raises RolloutsMissing when too few come.
        """
        aside: Counter[str] = Counter()
        lost: dict[str, Counter[str]] = {}
        until = time.monotonic() + self._patience

        def usable() -> "Iterator[tuple[str, list[Attempt]]]":
            for name in waiting_folders(self._path):
                attempts, lost[name] = self._usable(name, read, check)
                if attempts:
                    yield name, attempts
                else:
                    self._refuse(name, lost[name])
                    aside.update(lost.pop(name))

        try:
            while True:
                chosen = select_attempts(usable(), count, most_judged=most_judged, compared=compared)
                refused = aside + sum((lost[name] for name in chosen.folders), Counter({OVER_SHARE: chosen.trimmed}))
                if len(chosen.attempts) >= count:
                    return AttemptBatch(tuple(chosen.attempts), tuple(chosen.folders), refused)
                waits = refused + chosen.waiting
                self._tell(
                    AttemptShortage(
                        wanted=count,
                        usable=len(chosen.attempts),
                        folders=tuple(chosen.folders),
                        later=tuple(chosen.later),
                        refused=dict(waits),
                    )
                )
                if time.monotonic() > until:
                    raise RolloutsMissing(
                        f"{len(chosen.attempts)} of {count} attempts came within {self._patience:g} s{_reasons(waits)}"
                    )
                time.sleep(LOOK_EVERY)
        finally:
            self._tell(None)

    def mark_processed(self, names: Iterable[str]) -> None:
        """Move these folders aside: their attempts were learned from."""
        for name in names:
            self._read.pop(name, None)
            self._set_aside(name, PROCESSED_FOLDER)

    def _usable(self, name: str, read: Read, check: Check) -> "tuple[list[Attempt], Counter[str]]":
        """The attempts of a folder that can be used now, and why others cannot."""
        try:
            if name not in self._read:
                self._read[name] = read(self._path / name)
        except TrainerError as error:
            return [], Counter([error.code])
        attempts, lost = self._read[name]
        usable, unusable = [], Counter(lost)
        for attempt in attempts:
            try:
                check(attempt)
            except TrainerError as error:
                unusable[error.code] += 1
            else:
                usable.append(attempt)
        return usable, unusable

    def _tell(self, short: AttemptShortage | None) -> None:
        """Say what is missing, or that nothing is."""
        target = self._path / SHORTAGE_FILE
        if short is None:
            target.unlink(missing_ok=True)
        elif short != self._reported:
            aside = target.with_name(f"{SHORTAGE_FILE}.part")
            aside.write_text(short.model_dump_json())
            os.replace(aside, target)
        self._reported = short

    def _refuse(self, name: str, reasons: Counter[str]) -> None:
        self._read.pop(name, None)
        (self._path / name / REASONS_FILE).write_text(json.dumps(reasons))
        self._set_aside(name, REJECTED_FOLDER)

    def _set_aside(self, name: str, where: str) -> None:
        source, target = self._path / name, self._path / where / name
        if not source.exists():
            return
        target.parent.mkdir(exist_ok=True)
        shutil.rmtree(target, ignore_errors=True)
        os.rename(source, target)


def _reasons(waits: Counter[str]) -> str:
    """Why some of the waiting attempts are not taken."""
    reasons = {
        OVER_SHARE: "have judged rewards and are more than may be",
        ALONE: "have no other attempt at their task to be compared with",
    }
    return "".join(f"; {waits[code]} {why}" for code, why in reasons.items() if waits[code])


@dataclass
class Selection:
    """The folders that an update takes, and those that wait."""

    folders: list[str] = field(default_factory=list)
    attempts: "list[Attempt]" = field(default_factory=list)
    trimmed: int = 0
    """Attempts of these folders that are left out because too many rewards were judged."""
    later: dict[str, str] = field(default_factory=dict)
    """The reason's code of each folder that waits for a later update or further attempts."""
    waiting: Counter[str] = field(default_factory=Counter)
    """Attempts in waiting folders, by the reason's code."""


def select_attempts(
    waiting: "Iterable[tuple[str, Sequence[Attempt]]]",
    count: int,
    *,
    most_judged: int | None = None,
    compared: Collection[str] | None = None,
) -> Selection:
    """Take whole folders in this order until `count` attempts or a few more are there.

    Args:
        waiting: Folders by name, each with one or more usable attempts. It is read only as far as needed.
        count: How many attempts the update wants.
        most_judged: The most attempts of the update whose rewards models decided; None: no limit.
        compared: Tasks with attempts in earlier updates, if the algorithm compares attempts at a task. A folder with
            nothing to compare waits until another attempt at its task is there; then both are taken. None: every
            attempt counts by itself.
    """
    chosen, held = Selection(), dict[str, "tuple[str, list[Attempt]]"]()
    tasks, room = set(compared or ()), sys.maxsize if most_judged is None else most_judged

    def take(name: str, attempts: "list[Attempt]") -> None:
        nonlocal room
        chosen.folders.append(name)
        chosen.attempts += attempts
        room -= _judged(attempts)
        for one in attempts:
            tasks.add(one.task)
            held.pop(one.task, None)

    for name, usable in waiting:
        fitting = _within_share(usable, room)
        if not fitting:
            chosen.later[name] = OVER_SHARE
            chosen.waiting[OVER_SHARE] += len(usable)
            continue
        siblings = {held[one.task][0]: held[one.task][1] for one in fitting if one.task in held}
        siblings = {one: several for one, several in siblings.items() if _judged(several) + _judged(fitting) <= room}
        if compared is not None and not siblings and not _comparable(fitting, tasks):
            for one in fitting:
                held.setdefault(one.task, (name, fitting))
            chosen.later[name] = ALONE
            chosen.waiting[ALONE] += len(fitting)
            continue
        for sibling, several in siblings.items():
            if _judged(several) + _judged(fitting) <= room:
                chosen.waiting[chosen.later.pop(sibling)] -= len(several)
                take(sibling, several)
        take(name, fitting)
        chosen.trimmed += len(usable) - len(fitting)
        if len(chosen.attempts) >= count:
            break
    return chosen


def _comparable(attempts: "Sequence[Attempt]", tasks: Collection[str]) -> bool:
    """Whether one of the attempts has another at its task, or steps of a person, to learn from."""
    at = Counter(one.task for one in attempts)
    return any(one.task in tasks or at[one.task] > 1 or one.has_human_steps for one in attempts)


def _judged(attempts: "Sequence[Attempt]") -> int:
    return sum(one.judged for one in attempts)


def _within_share(attempts: "Sequence[Attempt]", room: int) -> "list[Attempt]":
    """All but those judged attempts that are more than `room`."""
    places = [place for place, one in enumerate(attempts) if one.judged][max(0, room) :]
    return [one for place, one in enumerate(attempts) if place not in places]
