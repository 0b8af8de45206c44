"""The report on attempts in folders: a policy's results, and the differences between two policies."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from agent_backend.evaluation.attempts import Attempt, Attempts, collect_attempts
from agent_backend.evaluation.judgements import NO_JUDGE, JudgeOutcomes
from agent_backend.evaluation.results import NO_BASELINES, Baselines, category_results, suite_results, task_results
from agent_backend.trajectory_folders import count_infrastructure, read_trajectories, write_atomically
from protocol.evaluation.records import record_attempt
from protocol.evaluation.reports import Comparison, Evaluation, PairedComparison, Rate, TaskChange
from protocol.evaluation.statistics import classify_difference, fisher_exact, holm_adjust, sign_test, wilson_rate


def evaluate_folders(
    folders: Sequence[Path],
    *,
    against: Sequence[Path] = (),
    judge_outcomes: JudgeOutcomes = NO_JUDGE,
    baselines: Baselines = NO_BASELINES,
) -> Evaluation:
    """Report on a policy's attempts, compared with those of another policy. Raises InvalidFolder.

    Args:
        judge_outcomes: A judge's outcomes for attempts without a verdict.
    """
    attempts = collect_attempts(read_trajectories(folders), judge_outcomes.attempts)
    before = collect_attempts(read_trajectories(against), judge_outcomes.attempts) if against else None
    costs = [each.cost_usd for each in attempts.included if each.cost_usd is not None]
    return Evaluation(
        created_at=datetime.now(UTC),
        infrastructure=sum(map(count_infrastructure, folders)),
        policies=attempts.policies,
        attempts=len(attempts.included),
        judged=sum(attempt.judged for attempt in attempts.included),
        judge=judge_outcomes.judge,
        left_out=attempts.left_out,
        cost_usd=sum(costs) if costs else None,
        human_tasks=sum(task in baselines.people for task in attempts.by_task()),
        suites=suite_results(attempts, baselines),
        categories=category_results(attempts, baselines),
        tasks=task_results(attempts, baselines),
        comparison=None if before is None else compare_policies(attempts, before),
    )


def write_records(target: Path, folders: Sequence[Path]) -> None:
    """Write the records of all attempts in folders, by people and by policies, one a line. Raises InvalidFolder."""
    lines = (record_attempt(trajectory).model_dump_json() for _, trajectory in read_trajectories(folders))
    write_atomically(target, "".join(f"{line}\n" for line in lines).encode())


def compare_policies(after: Attempts, before: Attempts) -> Comparison:
    """Compare each task's attempts by Fisher's exact test, adjusted for the number of tasks. Compare all attempts
    together by pairs of the same task and seed."""
    new, old = after.by_task(), before.by_task()
    both = [task for task in new if task in old]
    rates = [(_rate(old[task]), _rate(new[task])) for task in both]
    chances = [fisher_exact(was.successes, was.attempts, now.successes, now.attempts) for was, now in rates]
    changes = [
        TaskChange(
            suite=task.suite,
            name=task.name,
            level=task.level,
            before=was,
            after=now,
            chance=chance,
            adjusted=adjusted,
            finding=classify_difference(now.rate - was.rate, adjusted),
        )
        for task, (was, now), chance, adjusted in zip(both, rates, chances, holm_adjust(chances), strict=True)
    ]
    return Comparison(
        policies=before.policies,
        overall=_overall((old[task], new[task]) for task in both),
        tasks=tuple(sorted(changes, key=lambda change: (change.after.rate - change.before.rate, change.adjusted))),
        only_before=tuple(str(task) for task in old if task not in new),
        only_after=tuple(str(task) for task in new if task not in old),
    )


def passes_gate(comparison: Comparison) -> bool:
    """Whether nothing got significantly worse, overall or in one task. A task that was not attempted again fails the
    gate."""
    found = (comparison.overall.finding, *(task.finding for task in comparison.tasks))
    return bool(comparison.tasks) and "worse" not in found and not comparison.only_before


def _rate(tries: list[Attempt]) -> Rate:
    return wilson_rate(sum(attempt.success for attempt in tries), len(tries))


def _overall(tasks: Iterable[tuple[list[Attempt], list[Attempt]]]) -> PairedComparison:
    pairs = [pair for old, new in tasks for pair in _pairs(old, new)]
    won = sum(now.success and not was.success for was, now in pairs)
    lost = sum(was.success and not now.success for was, now in pairs)
    chance = sign_test(won, lost)
    return PairedComparison(
        pairs=len(pairs), won=won, lost=lost, chance=chance, finding=classify_difference(won - lost, chance)
    )


def _pairs(old: list[Attempt], new: list[Attempt]) -> list[tuple[Attempt, Attempt]]:
    """Pairs of attempts with the same seed in order: first with first, second with second. The rest has no pair."""
    waiting: dict[int, list[Attempt]] = {}
    for attempt in reversed(old):
        waiting.setdefault(attempt.seed, []).append(attempt)
    return [(waiting[attempt.seed].pop(), attempt) for attempt in new if waiting.get(attempt.seed)]
