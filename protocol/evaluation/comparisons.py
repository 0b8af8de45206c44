"""Compares two reports by their success rates, task by task and overall, without their attempts."""

from collections.abc import Sequence

from protocol.base import FrozenModel
from protocol.evaluation.reports import Comparison, Evaluation, Finding, PairedComparison, Rate, TaskChange, TaskResult
from protocol.evaluation.statistics import classify_difference, fisher_exact, fisher_exact_stratified, holm_adjust
from protocol.trajectory.tasks import format_task_kind


class OverallChange(FrozenModel):
    """All tasks together, by the exact Mantel-Haenszel test: attempts are compared only within a task."""

    gained: float
    """Successes above what the earlier report's rates predict; negative: below."""
    chance: float
    """Probability of a difference at least as large if the policies are equal."""
    finding: Finding


def compare_reports(after: Evaluation, before: Evaluation) -> Comparison:
    """Each task's attempts by Fisher's exact test, adjusted for how many tasks there are (Holm), worst first. Reports
    do not pair attempts, so `overall` is empty: see `overall_change`."""
    new, old = ({kind_of(task): task for task in report.tasks} for report in (after, before))
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
        tasks=tuple(sorted(changes, key=lambda change: (change.after.rate - change.before.rate, change.adjusted))),
        only_before=tuple(kind for kind in old if kind not in new),
        only_after=tuple(kind for kind in new if kind not in old),
    )


def overall_change(changes: Sequence[TaskChange]) -> OverallChange:
    """The overall change of these tasks; without tasks there is no difference."""
    tables = [(*_counts(change.after), *_counts(change.before)) for change in changes]
    gained = sum(won - won_other * of / of_other for won, of, won_other, of_other in tables)
    chance = fisher_exact_stratified(tables)
    return OverallChange(gained=gained, chance=chance, finding=classify_difference(gained, chance))


def kind_of(task: TaskResult | TaskChange) -> str:
    """The name of a task's kind, as gates use it."""
    return format_task_kind(task.suite, task.name, task.level)


def _counts(rate: Rate) -> tuple[int, int]:
    return rate.successes, rate.attempts
