"""Parses a task's parameters for a browser: page, screen and clock."""

from collections.abc import Mapping
from dataclasses import replace

from protocol.site_tasks import SITE_TASK
from protocol.trajectory.observations import MAX_TIME_SCALE
from protocol.trajectory.tasks import Task
from vm_bridge.browser import Clock
from vm_bridge.drivers.browser.blank_page import DEFAULT_SIZE
from vm_bridge.drivers.browser.episode import EpisodeConfig
from vm_bridge.drivers.task_parameters import parse_image_format
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.suites.web_suite import WebSuite

MIN_SIDE, MAX_SIDE = 64, 2560


def parse_episode_config(suites: Mapping[str, WebSuite], task: Task | None) -> EpisodeConfig:
    """Raises UnknownTask, InvalidAction."""
    plan = EpisodeConfig(
        task,
        _find_suite(suites, task),
        _parse_size(task),
        _parse_clock(task),
        parse_image_format(task),
        _parse_time_scale(task),
    )
    return replace(plan, screen=plan.scene().size)


def _find_suite(suites: Mapping[str, WebSuite], task: Task | None) -> WebSuite | None:
    if task is None:
        return None
    if task.suite is None:
        return suites.get(SITE_TASK) if SITE_TASK in task.parameters else None
    suite = suites.get(task.suite)
    if suite is None:
        raise UnknownTask(f"there is no web suite {task.suite!r}")
    return suite


def _parse_size(task: Task | None) -> tuple[int, int]:
    match None if task is None else task.parameters.get("size"):
        case None:
            return DEFAULT_SIZE
        case [int(width), int(height)] if min(width, height) >= MIN_SIDE and max(width, height) <= MAX_SIDE:
            return width, height
    raise InvalidAction(f"a screen is [width, height], each from {MIN_SIDE} to {MAX_SIDE}")


def _parse_clock(task: Task | None) -> Clock:
    """The real clock is the script clock running by itself, so that it can still be replayed."""
    wanted = "exact" if task is None else task.parameters.get("clock", "exact")
    if wanted not in tuple(Clock):
        raise InvalidAction(f"a clock is one of {', '.join(Clock)}, not {wanted!r}")
    return Clock.EXACT if wanted == Clock.EXACT else Clock.SCRIPT


def _parse_time_scale(task: Task | None) -> float:
    usual = 1 if task is not None and task.parameters.get("clock") == Clock.REAL else 0
    wanted = usual if task is None else task.parameters.get("pace", usual)
    if isinstance(wanted, int | float) and 0 <= wanted <= MAX_TIME_SCALE:
        return float(wanted)
    raise InvalidAction(f"a pace is from 0 to {MAX_TIME_SCALE:g}, not {wanted!r}")
