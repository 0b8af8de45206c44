"""Stored tasks whose suite, or whose suite entry, is missing in this version. They cannot be assigned."""

from collections import defaultdict

from asgiref.sync import async_to_sync
from django.core.cache import cache

from annotation_app.live.suite_tasks import MachineChoices, machine_choices
from annotation_app.tasks.selectors import suite_tasks_waiting
from protocol.base import FrozenModel
from protocol.trajectory.tasks import format_task_kind

CACHE_KEY, CACHE_SECONDS, UNREACHABLE_SECONDS = "tasks:missing-suites", 60, 10


class MissingSuite(FrozenModel):
    """Waiting tasks of a pool that no machine can start."""

    pool: int
    pool_name: str
    name: str
    """The missing suite, or the suite and the name of a task that it lacks."""
    tasks: int


def missing_suites() -> tuple[MissingSuite, ...]:
    """What is missing in which pool, cached for up to a minute. Empty if the bridge does not answer."""
    known: list[dict[str, object]] | None = cache.get(CACHE_KEY)
    if known is not None:
        return tuple(map(MissingSuite.model_validate, known))
    choices = async_to_sync(machine_choices)()
    found = _missing(choices) if choices.reachable else ()
    seconds = CACHE_SECONDS if choices.reachable else UNREACHABLE_SECONDS
    cache.set(CACHE_KEY, [one.model_dump() for one in found], seconds)
    return found


def _missing(choices: MachineChoices) -> tuple[MissingSuite, ...]:
    names = {suite.name for suite in choices.suites}
    kinds = {
        format_task_kind(suite.name, task.name, level)
        for suite in choices.suites
        for task in suite.tasks
        for level in range(1, task.levels + 1)
    }
    counts: defaultdict[tuple[int, str, str], int] = defaultdict(int)
    for pool, pool_name, kind, tasks in suite_tasks_waiting(other_than=kinds):
        suite = kind.partition("/")[0]
        counts[pool, pool_name, kind if suite in names else suite] += tasks
    return tuple(
        MissingSuite(pool=pool, pool_name=pool_name, name=name, tasks=tasks)
        for (pool, pool_name, name), tasks in sorted(counts.items(), key=lambda item: (item[0][1], item[0][2]))
    )
