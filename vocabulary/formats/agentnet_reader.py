"""AgentNet read: people's recordings, whose code is taken apart and never run.

A step whose code holds several acts is several steps on one picture. What an act led to is the next step's picture;
after the last one nobody looked.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from vocabulary.actions import Action, Finish, Infeasible, Point, points_of
from vocabulary.dialect import Screen
from vocabulary.formats.agentnet_code import actions_of
from vocabulary.formats.incoming import Incoming, Reader, look_of, parsed, whole
from vocabulary.formats.record import RowRefused
from vocabulary.steps import Step
from vocabulary.tasks import Task
from vocabulary.trajectories import Outcome, Trajectory


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


def read(incoming: Incoming) -> Trajectory:
    """Raises RowRefused."""
    row = parsed(_Row, dict(incoming.row))
    looks = [look_of(incoming.find(one.image), incoming.moment) for one in row.traj]
    steps: list[Step] = []
    pointer: Point | None = None
    for place, (one, before) in enumerate(zip(row.traj, looks, strict=True)):
        try:
            acts = list(actions_of(one.value.code, Screen.of(before), pointer))
        except RowRefused as refused:
            raise RowRefused(refused.code, f"traj.{place}.value.code: {refused}") from None
        pointer = next(reversed([point for act in acts for point in points_of(act)]), pointer)
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
                    started_at=incoming.moment,
                    ended_at=incoming.moment,
                )
            )
    ended = steps[-1].action if steps else None
    return whole(
        Trajectory(
            id=row.task_id,
            task=parsed(
                Task,
                {
                    "id": row.task_id,
                    "instruction": row.instruction,
                    "max_steps": min(max(len(steps), 1), 1_000),
                    "parameters": _beside(row),
                },
            ),
            origin="recording",
            steps=tuple(steps),
            outcome=_outcome(row.task_completed, ended),
            answer=ended.answer if isinstance(ended, Finish) else "",
            terminated=True,
            truncated=False,
            created_at=incoming.moment,
            finished_at=incoming.moment,
        )
    )


def _outcome(completed: bool | None, ended: Action | None) -> Outcome | None:
    if isinstance(ended, Infeasible) and not completed:
        return "infeasible"
    return None if completed is None else "success" if completed else "failure"


def _beside(row: _Row) -> dict[str, Any]:
    """What is told of the task beside its words: scores, domains."""
    told = {
        key: value
        for key, value in (row.model_extra or {}).items()
        if isinstance(value, str | int | float | bool) and value != row.instruction
    }
    return {"agentnet": told} if told else {}


READER = Reader("agentnet", lambda row: "traj" in row and "instruction" in row, read)
