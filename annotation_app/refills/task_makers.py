"""Makers of new tasks of a kind: an interface, and the bridge's suites behind it."""

from collections.abc import Callable, Mapping
from typing import Protocol

from asgiref.sync import async_to_sync

from annotation_app.live.suite_tasks import machine_choices, suite_tasks
from annotation_app.refills.planning import TaskKind
from protocol.trajectory.tasks import Language, Task, TaskVariant
from vm_bridge.fleet import SuiteInfo

MAX_SEEDS_TRIED = 1_000
"""Seeds of a suite that are asked for in one run."""


class TaskMaker(Protocol):
    """Makes tasks of the kinds that it knows."""

    def levels(self) -> Mapping[tuple[str, str], int]:
        """How many levels a task has, by suite and name; only those that it makes new tasks of."""
        ...

    def make(self, kind: TaskKind, count: int, *, like: Task, first_seed: int, held: Callable[[int], bool]) -> "Made":
        """New tasks of a kind.

        Args:
            count: Most tasks.
            like: A task of the pool; the new ones have its language and screen.
            first_seed: Where to begin.
            held: Whether a seed is for an evaluation, so that no task is made of it.

        Raises:
            Conflict: The bridge does not answer.
            Invalid: The suite does not have the kind.
        """
        ...

    def source(self, kind: TaskKind) -> str:
        """What is noted as the origin of the tasks."""
        ...


Made = tuple[Task, ...]


class SuiteMaker:
    """Takes the next seeds of the bridge's suites. Tasks of a suite that were made for one kind are there for the
    others, so an instance is for one run."""

    def __init__(self, suites: Mapping[str, SuiteInfo]) -> None:
        self._suites = suites
        self._made: dict[tuple[str, TaskVariant], tuple[Task, ...]] = {}

    def levels(self) -> Mapping[tuple[str, str], int]:
        """Of the suites whose seeds make other tasks."""
        return {
            (suite.name, task.name): task.levels
            for suite in self._suites.values()
            if suite.seeds > 1
            for task in suite.tasks
        }

    def make(self, kind: TaskKind, count: int, *, like: Task, first_seed: int, held: Callable[[int], bool]) -> Made:
        """The tasks of the next seeds that are not held; fewer where the suite has no more."""
        found = list[Task]()
        last = min(self._suites[kind.suite].seeds, first_seed + MAX_SEEDS_TRIED)
        for seed in range(first_seed, last):
            if len(found) == count:
                break
            if not held(seed):
                found += self._task(kind, seed, like)
        return tuple(found)

    def source(self, kind: TaskKind) -> str:
        """The suite."""
        return f"suite:{kind.suite}"

    def _task(self, kind: TaskKind, seed: int, like: Task) -> Made:
        variant = TaskVariant(seed=seed, level=kind.level, language=_language(like), size=_size(like))
        key = (kind.suite, variant)
        if key not in self._made:
            self._made[key] = async_to_sync(suite_tasks)(kind.suite, variant)
        return tuple(task for task in self._made[key] if task.name == kind.name)


def find_suite_maker() -> SuiteMaker | None:
    """The suites that the bridge reports now; None where it does not answer."""
    choices = async_to_sync(machine_choices)()
    return SuiteMaker({suite.name: suite for suite in choices.suites}) if choices.reachable else None


def _language(task: Task) -> Language:
    return "zh" if task.parameters.get("language") == "zh" else "en"


def _size(task: Task) -> tuple[int, int] | None:
    size = task.parameters.get("size")
    if isinstance(size, list) and len(size) == 2 and all(isinstance(side, int) for side in size):
        width, height = size
        return (int(str(width)), int(str(height)))
    return None
