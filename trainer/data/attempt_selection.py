"""Which of the attempts that wait an update learns from."""

import sys
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from trainer.rl.attempts import Attempt

OVER_SHARE = "over_judged_share"
"""Why attempts wait whose rewards models decided, while others can be learned from."""
ALONE = "attempt_alone"
"""Why attempts wait that are compared with others at their task, while there is none."""


@dataclass
class Selection:
    """What is taken, and what waits."""

    folders: list[str] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    trimmed: int = 0
    """Attempts of these folders that are left out: their rewards were judged, and more than may be."""
    later: dict[str, str] = field(default_factory=dict)
    """Folders that wait for a later update or further attempts, each with the reason's code."""
    waiting: Counter[str] = field(default_factory=Counter)
    """How many attempts are in these, by the code."""


def select_attempts(
    waiting: Iterable[tuple[str, Sequence[Attempt]]],
    count: int,
    *,
    most_judged: int | None = None,
    compared: Collection[str] | None = None,
) -> Selection:
    """Take whole folders in this order until `count` attempts or a few more are there.

    Args:
        waiting: Folders by name, with the attempts that can be used now, at least one each. No more of them are looked
            at than are needed.
        count: How many attempts the update wants.
        most_judged: The most attempts of the update whose rewards models decided; None: all may be.
        compared: Where attempts at a task are compared with each other, the tasks of which earlier updates know some.
            A folder with nothing to compare waits until another attempt at its task is there, and both are taken.
            None: every attempt counts by itself.
    """
    chosen, held = Selection(), dict[str, tuple[str, list[Attempt]]]()
    tasks, room = set(compared or ()), sys.maxsize if most_judged is None else most_judged

    def take(name: str, attempts: list[Attempt]) -> None:
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


def _comparable(attempts: Sequence[Attempt], tasks: Collection[str]) -> bool:
    """Whether something can be learned from one of them: another is at its task, or a person spoke in it."""
    at = Counter(one.task for one in attempts)
    return any(one.task in tasks or at[one.task] > 1 or one.has_human_steps for one in attempts)


def _judged(attempts: Sequence[Attempt]) -> int:
    return sum(one.judged for one in attempts)


def _within_share(attempts: Sequence[Attempt], room: int) -> list[Attempt]:
    """All but those judged attempts that are more than `room`."""
    places = [place for place, one in enumerate(attempts) if one.judged][max(0, room) :]
    return [one for place, one in enumerate(attempts) if place not in places]
