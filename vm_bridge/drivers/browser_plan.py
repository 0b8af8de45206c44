"""What a task's parameters ask of a browser: which page, which screen, whose time."""

from collections.abc import Mapping
from dataclasses import replace

from vm_bridge.browser import Clock
from vm_bridge.drivers.browser_episode import Plan
from vm_bridge.drivers.browser_start import SIZE
from vm_bridge.drivers.computer_task import format_of
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.suites.scenes import WebSuite
from vocabulary.observations import MAX_PACE
from vocabulary.tasks import Task

MIN_SIDE, MAX_SIDE = 64, 2560


def plan_of(suites: Mapping[str, WebSuite], task: Task | None) -> Plan:
    """Raises UnknownTask, InvalidAction."""
    plan = Plan(task, _suite(suites, task), _size(task), _clock(task), format_of(task), _pace(task))
    return replace(plan, screen=plan.scene().size)


def _suite(suites: Mapping[str, WebSuite], task: Task | None) -> WebSuite | None:
    if task is None or task.suite is None:
        return None
    suite = suites.get(task.suite)
    if suite is None:
        raise UnknownTask(f"there is no web suite {task.suite!r}")
    return suite


def _size(task: Task | None) -> tuple[int, int]:
    match None if task is None else task.parameters.get("size"):
        case None:
            return SIZE
        case [int(width), int(height)] if min(width, height) >= MIN_SIDE and max(width, height) <= MAX_SIDE:
            return width, height
    raise InvalidAction(f"a screen is [width, height], each from {MIN_SIDE} to {MAX_SIDE}")


def _clock(task: Task | None) -> Clock:
    """Everybody's time is the script's clock, set to go on by itself: so it can still be gone back over."""
    wanted = "exact" if task is None else task.parameters.get("clock", "exact")
    if wanted not in tuple(Clock):
        raise InvalidAction(f"a clock is one of {', '.join(Clock)}, not {wanted!r}")
    return Clock.EXACT if wanted == Clock.EXACT else Clock.SCRIPT


def _pace(task: Task | None) -> float:
    usual = 1 if task is not None and task.parameters.get("clock") == Clock.REAL else 0
    wanted = usual if task is None else task.parameters.get("pace", usual)
    if isinstance(wanted, int | float) and 0 <= wanted <= MAX_PACE:
        return float(wanted)
    raise InvalidAction(f"a pace is from 0 to {MAX_PACE:g}, not {wanted!r}")
