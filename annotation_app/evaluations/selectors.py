"""Queries on evaluations: registered reports from the database, results of benchmark runs from their folders."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from typing import Literal

from pydantic import ValidationError

from annotation_app.accounts.models import Role, User
from annotation_app.benchmark_runs.run_folder import read_request
from annotation_app.benchmark_runs.selectors import may_delete, run_path, run_result_path, runs_folder
from annotation_app.errors import NotFound
from annotation_app.evaluations.schemas import (
    EvaluationComparison,
    EvaluationCycle,
    EvaluationOut,
    EvaluationPage,
    EvaluationRow,
    PageSize,
)
from annotation_app.flywheel.selectors.reports import turn_of_report
from annotation_app.judges.selectors import judge_named
from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.policies.selectors import evaluation_latest, policies_reader_check
from annotation_app.promotions.models import GateDecision
from annotation_app.promotions.selectors import evaluation_summary
from annotation_app.tasks.models import Pool
from protocol.evaluation.benchmarks import BenchmarkResult
from protocol.evaluation.comparisons import compare_reports, overall_change
from protocol.evaluation.reports import Evaluation as Report
from protocol.evaluation.reports import PassAt, SuiteResult, serialize_evaluation
from protocol.evaluation.statistics import wilson_rate

RUN_PREFIX = "run:"
MAX_ROWS = 200
"""How many registered reports are listed, and how many runs; the newest."""


def evaluations_page(*, user: User) -> EvaluationPage:
    """The newest evaluations. Raises Forbidden."""
    policies_reader_check(user)
    results, unreadable = _run_results()
    digests = {name: _digest(result.evaluation) for name, result in results.items()}
    run_of = {digest: name for name, digest in digests.items()}
    reports = list(Evaluation.objects.order_by("-id")[:MAX_ROWS])
    listed = {report.sha256 for report in reports}
    rows = [_report_row(each, run=run_of.get(each.sha256)) for each in reports]
    rows += [_run_row(name, each) for name, each in results.items() if digests[name] not in listed]
    rows.sort(key=lambda row: row.created_at, reverse=True)
    return EvaluationPage(items=tuple(rows), unreadable=unreadable)


def evaluation_out(*, user: User, evaluation_id: str) -> EvaluationOut:
    """An evaluation with its report. Raises Forbidden and NotFound."""
    policies_reader_check(user)
    row, report, stored = _read(user, evaluation_id)
    if stored is None:
        stored = Evaluation.objects.filter(sha256=_digest(report)).first()
    revision = stored.revision_id if stored is not None else _revision_of(report)
    return EvaluationOut(
        row=row,
        report=report,
        decisions=() if stored is None else evaluation_summary(stored.pk).decisions,
        revision=revision,
        registered=None if stored is None else str(stored.pk),
        cycle=None if stored is None else _cycle(stored),
        judge_known=judge_named(report.judge) is not None,
        can_delete=_may_delete(user, evaluation_id),
    )


def reasons_against_deletion(evaluation: Evaluation) -> tuple[tuple[str, str], ...]:
    """What depends on a registered report, as error codes with messages: gate decisions, a flywheel's cycle, and gates
    that compare later revisions with it."""
    found = [
        ("gate_decided", f"The decision of the gate of {decision.pool.name} stands on it.")
        for decision in GateDecision.objects.filter(evaluation=evaluation).select_related("pool")
    ]
    if (cycle := _cycle(evaluation)) is not None:
        found.append(("cycle_gate", f"Cycle {cycle.number} of the flywheel {cycle.flywheel} stands on it."))
    newest = evaluation_latest(evaluation.revision)
    if newest is not None and newest.pk == evaluation.pk:
        found += [
            ("gate_baseline", f"The gate of {pool.name} compares new revisions with it.")
            for pool in Pool.objects.filter(policy=evaluation.revision, gate__isnull=False)
        ]
    return tuple(found)


def _cycle(stored: Evaluation) -> EvaluationCycle | None:
    turn = turn_of_report(stored)
    return None if turn is None else EvaluationCycle(id=turn.pk, flywheel=turn.wheel.name, number=turn.number)


def _may_delete(user: User, evaluation_id: str) -> bool:
    if not evaluation_id.startswith(RUN_PREFIX):
        return user.has_role(Role.ADMIN)
    folder = run_path(user=user, name=evaluation_id.removeprefix(RUN_PREFIX))
    return may_delete(user, read_request(folder))


def evaluations_compare(*, user: User, before: str, after: str) -> EvaluationComparison:
    """Two evaluations, compared in total and by task. Raises Forbidden and NotFound."""
    policies_reader_check(user)
    (before_row, old, _), (after_row, new, _) = _read(user, before), _read(user, after)
    found = compare_reports(new, old)
    results: dict[str, BenchmarkResult] = {}
    if not (before.startswith(RUN_PREFIX) and after.startswith(RUN_PREFIX)):
        results = {_digest(result.evaluation): result for result in _run_results()[0].values()}

    def size(evaluation_id: str, report: Report) -> PageSize:
        if evaluation_id.startswith(RUN_PREFIX):
            return _page_size(run_result(user=user, run=evaluation_id.removeprefix(RUN_PREFIX)))
        return _page_size(results.get(_digest(report)))

    return EvaluationComparison(
        before=before_row,
        after=after_row,
        before_size=size(before, old),
        after_size=size(after, new),
        comparison=found,
        overall=overall_change(found.tasks),
    )


def _page_size(result: BenchmarkResult | None) -> PageSize:
    """The page size of the run that produced a report, if known."""
    if result is None:
        return PageSize(known=False)
    match result.manifest.plan.get("size"):
        case None:
            return PageSize(known=True)
        case [int(width), int(height)]:
            return PageSize(known=True, size=f"{width}x{height}")
        case _:
            return PageSize(known=False)


def run_result(*, user: User, run: str) -> BenchmarkResult:
    """The result of a finished run. Raises Forbidden and NotFound."""
    file = run_result_path(run_path(user=user, name=run))
    try:
        return BenchmarkResult.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        raise NotFound("This run has not finished.") from None
    except ValidationError:
        raise NotFound("The result of this run cannot be read.") from None


def _read(user: User, evaluation_id: str) -> tuple[EvaluationRow, Report, Evaluation | None]:
    """An evaluation's row and report, and its database row if the id is of a registered report."""
    if evaluation_id.startswith(RUN_PREFIX):
        name = evaluation_id.removeprefix(RUN_PREFIX)
        result = run_result(user=user, run=name)
        return _run_row(name, result), result.evaluation, None
    stored = Evaluation.objects.filter(pk=int(evaluation_id)).first()
    if stored is None:
        raise NotFound("There is no such evaluation.")
    return _report_row(stored, run=None), stored.document, stored


