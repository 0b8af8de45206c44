"""The part of an attempt that an evaluation needs. It is small, so that large folders can be read line by line."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from protocol.evaluation.records import attempt_cost
from protocol.evaluation.reports import ExcludedAttempts
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.steps import Step
from protocol.trajectory.tasks import task_category, task_level
from protocol.trajectory.trajectories import Trajectory, without_undone_steps

ExclusionReason = Literal["unjudged", "broken", "assisted"]


class TaskKey(NamedTuple):
    """Identifies a task. Attempts with different seeds are at the same task; attempts at different levels are not."""

    suite: str
    name: str
    level: int = 1

    def __str__(self) -> str:
        return f"{self.suite}/{self.name}" + (f" level {self.level}" if self.level > 1 else "")


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one attempt of a policy without a person."""

    id: str
    task: TaskKey
    seed: int
    success: bool
    score: float | None
    """The verifier's score; None if a person or a judge decided the outcome."""
    steps: int
    truncated: bool
    scores: tuple[float | None, ...]
    """The page's score after each step; empty if it keeps no score."""
    think_characters: int
    reply_tokens: int
    replies: int
    """How many of the executed replies have their tokens."""
    policies: tuple[PolicyRef, ...]
    points: float | None = None
    """The task's own points."""
    category: str = ""
    cost_usd: float | None = None
    judged: bool = False
    """Whether only a judge decided the outcome."""


OutcomesById = Mapping[str, bool]
"""A judge's outcomes by attempt id."""


def exclusion_reason(trajectory: Trajectory, judge_outcomes: OutcomesById) -> ExclusionReason | None:
    """Why an attempt does not count for the policy; None if it counts."""
    if trajectory.outcome in ("broken", "skipped"):
        return "broken"
    if any(step.decision != "auto" for step in trajectory.steps):
        return "assisted"
    return "unjudged" if verified_outcome(trajectory) is None and trajectory.id not in judge_outcomes else None


def verified_outcome(trajectory: Trajectory) -> bool | None:
    """Whether the task was done: the verifier's verdict, else a person's. A policy's own claim does not count, so an
    attempt without a person is unjudged if no verifier could decide."""
    if trajectory.verdict is not None and trajectory.verdict.success is not None:
        return trajectory.verdict.success
    if trajectory.origin == "annotation" and trajectory.outcome in ("success", "failure"):
        return trajectory.outcome == "success"
    return None


def summarize_attempt(trajectory: Trajectory, judge_outcomes: OutcomesById) -> Attempt:
    """The attempt without undone steps. A judge's outcome counts if there is no other."""
    verified = verified_outcome(trajectory)
    whole = without_undone_steps(trajectory)
    task, verdict = whole.task, whole.verdict
    counts = [count for step in whole.steps if (count := _reply_tokens(whole, step)) is not None]
    pages = tuple(page.score if (page := step.after and step.after.page) else None for step in whole.steps)
    return Attempt(
        id=whole.id,
        task=TaskKey(task.suite or "", task.name or task.id, task_level(task)),
        seed=task.seed,
        success=judge_outcomes.get(trajectory.id, False) if verified is None else verified,
        score=verdict.score if verdict is not None and verdict.success is not None else None,
        steps=len(whole.steps),
        truncated=whole.truncated,
        scores=pages if any(score is not None for score in pages) else (),
        think_characters=sum(len(step.thought) for step in whole.steps),
        reply_tokens=sum(counts),
        replies=len(counts),
        policies=whole.policies,
        points=verdict.points if verdict is not None and verdict.success is not None else None,
        category=task_category(task),
        cost_usd=attempt_cost(trajectory),
        judged=verified is None,
    )


def _reply_tokens(trajectory: Trajectory, step: Step) -> int | None:
    """The length of the reply that a step executed, if its tokens were kept."""
    offered = trajectory.proposals[step.index] if step.index < len(trajectory.proposals) else ()
    ids = next((proposal.completion_token_ids for proposal in offered if proposal.id == step.proposal_id), None)
    return None if ids is None else len(ids)


@dataclass(slots=True)
class Attempts:
    """All attempts that were read, with counts of those left out."""

    included: list[Attempt]
    left_out: ExcludedAttempts

    @property
    def policies(self) -> tuple[PolicyRef, ...]:
        """The policies that acted, each once, in order."""
        return tuple(dict.fromkeys(policy for attempt in self.included for policy in attempt.policies))

    def by_task(self) -> dict[TaskKey, list[Attempt]]:
        """The attempts at each task, in order of their seeds."""
        grouped: dict[TaskKey, list[Attempt]] = {}
        for attempt in sorted(self.included, key=lambda attempt: (attempt.task, attempt.seed, attempt.id)):
            grouped.setdefault(attempt.task, []).append(attempt)
        return grouped


def collect_attempts(
    trajectories: Iterable[tuple[Path, Trajectory]], judge_outcomes: OutcomesById | None = None
) -> Attempts:
    """Split attempts into those that count and those that do not. `judge_outcomes` has a judge's outcomes for
    attempts without another outcome."""
    judge_outcomes = judge_outcomes or {}
    included: list[Attempt] = []
    reasons: dict[ExclusionReason, int] = {"unjudged": 0, "broken": 0, "assisted": 0}
    for _, trajectory in trajectories:
        reason = exclusion_reason(trajectory, judge_outcomes)
        if reason is None:
            included.append(summarize_attempt(trajectory, judge_outcomes))
        else:
            reasons[reason] += 1
    return Attempts(included, ExcludedAttempts(**reasons))
