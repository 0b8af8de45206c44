"""The gate of a pool: what an evaluation must show before a revision proposes there. Pure: data in, decision out."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from protocol.base import FrozenModel
from protocol.evaluation.comparisons import OverallChange, compare_reports, kind_of, overall_change
from protocol.evaluation.reports import Comparison, Evaluation, TaskChange, TaskResult
from protocol.trajectory.proposals import PolicyRef

Scope = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\x00]*$")]
ReasonCode = Literal[
    "nothing_evaluated",
    "rests_on_a_judge",
    "not_evaluated",
    "too_few_attempts",
    "success_too_low",
    "active_not_evaluated",
    "worse",
    "worse_task",
    "task_dropped",
    "no_gain",
    "gain_by_chance",
    "pool_shut",
]
Improvement = Literal["none", "estimated", "significant"]
"""How much better than the active revision: not at all (nothing worse by more than chance suffices); more successes at
the same tasks; or more of them than chance explains."""


class Gate(FrozenModel):
    """What must hold. `over` names suites (`games`) and tasks (`games/2048`); empty, it is all that was evaluated."""

    over: Annotated[tuple[Scope, ...], Field(max_length=200)] = ()
    attempts: int = Field(default=5, ge=1, le=10_000)
    """At least so many at each task, a seed each."""
    success: float = Field(default=0.0, ge=0, le=1)
    """At least this rate of all of them."""
    no_regression: bool = True
    """Nothing may be worse by more than chance than under the active revision, in all or in one task."""
    improvement: Improvement = "none"
    """What the candidate must show against the active revision at the same tasks and seeds."""
    promote: Literal["by_hand", "automatically"] = "by_hand"


class Reason(FrozenModel):
    """One thing that keeps a gate shut; `subject` is the task or suite it is about, where there is one."""

    code: ReasonCode
    subject: str = ""
    found: float | None = None
    wanted: float | None = None


class Decision(FrozenModel):
    """What a gate says of a report: open, or shut for these reasons."""

    passed: bool
    reasons: tuple[Reason, ...] = ()


def decide(gate: Gate, candidate: Evaluation, active: PolicyRef | None, before: Evaluation | None) -> Decision:
    """What a gate says of a candidate's report. `active` is who proposes now, `before` its own latest report; where
    the candidate's report has a comparison with `active` itself, that counts, since it knows attempts in pairs."""
    tasks = {kind_of(task): task for task in candidate.tasks if _within(gate, kind_of(task))}
    reasons = [*_coverage(gate, tasks), *_success(gate, tasks)]
    if candidate.judged:
        # A model that learned to please a judging model would promote itself.
        reasons.append(Reason(code="rests_on_a_judge", found=candidate.judged, wanted=0))
    if active is not None and (gate.no_regression or gate.improvement != "none"):
        reasons += _against_active(gate, candidate, active, before)
    return Decision(passed=not reasons, reasons=tuple(reasons))


def _covers(scope: str, kind: str) -> bool:
    return kind == scope or kind.startswith((f"{scope}/", f"{scope} level "))


def _within(gate: Gate, kind: str) -> bool:
    return not gate.over or any(_covers(scope, kind) for scope in gate.over)


def _coverage(gate: Gate, tasks: Mapping[str, TaskResult]) -> list[Reason]:
    """Whether enough was tried."""
    if not tasks and not gate.over:
        return [Reason(code="nothing_evaluated")]
    missing = [scope for scope in gate.over if not any(_covers(scope, kind) for kind in tasks)]
    few = {kind: task.successes.attempts for kind, task in tasks.items() if task.successes.attempts < gate.attempts}
    return [
        *(Reason(code="not_evaluated", subject=scope) for scope in missing),
        *(
            Reason(code="too_few_attempts", subject=kind, found=found, wanted=gate.attempts)
            for kind, found in few.items()
        ),
    ]


def _success(gate: Gate, tasks: Mapping[str, TaskResult]) -> list[Reason]:
    attempts = sum(task.successes.attempts for task in tasks.values())
    rate = sum(task.successes.successes for task in tasks.values()) / attempts if attempts else 0.0
    if not attempts or rate >= gate.success:
        return []
    return [Reason(code="success_too_low", found=rate, wanted=gate.success)]


def _against_active(gate: Gate, candidate: Evaluation, active: PolicyRef, before: Evaluation | None) -> list[Reason]:
    """What the comparison with the active revision says against the candidate, or that there is none."""
    found = candidate.comparison
    if found is None or found.policies != (active,):
        found = None if before is None else compare_reports(candidate, before)
    changes = [] if found is None else [change for change in found.tasks if _within(gate, kind_of(change))]
    if found is None or not changes:
        return [Reason(code="active_not_evaluated", subject=f"{active.name} {active.revision}")]
    together = overall_change(changes)
    reasons = _regression(gate, found, changes, together) if gate.no_regression else []
    return reasons or _improvement(gate, found, changes, together)


def _regression(gate: Gate, found: Comparison, changes: Sequence[TaskChange], together: OverallChange) -> list[Reason]:
    """Where the candidate is worse than the active one."""
    paired = found.overall.finding == "worse" and not gate.over
    reasons = [Reason(code="task_dropped", subject=kind) for kind in found.only_before if _within(gate, kind)]
    if paired or together.finding == "worse":
        reasons.append(Reason(code="worse", found=found.overall.chance if paired else together.chance))
    return reasons + [
        Reason(code="worse_task", subject=kind_of(change), found=change.after.rate, wanted=change.before.rate)
        for change in changes
        if change.finding == "worse"
    ]


def _improvement(gate: Gate, found: Comparison, changes: Sequence[TaskChange], together: OverallChange) -> list[Reason]:
    """Whether the candidate is better, by pairs of attempts at the same seeds where there are some and they are all
    within the gate. `found` of a reason is the gain in success rate, or the probability that it is chance."""
    if gate.improvement == "none":
        return []
    pairs = found.overall if found.overall.pairs and not gate.over else None
    attempts = sum(change.after.attempts for change in changes)
    gain = (pairs.won - pairs.lost) / pairs.pairs if pairs else together.gained / attempts
    if gain <= 0:
        return [Reason(code="no_gain", found=gain, wanted=0)]
    if gate.improvement == "significant" and (pairs or together).finding != "better":
        return [Reason(code="gain_by_chance", found=(pairs or together).chance)]
    return []
