"""A table for `datasets`: a row a step, with the picture acted on in it and its digest beside it."""

from collections.abc import Iterator

from protocol.formats.records import ExportFormat, ExportOptions, Record, batch_fields
from protocol.formats.row_checks import check_points
from protocol.formats.training_examples import to_json_line
from protocol.trajectory.trajectories import ORIGINAL, Trajectory, without_undone_steps


def records(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record]:
    """One row per step that counts. A step without a picture has none. A variant has rows of the steps that it
    changes."""
    task, verdict = trajectory.task, trajectory.verdict
    active = without_undone_steps(trajectory)
    offered = (*active.proposals, *((),) * (len(active.steps) - len(active.proposals)))
    for step, row in zip(active.steps, offered, strict=True):
        if trajectory.variant != ORIGINAL and step.index not in trajectory.variant_steps:
            continue
        key = f"{trajectory.id}-{step.index:05d}"
        check_points(step, key)
        screenshot_ref = step.before.screenshot
        yield Record(
            key,
            (screenshot_ref,) if screenshot_ref else (),
            row={
                "trajectory_id": trajectory.id,
                "step": step.index,
                "task_id": task.id,
                "instruction": task.instruction,
                "platform": task.platform,
                "actor": step.actor,
                "decision": step.decision,
                "intervention": step.decision in ("override", "takeover"),
                "thought": step.thought,
                "variant": trajectory.variant,
                "action": step.action.model_dump_json(),
                "candidates": to_json_line([one.model_dump(mode="json", include=CANDIDATE_FIELDS) for one in row]),
                "error": step.error.code if step.error else None,
                "batch": to_json_line(fields) if (fields := batch_fields(step)) else None,
                "policy": step.policy.label if step.policy else None,
                "annotator": trajectory.annotator,
                "outcome": trajectory.outcome,
                "reward": verdict.score if verdict else None,
                "width": step.before.width,
                "height": step.before.height,
                "image_sha256": screenshot_ref.sha256 if screenshot_ref else None,
            },
        )


COLUMNS = {
    "trajectory_id": "string",
    "step": "int64",
    **dict.fromkeys(("task_id", "instruction", "platform", "actor", "decision"), "string"),
    "intervention": "bool",
    **dict.fromkeys(
        ("thought", "variant", "action", "candidates", "error", "batch", "policy", "annotator", "outcome"), "string"
    ),
    "reward": "float64",
    **dict.fromkeys(("width", "height"), "int64"),
    "image_sha256": "string",
}
"""The columns of a row beside its picture, and their types."""
CANDIDATE_FIELDS = {
    "id",
    "rank",
    "thought",
    "action",
    "further_actions",
    "raw_text",
    "likelihood",
    "count",
    "mark",
    "policy",
}

FORMAT = ExportFormat("huggingface", "table", records)
