"""A table for `datasets`: a row a step, with the picture acted on in it and its digest beside it."""

from collections.abc import Iterator

from vocabulary.formats.checks import points_check
from vocabulary.formats.record import Choice, Format, Record
from vocabulary.formats.telling import line
from vocabulary.trajectories import Trajectory, trajectory_standing


def records(trajectory: Trajectory, choice: Choice) -> Iterator[Record]:
    """One row a step that stands; one without a picture has none."""
    task, verdict = trajectory.task, trajectory.verdict
    standing = trajectory_standing(trajectory)
    offered = (*standing.proposals, *((),) * (len(standing.steps) - len(standing.proposals)))
    for step, row in zip(standing.steps, offered, strict=True):
        key = f"{trajectory.id}-{step.index:05d}"
        points_check(step, key)
        shown = step.before.screenshot
        yield Record(
            key,
            (shown,) if shown else (),
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
                "action": step.action.model_dump_json(),
                "candidates": line([one.model_dump(mode="json", include=CANDIDATE) for one in row]),
                "error": step.error.code if step.error else None,
                "policy": step.policy.label if step.policy else None,
                "annotator": trajectory.annotator,
                "outcome": trajectory.outcome,
                "reward": verdict.score if verdict else None,
                "width": step.before.width,
                "height": step.before.height,
                "image_sha256": shown.sha256 if shown else None,
            },
        )


CANDIDATE = {"id", "rank", "thought", "action", "raw_text", "likelihood", "count", "mark", "policy"}

FORMAT = Format("huggingface", "table", records)
