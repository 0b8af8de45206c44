"""OSWorld's task files: the guest operations before and after an episode, in the terms of its package.

A file of OSWorld 2.0 is a program instead, which does both itself.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from protocol.base import FrozenModel
from protocol.benchmarks.forms import BENCHMARK, FormError
from protocol.benchmarks.task_programs import OSWORLD, TaskProgram, read_task_program
from protocol.trajectory.tasks import Task
from vm_bridge.errors import UnsupportedTask

APPLICATIONS_IMAGE = "applications"
"""Image of our own desktops with applications."""
ARENA_IMAGE = "windows-arena"
"""Image of the guests whose files WindowsAgentArena's own package judges; the files have the form of OSWorld's."""
ARENA = "windows-agent-arena"
"""The benchmark's name in a task."""
IMAGES = ("osworld", "osworld-windows", APPLICATIONS_IMAGE, ARENA_IMAGE)
"""Images of the machines that support task files."""
PackageNames = Mapping[str, frozenset[str]]
"""All `metrics`, `getters` and `steps` of a package."""
ABSENT_APPLICATIONS: Mapping[str, str] = {"vs_code": "Visual Studio Code"}
"""Applications in task files that our own desktops lack, and their display names."""
SUPPORTED_NAMES: PackageNames = {
    kind: frozenset(names)
    for kind, names in json.loads(Path(__file__).with_name("osworld_names.json").read_text("utf-8")).items()
}
"""Those of OSWorld's package."""
UNSUPPORTED_STEPS = frozenset({"act", "replay", "tidy_desktop"})
"""Steps that the package names but does not implement."""
UNSUPPORTED_NEEDS: Mapping[str, str] = {
    "phases": "form_unsupported: a task of several phases, each with an instruction of its own",
    "user": "user_needed: its agent asks a simulated user, which machines here do not have",
}
"""What task programs may need and no machine has, and how it is told."""
INFEASIBLE = "infeasible"
MAX_REPORTED_NAMES = 20


class Step(FrozenModel):
    """One operation in the guest."""

    type: str
    parameters: dict[str, Any] = {}


class Getter(FrozenModel):
    """Source of a value: its `type`, and its arguments."""

    type: str
    given: dict[str, Any] = {}


class MetricCheck(FrozenModel):
    """One metric over the found and the expected value."""

    func: str
    result: Getter | None = None
    expected: Getter | None = None


class Evaluator(FrozenModel):
    """How a file evaluates the final state."""

    checks: tuple[MetricCheck, ...]
    conj: Literal["and", "or"] = "and"
    before: tuple[Step, ...] = ()
    """Operations in the guest before the evaluation."""


class TaskFile(FrozenModel):
    """A start state and an evaluator, or a program that is both. `given` is the original file for the package."""

    config: tuple[Step, ...] = ()
    evaluator: Evaluator
    program: TaskProgram | None = None
    given: dict[str, Any]

    @property
    def judge(self) -> str:
        """What judges: the metrics, or the program's name."""
        if self.program is not None:
            return str(self.given.get("name") or self.program.id)
        return ", ".join(each.func for each in self.evaluator.checks)

    @property
    def parts(self) -> tuple["Step | Getter", ...]:
        """All operations and getters."""
        return (*self.steps, *self.getters)

    @property
    def steps(self) -> tuple[Step, ...]:
        """All operations in the guest."""
        return (*self.config, *self.evaluator.before)

    @property
    def getters(self) -> Iterator[Getter]:
        """All getters."""
        return (each for check in self.evaluator.checks for each in (check.result, check.expected) if each)


_STEPS: TypeAdapter[tuple[Step, ...]] = TypeAdapter(tuple[Step, ...])


def parse_task_file(task: Task | None, names: PackageNames | None = SUPPORTED_NAMES) -> TaskFile | None:
    """The task file of a task, or None if it has none. `names` are those of the package that judges it, None where
    they are not known here. Raises UnsupportedTask."""
    given = None if task is None else task.parameters.get(OSWORLD)
    if given is None:
        return None
    if not isinstance(given, dict):
        raise UnsupportedTask("osworld: it is no JSON object")
    file = validate_task_file(given)
    if names is not None:
        raise_unsupported(list_unsupported(file, names))
    return file


