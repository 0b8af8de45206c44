"""AgentNet's lines (OpenCUA): a task, and steps as pyautogui code with coordinates from 0 to 1 in four decimals."""

import re
from collections.abc import Iterator

from vocabulary.actions import Action
from vocabulary.dialect import Screen
from vocabulary.dialects.opencua import DIALECT, CodeSections
from vocabulary.exports import image_path
from vocabulary.formats.checks import points_check
from vocabulary.formats.normalised import FINE, normalised
from vocabulary.formats.record import Choice, Format, Record
from vocabulary.formats.telling import line
from vocabulary.steps import Step
from vocabulary.styles import Style
from vocabulary.trajectories import Trajectory, trajectory_standing

PLAIN_CALL = re.compile(r"[a-zA-Z_.]+\((?:[a-z_]+=-?\d+(?:, (?=\w)|(?=\))))*\)")
"""A call whose arguments are whole numbers: most of them, and taking one apart as Python takes ten times as long."""
PLAIN_COORDINATE = re.compile(r"\b(x|y)=(\d+)")

WRITING = CodeSections(
    Style(
        grid=lambda _screen: (FINE, FINE),
        point="point",
        start="start_point",
        end="end_point",
        text=lambda x, y: f"{x} {y}",
    )
)


def code_of(step: Step) -> str:
    """A step's act as AgentNet writes it; what no code says is a comment."""
    said: Action | None = DIALECT.sayable(step.action)
    if said is None:
        return f"# {step.action.kind}"
    text = WRITING.write("", said, Screen.of(step.before))
    code = text[text.index("```python\n") + len("```python\n") : text.rindex("\n```")]
    if PLAIN_CALL.fullmatch(code):
        return PLAIN_COORDINATE.sub(lambda found: f"{found[1]}={round(int(found[2]) / FINE, 4)!r}", code)
    return normalised(code)


def records(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One line a trajectory; a step without a picture is no part of it."""
    standing = trajectory_standing(trajectory)
    seen = [step for step in standing.steps if step.before.screenshot is not None]
    images = tuple(step.before.screenshot for step in seen if step.before.screenshot is not None)
    for step in seen:
        points_check(step, f"{trajectory.id} step {step.index}")
    row = {
        "task_id": trajectory.id,
        "instruction": trajectory.task.instruction,
        "natural_language_task": trajectory.task.instruction,
        "task_completed": trajectory.outcome == "success",
        "traj": [
            {
                "index": place,
                "image": image_path(image),
                "value": {
                    "code": code_of(step),
                    "thought": step.thought,
                    "last_step_correct": step.error is None,
                    "last_step_redundant": False,
                },
            }
            for place, (step, image) in enumerate(zip(seen, images, strict=True))
        ],
    }
    yield Record(trajectory.id, images, lines={"agentnet.jsonl": line(row)}, steps=len(seen))


FORMAT = Format("agentnet", "lines", records, shares=True)
