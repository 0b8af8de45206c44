"""Which of the attempts that wait an update learns from."""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainer.rl.attempts import Attempt

OVER_SHARE = "over_judged_share"
"""Attempts wait because an update has its share of rewards that models decided."""
ALONE = "attempt_alone"
"""Attempts wait because no other attempt at their task is there to compare them with."""


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
