"""The gate of a pool: what an evaluation must show before a revision proposes there. Pure: data in, decision out."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from protocol.base import FrozenModel
from protocol.evaluation.reports import Comparison, Evaluation, PairedComparison, Rate, TaskChange, TaskResult
from protocol.evaluation.statistics import classify_difference, fisher_exact, fisher_exact_stratified, holm_adjust
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import format_task_kind

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
]


class Gate(FrozenModel):
    """What must hold. `over` names suites (`games`) and tasks (`games/2048`); empty, it is all that was evaluated."""

    over: Annotated[tuple[Scope, ...], Field(max_length=200)] = ()
    attempts: int = Field(default=5, ge=1, le=10_000)
    """At least so many at each task, a seed each."""
    success: float = Field(default=0.0, ge=0, le=1)
    """At least this rate of all of them."""
    no_regression: bool = True
    """Nothing may be worse by more than chance than under the active revision, in all or in one task."""
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
    tasks = {_kind(task): task for task in candidate.tasks if _within(gate, _kind(task))}
    reasons = [*_coverage(gate, tasks), *_success(gate, tasks)]
    if candidate.judged:
        # A model that learned to please a judging model would promote itself.
        reasons.append(Reason(code="rests_on_a_judge", found=candidate.judged, wanted=0))
    if gate.no_regression and active is not None:
        reasons += _regression(gate, candidate, active, before)
    return Decision(passed=not reasons, reasons=tuple(reasons))


def _kind(task: TaskResult | TaskChange) -> str:
    return format_task_kind(task.suite, task.name, task.level)


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


def _regression(gate: Gate, candidate: Evaluation, active: PolicyRef, before: Evaluation | None) -> list[Reason]:
    """Where the candidate is worse than the active one, or nobody can tell."""
    found = candidate.comparison
    if found is None or found.policies != (active,):
        found = None if before is None else _comparison(candidate, before)
    changes = [] if found is None else [change for change in found.tasks if _within(gate, _kind(change))]
    if found is None or not changes:
        return [Reason(code="active_not_evaluated", subject=f"{active.name} {active.revision}")]
    tables = [(*_counts(change.after), *_counts(change.before)) for change in changes]
    gained = sum(won - won_other * of / of_other for won, of, won_other, of_other in tables)
    together = fisher_exact_stratified(tables)
    paired = found.overall.finding == "worse" and not gate.over
    reasons = [Reason(code="task_dropped", subject=kind) for kind in found.only_before if _within(gate, kind)]
    if paired or classify_difference(gained, together) == "worse":
        reasons.append(Reason(code="worse", found=found.overall.chance if paired else together))
    return reasons + [
        Reason(code="worse_task", subject=_kind(change), found=change.after.rate, wanted=change.before.rate)
        for change in changes
        if change.finding == "worse"
    ]


def _comparison(candidate: Evaluation, before: Evaluation) -> Comparison:
    """Two reports, task by task; which attempts make pairs is not in them."""
    new, old = ({_kind(task): task for task in report.tasks} for report in (candidate, before))
    both = [kind for kind in new if kind in old]
    chances = [fisher_exact(*_counts(new[kind].successes), *_counts(old[kind].successes)) for kind in both]
    changes = (
        TaskChange(
            suite=new[kind].suite,
            name=new[kind].name,
            level=new[kind].level,
            before=old[kind].successes,
            after=new[kind].successes,
            chance=chance,
            adjusted=adjusted,
            finding=classify_difference(new[kind].successes.rate - old[kind].successes.rate, adjusted),
        )
        for kind, chance, adjusted in zip(both, chances, holm_adjust(chances), strict=True)
    )
    return Comparison(
        policies=before.policies,
        overall=PairedComparison(pairs=0, won=0, lost=0, chance=1.0, finding="chance"),
        tasks=tuple(changes),
        only_before=tuple(kind for kind in old if kind not in new),
        only_after=tuple(kind for kind in new if kind not in old),
    )


def _counts(rate: Rate) -> tuple[int, int]:
    return rate.successes, rate.attempts
