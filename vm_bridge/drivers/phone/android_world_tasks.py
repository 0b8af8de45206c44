"""An AndroidWorld task: its class in the package, and the seed of its parameters."""

from pydantic import Field, ValidationError

from protocol.actions.types import Action
from protocol.base import FrozenModel, JsonObject
from protocol.trajectory.tasks import Task
from vm_bridge.errors import UnsupportedAction, UnsupportedTask

PARAMETER = "android_world"
IMAGES = ("phone", "android")
"""Images of the machines that set up and score such tasks."""
SHELL_KINDS = frozenset(
    {"run_command", "list_files", "read_file", "write_file", "edit_file", "upload_file", "download_file"}
)
"""Actions that AndroidWorld's agents do not have. Its set-up makes adb's shell root, which could change the scored
state."""


class AndroidWorldTask(FrozenModel):
    """One class of the package with its parameters, from a seed or given explicitly. `combination` counts from 0."""

    family: str = Field(default="android_world", max_length=100)
    task: str = Field(min_length=1, max_length=200)
    seed: int = Field(ge=0, lt=2**63)
    combination: int = Field(default=0, ge=0, lt=1_000)
    params: JsonObject | None = None
    """Explicit parameters instead of the seed's."""


def parse_android_world(task: Task | None) -> AndroidWorldTask | None:
    """The AndroidWorld task, or None for other tasks. Raises UnsupportedTask."""
    given = None if task is None else task.parameters.get(PARAMETER)
    if given is None:
        return None
    try:
        return AndroidWorldTask.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        raise UnsupportedTask(f"{PARAMETER}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def reject_shell(task: Task | None, action: Action) -> None:
    """Raises UnsupportedAction for an action that is not allowed in an AndroidWorld attempt."""
    if task is not None and PARAMETER in task.parameters and action.kind in SHELL_KINDS:
        raise UnsupportedAction(f"AndroidWorld's tasks are done on the screen: {action.kind} is not offered")


def unsupported_reason(image: str, task: Task) -> str | None:
    """Why machines of this image cannot score an AndroidWorld task; None if they can, and for other tasks."""
    if PARAMETER not in task.parameters:
        return None
    if image not in IMAGES:
        return f"machines of the image {image} score no task of AndroidWorld; those of {' and '.join(IMAGES)} do"
    try:
        parse_android_world(task)
    except UnsupportedTask as error:
        return str(error)
    return None
