"""AgentNet's lines (OpenCUA): a task, and steps as pyautogui code with coordinates from 0 to 1 in four decimals."""

import re
from collections.abc import Iterator

from protocol.actions.types import Action
from protocol.dialects.action_writers import PointSyntax
from protocol.dialects.code_sections import OPENCUA, CodeSectionCodec
from protocol.dialects.dialect import ScreenSize
from protocol.formats.agentnet_code import COORDINATE_SCALE, scale_coordinates
from protocol.formats.dataset_card import dataset_card, describe_columns
from protocol.formats.records import ExportFormat, ExportOptions, Record
from protocol.formats.row_checks import check_points
from protocol.formats.training_examples import to_json_line
from protocol.trajectory.export_folders import image_path
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

PLAIN_CALL = re.compile(r"[a-zA-Z_.]+\((?:[a-z_]+=-?\d+(?:, (?=\w)|(?=\))))*\)")
"""A call whose arguments are whole numbers: most of them, and taking one apart as Python takes ten times as long."""
PLAIN_COORDINATE = re.compile(r"\b(x|y)=(\d+)")

CODEC = CodeSectionCodec(
    PointSyntax(
        grid=lambda _screen: (COORDINATE_SCALE, COORDINATE_SCALE),
        point="point",
        start="start_point",
        end="end_point",
        text=lambda x, y: f"{x} {y}",
    )
)


def step_code(step: Step) -> str:
    """A step's act as AgentNet writes it; what no code says is a comment."""
    supported: Action | None = OPENCUA.supported_form(step.action)
    if supported is None:
        return f"# {step.action.kind}"
    text = CODEC.write("", supported, ScreenSize.of(step.before))
    code = text[text.index("```python\n") + len("```python\n") : text.rindex("\n```")]
    if PLAIN_CALL.fullmatch(code):
        return PLAIN_COORDINATE.sub(lambda found: f"{found[1]}={round(int(found[2]) / COORDINATE_SCALE, 4)!r}", code)
    return scale_coordinates(code)


def records(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record]:
    """One line a trajectory; a step without a picture is no part of it."""
    active = without_undone_steps(trajectory)
    visible_steps = [step for step in active.steps if step.before.screenshot is not None]
    images = tuple(step.before.screenshot for step in visible_steps if step.before.screenshot is not None)
    for step in visible_steps:
        check_points(step, f"{trajectory.id} step {step.index}")
    row = {
        "task_id": trajectory.id,
        "instruction": trajectory.task.instruction,
        "natural_language_task": trajectory.task.instruction,
        "task_completed": trajectory.outcome == "success",
        "variant": trajectory.variant,
        "traj": [
            {
                "index": place,
                "image": image_path(image),
                "value": {
                    "code": step_code(step),
                    "thought": step.thought,
                    "last_step_correct": step.error is None,
                    "last_step_redundant": False,
                },
            }
            for place, (step, image) in enumerate(zip(visible_steps, images, strict=True))
        ],
    }
    yield Record(trajectory.id, images, lines={"agentnet.jsonl": to_json_line(row)}, steps=len(visible_steps))


COLUMNS = {
    **dict.fromkeys(("task_id", "instruction", "natural_language_task", "traj"), "json"),
    "task_completed": "bool",
    "variant": "string",
}
FORMAT = ExportFormat(
    "agentnet", "lines", records, relative_points=True, sidecar_files=dataset_card(describe_columns(COLUMNS))
)
