"""Whether tasks are spread over the levels of difficulty as wanted, and how many are missing. Pure functions."""

import math
from collections.abc import Mapping
from typing import Annotated, Self

from pydantic import Field, model_validator

from annotation_app.design.difficulty import LEVELS, Level
from protocol.base import FrozenModel

TOLERANCE = 0.1
"""A level is in balance if its tasks are within this part of the wanted number."""
WHOLE = 100
Percent = Annotated[int, Field(ge=0, le=WHOLE)]


class WantedShares(FrozenModel):
    """What percentage of the tasks each level should have; 100 together."""

    levels: Annotated[tuple[Percent, ...], Field(min_length=len(LEVELS), max_length=len(LEVELS))]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if sum(self.levels) != WHOLE:
            raise ValueError("the shares of the levels are 100 together")
        return self


EVEN = WantedShares(levels=(WHOLE // len(LEVELS),) * len(LEVELS))


class LevelBalance(FrozenModel):
    """One level: what there is, what is wanted, what is missing."""

    level: Level
    tasks: int
    share: float
    """0 to 1, of all tasks with a level."""
    wanted: float
    """0 to 1."""
    in_balance: bool
    missing: int
    """Tasks to add so that, with those missing of the other levels, all are in balance."""


def balance_of(counts: Mapping[int, int], wanted: WantedShares) -> tuple[LevelBalance, ...]:
    """The five levels. `missing` is of the smallest total that brings all levels into balance without taking a task
    away; tasks of a level of which none are wanted are left out of that total."""
    tasks = {level: counts.get(level, 0) for level in LEVELS}
    shares = {level: percent / WHOLE for level, percent in zip(LEVELS, wanted.levels, strict=True)}
    whole = sum(tasks.values())
    wanted_tasks = {level: tasks[level] for level in LEVELS if shares[level]}
    missing = _missing(wanted_tasks, shares)
    return tuple(
        LevelBalance(
            level=level,
            tasks=tasks[level],
            share=tasks[level] / whole if whole else 0.0,
            wanted=shares[level],
            in_balance=_in_balance(tasks[level], shares[level] * sum(wanted_tasks.values())),
            missing=missing.get(level, 0),
        )
        for level in LEVELS
    )


def _in_balance(tasks: int, wanted: float) -> bool:
    low, high = _bounds(wanted)
    return low <= tasks <= high


def _bounds(wanted: float) -> tuple[int, int]:
    """The least and the most whole tasks within the tolerance; products are rounded so that 0.9 x 20 is 18."""
    return math.ceil(round(wanted * (1 - TOLERANCE), 6)), math.floor(round(wanted * (1 + TOLERANCE), 6))


def _missing(tasks: Mapping[Level, int], shares: Mapping[Level, float]) -> dict[Level, int]:
    if not any(tasks.values()):
        return dict.fromkeys(tasks, 0)
    total = max(math.floor(count / (shares[level] * (1 + TOLERANCE))) for level, count in tasks.items())
    total = max(total, sum(tasks.values()))
    while True:
        bounds = {level: _bounds(shares[level] * total) for level in tasks}
        least = {level: max(tasks[level], bounds[level][0]) for level in tasks}
        if all(least[level] <= bounds[level][1] for level in tasks) and sum(least.values()) <= total:
            room = {level: bounds[level][1] - least[level] for level in tasks}
            if sum(least.values()) + sum(room.values()) >= total:
                break
        total += 1
    for _ in range(total - sum(least.values())):
        level = min((each for each in tasks if room[each]), key=lambda each: (least[each] - shares[each] * total, each))
        least[level] += 1
        room[level] -= 1
    return {level: least[level] - tasks[level] for level in tasks}
