"""Which tasks bring a script: those of suites with scripted experts, and Harbor folders with a solution."""

from collections.abc import Iterable, Mapping

from asgiref.sync import async_to_sync
from django.db.models import Exists, OuterRef, Q, TextField
from django.db.models.functions import Cast

from agent_backend.benchmark.manifest import TASK_SETS
from annotation_app.errors import Invalid
from annotation_app.live.suite_tasks import machine_choices
from annotation_app.tasks.models import Pool
from annotation_app.tasks.models import Task as TaskRow
from protocol.harbor.task_folders import HARBOR
from protocol.trajectory.tasks import Task, format_task_kind
from vm_bridge.fleet import SuiteInfo

SOLUTION = "solution/solve.sh"
"""The file of a Harbor folder that solves its task."""


def scripted_names(suites: Iterable[SuiteInfo]) -> Mapping[str, tuple[str, ...]]:
    """The names of the tasks with a script, by suite and by set of tasks."""
    names = {suite.name: tuple(task.name for task in suite.tasks if task.has_script) for suite in suites}
    sets = {
        name: tuple(task for task in tasks if task in names[suite])
        for name, (suite, tasks) in TASK_SETS.items()
        if suite in names
    }
    return names | sets


def scripted_pools(suites: Iterable[SuiteInfo]) -> tuple[str, ...]:
    """The names of the pools of which some task has a script."""
    kinds = [
        format_task_kind(suite.name, task.name, level)
        for suite in suites
        for task in suite.tasks
        if task.has_script
        for level in range(1, task.levels + 1)
    ]
    tasks = TaskRow.objects.filter(pool=OuterRef("pk")).annotate(text=Cast("definition", TextField()))
    scripted = tasks.filter(Q(kind__in=kinds) | Q(text__contains=f'"{SOLUTION}"'))
    return tuple(Pool.objects.filter(Exists(scripted)).order_by("name").values_list("name", flat=True))


def has_script(task: Task, names: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether a task has a script; `names` as `scripted_names` gives them."""
    if task.suite is not None:
        return task.name in names.get(task.suite, ())
    folder = task.parameters.get(HARBOR)
    files = folder.get("files") if isinstance(folder, dict) else None
    return isinstance(files, dict) and SOLUTION in files


def scripts_check(benchmark: str, *, chosen: tuple[str, ...], stored: tuple[Task, ...] | None) -> None:
    """Raises Invalid (`no_scripts`) where no task of an evaluation by scripts has one: of the `stored` tasks, else of
    the `chosen` tasks of a suite, or of all its tasks. A bridge that does not answer leaves it open."""
    machines = async_to_sync(machine_choices)()
    names = scripted_names(machines.suites)
    if stored is not None:
        known = machines.reachable or all(task.suite is None for task in stored)
        scripted = any(has_script(task, names) for task in stored)
    else:
        known = benchmark in names
        scripted = any(not chosen or name in chosen for name in names.get(benchmark, ()))
    if known and not scripted:
        message = "None of these tasks has a script: choose a revision, or other tasks."
        raise Invalid(message, code="no_scripts", field="revision")
