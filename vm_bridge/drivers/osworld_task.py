"""OSWorld's task files: what is asked of the guest before an episode and after it, and what of that can be done."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from vm_bridge.drivers.osworld_metrics import METRICS
from vm_bridge.errors import UnsupportedTask
from vocabulary.base import Frozen
from vocabulary.tasks import Task

IMAGE = "osworld"
"""Of the machines that do what task files ask for."""
STEPS = frozenset(
    (
        *("download", "launch", "execute", "command", "open", "sleep", "activate_window", "close_window"),
        *("change_wallpaper", "chrome_open_tabs", "chrome_close_tabs"),
    )
)
GETTERS = frozenset(
    (
        *("vm_command_line", "vm_command_error", "vm_terminal_output", "vm_screen_size", "vm_file", "cloud_file"),
        *("list_directory", "rule"),
    )
)
INFEASIBLE = "infeasible"
PLACES = ("{CLIENT_PASSWORD}",)
"""What task files leave for the caller to put in and nobody here knows."""


class Step(Frozen):
    """One thing to be done in the guest."""

    type: str
    parameters: dict[str, Any] = {}


class Getter(Frozen):
    """Where a value comes from: its `type`, and what that needs."""

    type: str
    given: dict[str, Any] = {}


class Check(Frozen):
    """One metric over what was found and what was expected."""

    func: str
    result: Getter | None = None
    expected: Getter | None = None
    options: dict[str, Any] = {}


class Evaluator(Frozen):
    """How a file judges the end: `conjunction` says whether every check must hold, or one."""

    checks: tuple[Check, ...] = Field(min_length=1)
    conjunction: str = "and"
    before: tuple[Step, ...] = ()
    """What is done in the guest before it looks."""


class TaskFile(Frozen):
    """A start state and an evaluator."""

    config: tuple[Step, ...] = ()
    evaluator: Evaluator


_STEPS: TypeAdapter[tuple[Step, ...]] = TypeAdapter(tuple[Step, ...])


def task_file_of(task: Task | None) -> TaskFile | None:
    """The file a task was read from, None where it was from none. Raises UnsupportedTask."""
    given = None if task is None else task.parameters.get("osworld")
    if given is None:
        return None
    if not isinstance(given, dict):
        raise UnsupportedTask("osworld: it is no JSON object")
    file = task_file_read(given)
    if problems := tuple(unsupported(file)):
        raise UnsupportedTask("; ".join(problems))
    return file


def refusal_of(image: str, task: Task) -> str | None:
    """Why machines of this image would not judge a task that came from a file of OSWorld; None where they would, and
    for every other task."""
    if task.parameters.get("osworld") is None:
        return None
    if image != IMAGE:
        return f"machines of the image {image} judge no task file of OSWorld; those of the image {IMAGE} do"
    try:
        task_file_of(task)
    except UnsupportedTask as error:
        return str(error)
    return None


def task_file_read(given: Mapping[str, Any]) -> TaskFile:
    """Raises UnsupportedTask for what is no task file."""
    try:
        config = _STEPS.validate_python(given.get("config") or [])
        return TaskFile(config=config, evaluator=_evaluator(given["evaluator"]))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise UnsupportedTask(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnsupportedTask(f"this is no task file of OSWorld: {error}") from None


def unsupported(file: TaskFile) -> Iterable[str]:
    """What of a file nobody can do, each by its name."""
    for step in (*file.config, *file.evaluator.before):
        if step.type not in STEPS:
            yield f"config: {step.type} is not done"
        if any(place in str(step.parameters) for place in PLACES):
            yield f"config: {step.type} asks for the guest's password"
    for check in file.evaluator.checks:
        if check.func != INFEASIBLE:
            yield from _unsupported_check(check)


def _unsupported_check(check: Check) -> Iterable[str]:
    metric = METRICS.get(check.func)
    if metric is None:
        yield f"evaluator: the metric {check.func} is not known"
    elif metric.expects and check.expected is None:
        yield f"evaluator: {check.func} expects nothing"
    if check.result is None:
        yield f"evaluator: {check.func} looks at nothing"
    for getter in filter(None, (check.result, check.expected)):
        if getter.type not in GETTERS:
            yield f"evaluator: the getter {getter.type} is not known"
        if getter.given.get("multi") or getter.given.get("time_suffix"):
            yield f"evaluator: the getter {getter.type} asks for several files or a name by the time"


def _evaluator(given: Mapping[str, Any]) -> Evaluator:
    functions = given["func"]
    before = _STEPS.validate_python(given.get("postconfig") or [])
    if not isinstance(functions, list):
        check = _check(functions, given.get("result"), given.get("expected"), given.get("options"))
        return Evaluator(checks=(check,), before=before)
    columns = [_column(given.get(name), len(functions)) for name in ("result", "expected", "options")]
    checks = tuple(_check(*row) for row in zip(functions, *columns, strict=True))
    conjunction = given.get("conj", "and")
    if conjunction not in ("and", "or"):
        raise ValueError(f"conj: {conjunction!r}")
    return Evaluator(checks=checks, conjunction=conjunction, before=before)


def _column(given: Any, length: int) -> Sequence[Any]:
    if not given:
        return [None] * length
    if not isinstance(given, list) or len(given) != length:
        raise ValueError("func, result, expected and options have different lengths")
    return given


def _check(func: str, result: Any, expected: Any, options: Any) -> Check:
    return Check(func=func, result=_getter(result), expected=_getter(expected), options=options or {})


def _getter(given: Any) -> Getter | None:
    if not given:
        return None
    return Getter(type=given["type"], given={name: value for name, value in given.items() if name != "type"})
