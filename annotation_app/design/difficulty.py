"""How hard a task is: a rubric of what can be counted of it, and the level that follows. Pure functions."""

from typing import Annotated, Literal

from pydantic import Field

from protocol.base import FrozenModel
from protocol.trajectory.tasks import Task

Level = Literal[1, 2, 3, 4, 5]
LEVELS: tuple[Level, ...] = (1, 2, 3, 4, 5)
Count = Annotated[int, Field(ge=0, le=1_000)]
STEPS_OF = (4, 10, 20, 40)
"""Up to so many steps a task has 0, 1, 2, 3 points; with more, 4."""
MAX_POINTS = 2
"""Points that pages, prerequisites or exceptions give at the most, each."""
LEVEL_OF = (0, 2, 4, 6)
"""Up to so many points a task is of level 1, 2, 3, 4; with more, of 5."""


class Rubric(FrozenModel):
    """What makes a task hard, counted."""

    steps: Count = 1
    """Acts that a person who knows the way needs."""
    pages: Count = 0
    """Changes from one page, window or program to another that carry something along."""
    prerequisites: Count = 0
    """What must be found out or set up before the first act that counts."""
    exceptions: Count = 0
    """What goes wrong or stands in the way, and has to be handled."""


class RubricScale(FrozenModel):
    """How a rubric becomes a level, for pages that show it before it is saved."""

    steps_of: tuple[int, ...]
    max_points: int
    level_of: tuple[int, ...]


RUBRIC_SCALE = RubricScale(steps_of=STEPS_OF, max_points=MAX_POINTS, level_of=LEVEL_OF)


def points_of(rubric: Rubric) -> int:
    """0 to 10: four for steps at the most, two for each of the others."""
    steps = sum(rubric.steps > bound for bound in STEPS_OF)
    return steps + sum(min(count, MAX_POINTS) for count in (rubric.pages, rubric.prerequisites, rubric.exceptions))


def level_of(rubric: Rubric) -> Level:
    """1, easy, to 5."""
    return LEVELS[sum(points_of(rubric) > bound for bound in LEVEL_OF)]


def guess_rubric(task: Task) -> Rubric:
    """A first guess from what a task says of itself, until somebody has looked: half of the steps it allows are needed,
    and each level of a suite beyond the first brings one more of what has to be prepared."""
    level = task.parameters.get("level", 1)
    beyond = level - 1 if isinstance(level, int) else 0
    return Rubric(steps=max(1, task.max_steps // 2), prerequisites=max(0, beyond))
