"""What is to be done, and where."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from protocol.base import FrozenModel, JsonObject
from protocol.trajectory.observations import Platform

HOST_PATTERN = r"^(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:[0-9]{1,5})?$"
ANY_HOST = "*"
HostPattern = Annotated[str, StringConstraints(pattern=rf"^\*$|{HOST_PATTERN}", max_length=260)]
"""A host by name: `example.org`, `*.example.org` (any name below it), `example.org:8443` (another port); `*` is every
host."""


class Task(FrozenModel):
    """An instruction and the start state it is carried out in.

    `suite` and `name` select a bundled task whose start state and verifier the bridge knows; without a
    suite the machine starts fresh and nothing judges the end.
    """

    id: str
    instruction: Annotated[str, StringConstraints(min_length=1, max_length=8_000)]
    platform: Platform = "desktop"
    suite: str | None = None
    name: str | None = None
    seed: int = 0
    parameters: JsonObject = {}
    network: Annotated[tuple[HostPattern, ...], Field(max_length=64)] = ()
    """Hosts the sandbox may reach; none, and it has no network."""
    max_steps: int = Field(default=30, ge=1, le=1_000)


Language = Literal["en", "zh"]
ScreenSide = Annotated[int, Field(ge=1, le=4_096)]
ScreenSize = tuple[ScreenSide, ScreenSide]
"""Width and height in pixels."""


class TaskVariant(FrozenModel):
    """In which form a suite's tasks are wanted."""

    seed: int = Field(default=0, ge=0)
    level: int = Field(default=1, ge=1)
    language: Language = "en"
    size: tuple[int, int] | None = None
    """The screen's, where a suite lets it be chosen (pixels)."""


def format_task_kind(suite: str, name: str, level: int = 1) -> str:
    """The kind of task that attempts with different seeds have in common, as text."""
    return "/".join(part for part in (suite, name) if part) + (f" level {level}" if level > 1 else "")


def kind_level(kind: str) -> int:
    """The level of a kind of task, as `format_task_kind` writes it."""
    _, mark, level = kind.rpartition(" level ")
    return int(level) if mark and level.isdecimal() else 1


def task_level(task: Task) -> int:
    """The level of a bundled task; 1 where there are none."""
    level = task.parameters.get("level", 1)
    return level if isinstance(level, int) else 1


def task_category(task: Task) -> str:
    """What kind of work a task is: its own word, OSWorld's or Harbor's, else its suite."""
    osworld, harbor = task.parameters.get("osworld"), task.parameters.get("harbor")
    words = [task.parameters.get("category")]
    words += [osworld.get("snapshot")] if isinstance(osworld, dict) else []
    words += [harbor.get("category")] if isinstance(harbor, dict) else []
    return next((word for word in words if isinstance(word, str) and word), task.suite or "")


def task_kind(task: Task) -> str:
    """The kind of a task; one of no suite is a kind of its own."""
    return format_task_kind(task.suite or "", task.name or task.id, task_level(task))
