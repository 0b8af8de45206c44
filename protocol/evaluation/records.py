"""The record of one attempt at a task by a person, a policy or a scripted expert."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from protocol.base import FrozenModel
from protocol.trajectory.tasks import task_level
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

RECORD_FORMAT: Literal["pilothouse-attempt-1"] = "pilothouse-attempt-1"
AttemptOutcome = Literal["success", "failure", "unjudged", "infrastructure"]
POLICY_DECISIONS = frozenset({"accept", "edit", "auto"})
"""How steps are decided that a policy proposed."""
Actor = Literal["person", "policy", "script"]


class AttemptRecord(FrozenModel):
    """One attempt. With the outcome `infrastructure` its machine, its verifier or a server failed, which says nothing
    of who acted: such a record has no reward and no trajectory."""

    format: Literal["pilothouse-attempt-1"] = RECORD_FORMAT
    task: str
    """The task's id; `suite`, `name`, `level` and `seed` say which bundled task it is."""
    suite: str = ""
    name: str | None
    level: int = 1
    seed: int
    actor: Actor = "policy"
    by: str = ""
    """The policy's name and revision, or the person's pseudonym."""
    assisted: bool = False
    """Whether a policy proposed steps of a person's attempt."""
    outcome: AttemptOutcome
    trajectory: str | None = None
    reward: float | None = Field(default=None, ge=0, le=1)
    """What the attempt earned: the verifier's score, else 1 or 0 by the judge that decided its reward. None where
    nothing judged it."""
    judge: str = ""
    """Kind, name and revision of the model that decided the reward; such an attempt's outcome is `unjudged`."""
    points: float | None = None
    """The task's own count, such as tiles, apples or lines."""
    steps: int = Field(default=0, ge=0)
    """Without those that were taken back."""
    terminated: bool = False
    """Whether the task ended by itself or by its answer."""
    truncated: bool = False
    """Whether steps or time ran out."""
    version: str = ""
    """Of the task, where it has one."""
    verifier: str = ""
    """The sha256 of what judged."""
    code: str = ""
    """Of the outcome `infrastructure`: what failed, as a stable word, and in `reason` for people."""
    reason: str = ""
    cost_usd: float | None = Field(default=None, ge=0)
    """What its requests to hosted models cost, its judges' too; None where no prices are known."""
    seconds: float | None = Field(default=None, ge=0)
    ended_at: datetime


def record_attempt(trajectory: Trajectory) -> AttemptRecord:
    """The record of a finished attempt."""
    whole, task, verdict = without_undone_steps(trajectory), trajectory.task, trajectory.verdict
    ended_at = trajectory.finished_at or trajectory.created_at
    return AttemptRecord(
        task=task.id,
        suite=task.suite or "",
        name=task.name,
        level=task_level(task),
        seed=task.seed,
        **_actor(whole),
        outcome=_outcome(trajectory),
        trajectory=trajectory.id,
        reward=_reward(trajectory),
        judge=_judge(trajectory),
        points=verdict.points if verdict is not None else None,
        steps=len(whole.steps),
        terminated=trajectory.terminated,
        truncated=trajectory.truncated,
        version=verdict.version if verdict is not None else "",
        verifier=verdict.verifier if verdict is not None else "",
        code=verdict.error if verdict is not None else "",
        reason=verdict.reason if verdict is not None else "",
        cost_usd=attempt_cost(trajectory),
        seconds=max(0.0, (ended_at - trajectory.created_at).total_seconds()),
        ended_at=ended_at,
    )


def attempt_cost(trajectory: Trajectory) -> float | None:
    """What an attempt's requests cost (US dollars); the candidates of one request share its cost. None where no price
    is known."""
    costs = [
        max(known)
        for offered in trajectory.proposals
        if (known := [p.cost_usd for p in offered if p.cost_usd is not None])
    ]
    if trajectory.reward is not None:
        costs += [judge.cost_usd for judge in trajectory.reward.judges if judge.cost_usd is not None]
    return sum(costs) if costs else None


def _reward(trajectory: Trajectory) -> float | None:
    verdict = trajectory.verdict
    if verdict is not None and verdict.success is not None:
        return verdict.score
    return None if trajectory.reward is None else trajectory.reward.value


def _judge(trajectory: Trajectory) -> str:
    reward = trajectory.reward
    if reward is None or not reward.judged:
        return ""
    decided = reward.judges[-1]
    return f"{decided.kind} {decided.name} {decided.revision}"


def _outcome(trajectory: Trajectory) -> AttemptOutcome:
    verdict = trajectory.verdict
    if verdict is not None and verdict.error:
        return "infrastructure"
    if verdict is None or verdict.success is None:
        return "unjudged"
    return "success" if verdict.success else "failure"


def _actor(trajectory: Trajectory) -> dict[str, object]:
    """Who decided the steps that stand."""
    people = any(step.decision != "auto" for step in trajectory.steps)
    if people or trajectory.origin == "annotation":
        assisted = any(step.decision in POLICY_DECISIONS for step in trajectory.steps)
        return {"actor": "person", "by": trajectory.annotator or "", "assisted": assisted}
    scripted = bool(trajectory.policies) and all(policy.scripted for policy in trajectory.policies)
    by = ", ".join(f"{policy.name} {policy.revision}" for policy in trajectory.policies)
    return {"actor": "script" if scripted else "policy", "by": by}


class RunningAttempt(FrozenModel):
    """An attempt that is being made."""

    task: str
    name: str | None
    seed: int
    started_at: datetime


class RolloutProgress(FrozenModel):
    """How far a rollout is; the figures are those of its present command, `done` and `total` of the whole."""

    total: int = Field(default=0, ge=0)
    done: int = Field(default=0, ge=0)
    successes: int = Field(default=0, ge=0)
    infrastructure: int = Field(default=0, ge=0)
    """Attempts that were lost; most are repeated."""
    cost_usd: float | None = Field(default=None, ge=0)
    running: tuple[RunningAttempt, ...] = ()
    started_at: datetime
    updated_at: datetime | None = None
    """Renewed every few seconds while the command runs."""
    ended: bool = False
    """Whether the command ended, for whatever reason."""
