"""What a task of AndroidWorld says about itself: which of the package's classes, and the seed of its parameters."""

from pydantic import Field, ValidationError

from protocol.actions.types import Action
from protocol.base import FrozenModel, JsonObject
from protocol.trajectory.tasks import Task
from vm_bridge.errors import UnsupportedAction, UnsupportedTask

PARAMETER = "android_world"
IMAGES = ("phone", "android")
"""Of the machines that set such tasks up and score them."""
SHELL_KINDS = frozenset(
    {"run_command", "list_files", "read_file", "write_file", "edit_file", "upload_file", "download_file"}
)
"""What AndroidWorld's agents cannot do. Its set-up makes adb's shell root, which could write what is scored."""


class AndroidWorldTask(FrozenModel):
    """One class of the package with its parameters: those of a seed, unless they are given. `combination` counts from
    0."""

    family: str = Field(default="android_world", max_length=100)
    task: str = Field(min_length=1, max_length=200)
    seed: int = Field(ge=0, lt=2**63)
    combination: int = Field(default=0, ge=0, lt=1_000)
    params: JsonObject | None = None
    """The parameters themselves, in place of the seed's."""


def parse_android_world(task: Task | None) -> AndroidWorldTask | None:
    """Which task of AndroidWorld this is; None where it is none. Raises UnsupportedTask."""
    given = None if task is None else task.parameters.get(PARAMETER)
    if given is None:
        return None
    try:
        return AndroidWorldTask.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise UnsupportedTask(f"{PARAMETER}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def reject_shell(task: Task | None, action: Action) -> None:
    """Raises UnsupportedAction for what an attempt at a task of AndroidWorld may not do."""
    if task is not None and PARAMETER in task.parameters and action.kind in SHELL_KINDS:
        raise UnsupportedAction(f"AndroidWorld's tasks are done on the screen: {action.kind} is not offered")


def unsupported_reason(image: str, task: Task) -> str | None:
    """Why machines of this image would not score a task of AndroidWorld; None where they would, and for others."""
    if PARAMETER not in task.parameters:
        return None
    if image not in IMAGES:
        return f"machines of the image {image} score no task of AndroidWorld; those of {' and '.join(IMAGES)} do"
    try:
        parse_android_world(task)
    except UnsupportedTask as error:
        return str(error)
    return None
