"""ATIF v1.8 (Harbor): one trajectory a line.

A person's step with a thought has the source `agent`, as the format allows a thought to nobody else; who wrote it is in
`extra`. Pictures are named by their path.
"""

from collections.abc import Iterator
from typing import Any

from protocol.formats.dataset_card import dataset_card, describe_columns
from protocol.formats.records import ExportFormat, ExportOptions, Record, batch_fields
from protocol.formats.training_examples import to_json_line
from protocol.trajectory.export_folders import image_path, trajectory_images
from protocol.trajectory.observations import Observation
from protocol.trajectory.proposals import Proposal
from protocol.trajectory.steps import Step
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

SCHEMA = "ATIF-v1.8"
CANDIDATE_FIELDS = {
    "id",
    "rank",
    "thought",
    "action",
    "further_actions",
    "raw_text",
    "error",
    "likelihood",
    "count",
    "mark",
    "policy",
}


def records(trajectory: Trajectory, options: ExportOptions) -> Iterator[Record]:
    """The steps that count, after the user's task."""
    active = without_undone_steps(trajectory)
    offered = (*active.proposals, *((),) * (len(active.steps) - len(active.proposals)))
    policy = next(iter(trajectory.policies), None)
    agent = {"name": "pilothouse", "version": "1"}
    row = {
        "schema_version": SCHEMA,
        "session_id": trajectory.id,
        "trajectory_id": trajectory.id,
        "agent": {**agent, "model_name": f"{policy.name}/{policy.revision}"} if policy else agent,
        "steps": [
            _user_step(active),
            *(_step(step, row) for step, row in zip(active.steps, offered, strict=True)),
        ],
        "final_metrics": {"total_steps": len(active.steps) + 1},
        "extra": {
            "origin": trajectory.origin,
            "variant": trajectory.variant,
            "annotator": trajectory.annotator,
            "outcome": trajectory.outcome,
            "answer": trajectory.answer,
            "verdict": trajectory.verdict.model_dump(mode="json") if trajectory.verdict else None,
            "terminated": trajectory.terminated,
            "truncated": trajectory.truncated,
            "task": trajectory.task.model_dump(mode="json"),
        },
    }
    yield Record(
        trajectory.id, trajectory_images(active), lines={"atif.jsonl": to_json_line(row)}, steps=len(active.steps)
    )


def _user_step(trajectory: Trajectory) -> dict[str, Any]:
    parts = [{"type": "text", "text": trajectory.task.instruction}]
    if trajectory.steps:
        parts += _observation_parts(trajectory.steps[0].before)
    return {"step_id": 1, "timestamp": _format_time(trajectory.created_at), "source": "user", "message": parts}


def _step(step: Step, offered: tuple[Proposal, ...]) -> dict[str, Any]:
    call = {
        "tool_call_id": step.command_id,
        "function_name": step.action.kind,
        "arguments": step.action.model_dump(mode="json", exclude={"kind"}),
    }
    parts = _observation_parts(step.after) if step.after else []
    if step.error:
        parts.append({"type": "text", "text": f"{step.error.code}: {step.error.message}"})
    row: dict[str, Any] = {
        "step_id": step.index + 2,
        "timestamp": _format_time(step.started_at),
        "source": "agent",
        "message": "",
        "tool_calls": [call],
        "extra": {
            "actor": step.actor,
            "decision": step.decision,
            "intervention": step.decision in ("override", "takeover"),
            "coordinates": {"system": "pixel", "width": step.before.width, "height": step.before.height},
            "before": step.before.screenshot.sha256 if step.before.screenshot else None,
            "error": step.error.model_dump() if step.error else None,
            "proposal_id": step.proposal_id,
            **batch_fields(step),
            **({"acted_by": step.acted_by} if step.acted_by else {}),
            **({"continued_characters": step.continued_characters} if step.continued_characters else {}),
            "acceptable_ids": list(step.acceptable_ids),
            "wrong_ids": list(step.wrong_ids),
            "candidates": [one.model_dump(mode="json", include=CANDIDATE_FIELDS) for one in offered],
        },
    }
    if step.thought:
        row["reasoning_content"] = step.thought
    if parts:
        row["observation"] = {"results": [{"source_call_id": step.command_id, "content": parts}]}
    if step.policy:
        row["model_name"] = f"{step.policy.name}/{step.policy.revision}"
    return row | _metrics(step, offered)


def _metrics(step: Step, offered: tuple[Proposal, ...]) -> dict[str, Any]:
    """The tokens of the policy's own words; a person's have none."""
    if step.decision not in ("accept", "auto"):
        return {}
    accepted = next((one for one in offered if one.id == step.proposal_id), None)
    if accepted is None or accepted.completion_token_ids is None:
        return {}
    metrics: dict[str, Any] = {
        "completion_token_ids": list(accepted.completion_token_ids),
        "completion_tokens": len(accepted.completion_token_ids),
    }
    if accepted.prompt_token_ids is not None:
        metrics |= {
            "prompt_token_ids": list(accepted.prompt_token_ids),
            "prompt_tokens": len(accepted.prompt_token_ids),
        }
    if accepted.logprobs is not None:
        metrics["logprobs"] = list(accepted.logprobs)
    return {"metrics": metrics}


def _observation_parts(look: Observation) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": look.text}] if look.text else []
    if look.screenshot is not None:
        source = {"media_type": look.screenshot.media_type, "path": image_path(look.screenshot)}
        parts.append({"type": "image", "source": source})
    return parts


def _format_time(moment: Any) -> str:
    return str(moment.isoformat())


COLUMNS = {
    **dict.fromkeys(("schema_version", "session_id", "trajectory_id"), "string"),
    **dict.fromkeys(("agent", "steps", "final_metrics", "extra"), "json"),
}
FORMAT = ExportFormat("atif", "lines", records, sidecar_files=dataset_card(describe_columns(COLUMNS)))