def unsupported_reason(image: str, task: Task) -> str | None:
    """Why machines of this image cannot evaluate an OSWorld task; None if they can, and for every other task."""
    if task.parameters.get(OSWORLD) is None:
        return None
    if image not in IMAGES:
        return f"machines of the image {image} judge no task file of OSWorld; those of {', '.join(IMAGES)} do"
    if (benchmark_name(task) == ARENA) != (image == ARENA_IMAGE) and benchmark_name(task):
        return f"machines of the image {image} judge no task of {benchmark_name(task)}"
    try:
        file = parse_task_file(task, None if image == ARENA_IMAGE else SUPPORTED_NAMES)
        if image == APPLICATIONS_IMAGE and file is not None:
            raise_unsupported(list_absent_applications(file))
    except UnsupportedTask as error:
        return str(error)
    return None


def benchmark_name(task: Task) -> str:
    """The benchmark that a task says it is of; empty where it says none."""
    given = task.parameters.get(BENCHMARK)
    return str(given.get("name", "")) if isinstance(given, dict) else ""


def validate_task_file(given: Mapping[str, Any]) -> TaskFile:
    """Raises UnsupportedTask for an invalid task file."""
    if "program" in given:
        return _program_file(given)
    try:
        evaluator = _evaluator(given["evaluator"])
        return TaskFile(config=_steps(given.get("config")), evaluator=evaluator, given=dict(given))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise UnsupportedTask(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UnsupportedTask(f"this is no task file of OSWorld: {error}") from None


def raise_unsupported(problems: Iterable[str]) -> None:
    """Raises UnsupportedTask if there are problems. It names up to `MAX_REPORTED_NAMES`, and the number of the rest."""
    if found := tuple(dict.fromkeys(problems)):
        more = f"; and {len(found) - MAX_REPORTED_NAMES} more" if len(found) > MAX_REPORTED_NAMES else ""
        raise UnsupportedTask("; ".join(found[:MAX_REPORTED_NAMES]) + more)


def list_unsupported(file: TaskFile, names: PackageNames = SUPPORTED_NAMES) -> Iterable[str]:
    """Names of everything in a file that the package lacks."""
    if file.program is not None:
        yield from (reason for need, reason in UNSUPPORTED_NEEDS.items() if need in file.program.needs)
    for step in file.steps:
        if step.type not in names["steps"]:
            yield f"config: there is no step {step.type}"
        elif step.type in UNSUPPORTED_STEPS:
            yield f"config: the package does not do {step.type}"
    for check in file.evaluator.checks:
        if check.func not in names["metrics"]:
            yield f"evaluator: the metric {check.func} is not known"
        if check.result is None and check.func != INFEASIBLE:
            yield f"evaluator: {check.func} looks at nothing"
    for getter in file.getters:
        if getter.type not in names["getters"]:
            yield f"evaluator: the getter {getter.type} is not known"


def list_absent_applications(file: TaskFile) -> Iterator[str]:
    """Applications in a file that our own desktops lack."""
    named = file.given.get("related_apps")
    for name in named if isinstance(named, list) else ():
        if isinstance(name, str) and name in ABSENT_APPLICATIONS:
            yield f"application_missing: {ABSENT_APPLICATIONS[name]}"


def _program_file(given: Mapping[str, Any]) -> TaskFile:
    try:
        program = read_task_program(str(given["program"]))
    except FormError as error:
        raise UnsupportedTask(str(error)) from None
    if program is None:
        raise UnsupportedTask("form_unsupported: it has no class with an id and an evaluate()")
    return TaskFile(evaluator=Evaluator(checks=()), program=program, given=dict(given))


def _evaluator(given: Mapping[str, Any]) -> Evaluator:
    functions, several = given["func"], isinstance(given["func"], list)
    names = functions if several else [functions]
    if not names:
        raise ValueError("evaluator.checks: it has no func")
    found, expected, _ = (
        _as_list(given.get(name) if several else [given.get(name)], len(names))
        for name in ("result", "expected", "options")
    )
    checks = tuple(
        MetricCheck(func=func, result=_getter(one), expected=_getter(other))
        for func, one, other in zip(names, found, expected, strict=True)
    )
    return Evaluator(checks=checks, conj=given.get("conj", "and"), before=_steps(given.get("postconfig")))


def _steps(given: Any) -> tuple[Step, ...]:
    return _STEPS.validate_python(given or [])


def _as_list(given: Any, length: int) -> Sequence[Any]:
    if not given:
        return [None] * length
    if not isinstance(given, list) or len(given) != length:
        raise ValueError("func, result, expected and options have different lengths")
    return given


def _getter(given: Any) -> Getter | None:
    if not given:
        return None
    return Getter(type=given["type"], given={name: value for name, value in given.items() if name != "type"})
