"""AgentNet read: people's recordings, whose code is taken apart and never run.

A step whose code holds several acts is several steps on one picture. What an act led to is the next step's picture;
after the last one nobody looked.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from protocol.actions.types import Action, Finish, Infeasible, Point, action_points
from protocol.dialects.dialect import ScreenSize
from protocol.formats.agentnet_code import parse_actions
from protocol.formats.records import RowError
from protocol.formats.row_readers import RowReader, SourceRow, imported_observation, validate_as, validate_trajectory
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Outcome, Trajectory


class _Value(BaseModel):
    model_config = ConfigDict(extra="ignore")

    code: str
    thought: str | None = None


class _Step(BaseModel):
    model_config = ConfigDict(extra="ignore")

    image: str = Field(min_length=1)
    value: _Value


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow")

    task_id: str = Field(min_length=1, max_length=200)
    instruction: str = Field(min_length=1)
    task_completed: bool | None = None
    traj: tuple[_Step, ...] = Field(min_length=1)


def read(source_row: SourceRow) -> Trajectory:
    """Raises RowError."""
    row = validate_as(_Row, dict(source_row.row))
    looks = [imported_observation(source_row.find(one.image), source_row.moment) for one in row.traj]
    steps: list[Step] = []
    pointer: Point | None = None
    for place, (one, before) in enumerate(zip(row.traj, looks, strict=True)):
        try:
            acts = list(parse_actions(one.value.code, ScreenSize.of(before), pointer))
        except RowError as row_error:
            raise RowError(row_error.code, f"traj.{place}.value.code: {row_error}") from None
        pointer = next(reversed([point for act in acts for point in action_points(act)]), pointer)
        for nth, action in enumerate(acts):
            last = nth == len(acts) - 1
            following = looks[place + 1] if place + 1 < len(looks) else None
            steps.append(
                Step(
                    index=len(steps),
                    command_id=f"{row.task_id}/{len(steps)}",
                    actor="human",
                    decision="override",
                    thought=(one.value.thought or "") if nth == 0 else "",
                    action=action,
                    before=before,
                    after=following if last else before,
                    started_at=source_row.moment,
                    ended_at=source_row.moment,
                )
            )
    ended = steps[-1].action if steps else None
    return validate_trajectory(
        Trajectory(
            id=row.task_id,
            task=validate_as(
                Task,
                {
                    "id": row.task_id,
                    "instruction": row.instruction,
                    "max_steps": min(max(len(steps), 1), 1_000),
                    "parameters": _task_details(row),
                },
            ),
            origin="recording",
            steps=tuple(steps),
            outcome=_outcome(row.task_completed, ended),
            answer=ended.answer if isinstance(ended, Finish) else "",
            terminated=True,
            truncated=False,
            created_at=source_row.moment,
            finished_at=source_row.moment,
        )
    )


def _outcome(completed: bool | None, ended: Action | None) -> Outcome | None:
    if isinstance(ended, Infeasible) and not completed:
        return "infeasible"
    return None if completed is None else "success" if completed else "failure"


def _task_details(row: _Row) -> dict[str, Any]:
    """What is told of the task beside its words: scores, domains."""
    details = {
        key: value
        for key, value in (row.model_extra or {}).items()
        if isinstance(value, str | int | float | bool) and value != row.instruction
    }
    return {"agentnet": details} if details else {}


READER = RowReader("agentnet", lambda row: "traj" in row and "instruction" in row, read)