def _run_results() -> tuple[dict[str, BenchmarkResult], tuple[str, ...]]:
    """The newest finished runs by name, and those that cannot be read."""
    results: dict[str, BenchmarkResult] = {}
    unreadable: list[str] = []
    files = [file for folder in runs_folder().glob("*/") if (file := run_result_path(folder)).is_file()]
    for file in sorted(files, key=lambda each: each.stat().st_mtime, reverse=True)[:MAX_ROWS]:
        try:
            results[file.parent.name] = BenchmarkResult.model_validate_json(file.read_bytes())
        except (OSError, ValidationError):
            unreadable.append(file.parent.name)
    return results, tuple(sorted(unreadable))


def _report_row(stored: Evaluation, *, run: str | None) -> EvaluationRow:
    report = stored.document
    name = ", ".join(suite.suite for suite in report.suites)
    return _row(str(stored.pk), "report", name, report, stored.created_at, run)


def _run_row(run: str, result: BenchmarkResult) -> EvaluationRow:
    return _row(f"{RUN_PREFIX}{run}", "run", result.manifest.name, result.evaluation, result.finished_at, run)


def _row(
    evaluation_id: str, source: Literal["report", "run"], name: str, report: Report, at: datetime, run: str | None
) -> EvaluationRow:
    attempts = sum(suite.successes.attempts for suite in report.suites)
    solved = sum(suite.successes.successes for suite in report.suites)
    steps = sum(suite.steps * suite.successes.attempts for suite in report.suites)
    return EvaluationRow(
        id=evaluation_id,
        source=source,
        name=name,
        policies=report.policies,
        created_at=at,
        tasks=len(report.tasks),
        attempts=report.attempts,
        successes=wilson_rate(solved, attempts) if attempts else None,
        pass_at=largest_pass_at(report.suites),
        steps=steps / attempts if attempts else None,
        cost_usd=report.cost_usd,
        run=run,
    )


def largest_pass_at(suites: Sequence[SuiteResult]) -> PassAt | None:
    """Pass@k at the largest k of any suite: the mean over all tasks with at least that many attempts, equally
    weighted."""
    by_k: defaultdict[int, list[PassAt]] = defaultdict(list)
    for suite in suites:
        for point in suite.pass_at:
            by_k[point.k].append(point)
    if not by_k:
        return None
    k = max(by_k)
    tasks = sum(point.tasks for point in by_k[k])
    return PassAt(k=k, tasks=tasks, rate=sum(point.rate * point.tasks for point in by_k[k]) / tasks)


def _digest(report: Report) -> str:
    return sha256(serialize_evaluation(report)).hexdigest()


def _revision_of(report: Report) -> int | None:
    """The registered revision that a report is about."""
    if len(report.policies) != 1:
        return None
    (policy,) = report.policies
    found = PolicyRevision.objects.filter(name=policy.name, revision=policy.revision).first()
    return None if found is None else found.pk
