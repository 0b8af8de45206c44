"""AndroidWorld: classes of a package with parameters from a seed, set up and scored by that package on the phone."""

from typing import Any

from pydantic import ValidationError

from protocol.benchmarks.forms import BENCHMARK, ORACLE, FolderSettings, FormError, Row, first_message, origin, text_of
from protocol.trajectory.tasks import Task

NAME = "android-world"
ANDROID_WORLD = "android_world"
"""The field of a row, and the parameter of a task: `{family, task, seed, combination}`."""
STEPS_A_COMPLEXITY = 10
"""AndroidWorld's own budget of steps for each point of complexity."""
MAX_STEPS = 1_000


def is_phone_task(row: Row) -> bool:
    """Whether a row has the fields of a task of AndroidWorld, as `list_android_world` writes them."""
    return {ANDROID_WORLD, "goal", "complexity"} <= row.keys()


def phone_task_id(row: Row) -> str:
    """The id of a row: the class, the seed and the combination. Raises FormError."""
    place = row[ANDROID_WORLD]
    if not isinstance(place, dict) or not isinstance(place.get("task"), str):
        raise FormError(f"{ANDROID_WORLD}: it names no task")
    return f"{place['task']}-{place.get('seed', 0)}-{place.get('combination', 0)}"


def phone_task(row: Row, settings: FolderSettings, oracle: list[dict[str, Any]] | None) -> Task:
    """The task of a row; `oracle` has acts that somebody recorded. Raises FormError."""
    complexity, place = row["complexity"], row[ANDROID_WORLD]
    if isinstance(complexity, bool) or not isinstance(complexity, int | float) or not complexity > 0:
        raise FormError("complexity: it is no positive number")
    parameters: dict[str, Any] = {
        ANDROID_WORLD: place,
        BENCHMARK: origin(NAME, "none" if oracle is None else "own"),
        **({} if oracle is None else {ORACLE: oracle}),
    }
    budget = min(MAX_STEPS, max(1, int(STEPS_A_COMPLEXITY * complexity)))
    try:
        return Task.model_validate(
            {
                "id": phone_task_id(row),
                "instruction": text_of(row, "goal"),
                "platform": "phone",
                "name": place["task"],
                "parameters": parameters,
                "max_steps": budget if settings.max_steps is None else settings.max_steps,
            }
        )
    except ValidationError as error:
        raise FormError(first_message(error)) from None
