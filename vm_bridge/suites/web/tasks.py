"""Tasks of a manifest: level, language, seed, and the parameters for the page."""

from dataclasses import dataclass

from pydantic import JsonValue

from protocol.trajectory.tasks import Language, Task
from vm_bridge.errors import InvalidAction
from vm_bridge.suites.web.manifest import LANGUAGES, SMALL_SIZE, offered_sizes
from vm_bridge.suites.web.task_folder import TaskFolder

LEAST_SIZE = (480, 360)
"""The smallest screen of a task that is not marked `small` (pixels)."""
MAX_SIDE = 4_096


@dataclass(frozen=True, slots=True)
class TaskVariant:
    """What a task's parameters ask of its folder."""

    seed: int
    level: int
    language: Language
    size: tuple[int, int]
    described: bool = False
    """Whether each observation has the page's description in words."""


def make_task(
    suite: str,
    folder: TaskFolder,
    *,
    seed: int = 0,
    level: int = 1,
    language: Language = "en",
    size: tuple[int, int] | None = None,
) -> Task:
    """A task as it is offered to people and policies. Raises InvalidAction for a level or size it has not."""
    manifest = folder.manifest
    if size is not None:
        _check_size(folder, size)
    marks = [f"l{level}" if level > 1 else "", language if language != "en" else "", f"s{seed}" if seed else ""]
    if size is not None and size != manifest.size:
        marks.append(f"{size[0]}x{size[1]}")
    parameters: dict[str, JsonValue] = {"level": level, "language": language}
    if size is not None:
        parameters["size"] = list(size)
    return Task(
        id="-".join([f"{suite}/{manifest.name}", *filter(None, marks)]),
        instruction=manifest.instruction(level, seed, language),
        platform="browser",
        suite=suite,
        name=manifest.name,
        seed=seed,
        parameters=parameters,
        max_steps=manifest.level(level).max_steps,
    )


def parse_variant(folder: TaskFolder, task: Task) -> TaskVariant:
    """What a task asks for, defaults filled in. Raises InvalidAction."""
    level = task.parameters.get("level", 1)
    language = task.parameters.get("language", "en")
    size = task.parameters.get("size") or list(folder.manifest.size)
    if not isinstance(level, int) or isinstance(level, bool):
        raise InvalidAction("a level is a whole number")
    folder.manifest.level(level)
    if language not in LANGUAGES:
        raise InvalidAction(f"a language is one of {', '.join(LANGUAGES)}")
    described = task.parameters.get("described", False)
    if not isinstance(described, bool):
        raise InvalidAction("described is true or false")
    return TaskVariant(task.seed, level, language, _size(folder, size), described)


def page_parameters(folder: TaskFolder, terms: TaskVariant) -> dict[str, JsonValue]:
    """Parameters for the page, the verifier and the expert: the global TASK."""
    slots, picks = folder.manifest.filled(terms.level, terms.seed, terms.language)
    return {
        "seed": terms.seed,
        "level": terms.level,
        "language": terms.language,
        "size": list(terms.size),
        "slots": slots,
        "picks": picks,
    }


def sizes_of(folder: TaskFolder) -> tuple[tuple[int, int], ...]:
    """The sizes that its screen is chosen from, its own first; other sizes above the least are accepted too."""
    return offered_sizes(folder.manifest.size, _least_size(folder))


def _size(folder: TaskFolder, size: JsonValue) -> tuple[int, int]:
    match size:
        case [int(width), int(height)]:
            _check_size(folder, (width, height))
            return width, height
        case _:
            raise InvalidAction("a size is a width and a height in pixels")


def _check_size(folder: TaskFolder, size: tuple[int, int]) -> None:
    least = _least_size(folder)
    if size[0] < least[0] or size[1] < least[1]:
        raise InvalidAction(f"{folder.manifest.name} needs a screen of {least[0]} by {least[1]} at least")
    if max(size) > MAX_SIDE:
        raise InvalidAction(f"a screen has {MAX_SIDE} pixels a side at most")


def _least_size(folder: TaskFolder) -> tuple[int, int]:
    return SMALL_SIZE if folder.manifest.small else LEAST_SIZE
