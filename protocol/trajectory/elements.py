"""Elements that a recorded person clicked, as the clicked programs described them. Pure functions."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from protocol.base import FrozenModel
from protocol.trajectory.speech import redact_text
from protocol.trajectory.trajectories import Trajectory

ELEMENTS = "elements"
MAX_NAME = 200
Text = Annotated[str, StringConstraints(max_length=MAX_NAME, pattern=r"^[^\x00]*$")]


class PointedElement(FrozenModel):
    """An element under the pointer: its role (`button`, `textbox`, …), its name, and x, y, width and height in pixels
    of the screenshot. A slow program was asked `late_ns` after the press; it may have changed by then."""

    role: Text
    name: Text = ""
    bounds: tuple[int, int, int, int]
    late_ns: int = Field(default=0, ge=0)


class StepElement(FrozenModel):
    """The element of a step, as `task.parameters["recording"]["elements"]` holds it."""

    step: int = Field(ge=0)
    role: Text
    name: Text = ""
    bounds: tuple[int, int, int, int]


def describe_element(element: StepElement | PointedElement) -> str:
    """An element in words: its role and its name."""
    return f"{element.role} “{element.name}”" if element.name else element.role


def step_elements(trajectory: Trajectory) -> dict[int, StepElement]:
    """The elements of a recorded session by the number of their step. Raises ValidationError."""
    recorded = trajectory.task.parameters.get("recording")
    found = recorded.get(ELEMENTS) if isinstance(recorded, dict) else None
    elements = [StepElement.model_validate(one) for one in found] if isinstance(found, list) else []
    return {one.step: one for one in elements}


def with_elements_of_part(trajectory: Trajectory, first: int, last: int) -> Trajectory:
    """A part of a session, the steps from `first` to `last`, with the elements of its own steps alone."""
    elements = step_elements(trajectory)
    inside = [one for one in elements.values() if first <= one.step <= last]
    remaining = [one.model_copy(update={"step": one.step - first}) for one in inside]
    return _with_elements(trajectory, remaining) if elements else trajectory


def redact_elements(trajectory: Trajectory, secrets: Collection[str]) -> Trajectory:
    """The session without these words in the names of elements."""
    elements = step_elements(trajectory).values()
    redacted = [one.model_copy(update={"name": redact_text(one.name, secrets)}) for one in elements]
    return _with_elements(trajectory, redacted) if redacted else trajectory


def _with_elements(trajectory: Trajectory, elements: Sequence[StepElement]) -> Trajectory:
    recorded: Any = trajectory.task.parameters["recording"]
    stored = [one.model_dump(mode="json") for one in sorted(elements, key=lambda one: one.step)]
    parameters = {**trajectory.task.parameters, "recording": {**recorded, ELEMENTS: stored}}
    return trajectory.model_copy(update={"task": trajectory.task.model_copy(update={"parameters": parameters})})
