"""Renders an evaluation as plain text for people, one line for each suite and task."""

from collections.abc import Sequence

from agent_backend.evaluation.results import task_label
from protocol.evaluation.reports import CategoryResult, Comparison, Evaluation, PassAt, Rate, Result, SuiteResult
from protocol.trajectory.proposals import PolicyRef

HEADER = ("", "success", "95 %", "n", "pass@k", "score", "normalised", "human", "steps", "thought", "tokens")


def render_table(evaluation: Evaluation) -> str:
    """The whole report."""
    out = evaluation.left_out
    lines = [
        f"{_policies(evaluation.policies)}: {evaluation.attempts} attempts; "
        f"left out: {out.unjudged} unjudged, {out.broken} broken, {out.assisted} with a person's help",
        *([f"{evaluation.infrastructure} attempts lost to infrastructure"] if evaluation.infrastructure else []),
        *([f"requests cost ${evaluation.cost_usd:.2f}"] if evaluation.cost_usd is not None else []),
        *([f"{evaluation.judged} ended as only a judge says: {evaluation.judge}"] if evaluation.judge else []),
        "",
        *align_columns(
            [
                HEADER,
                *((suite.suite or "no suite", *_cells(suite)) for suite in evaluation.suites),
                *((f"category {each.category}", *_cells(each)) for each in _categories(evaluation)),
                *((task_label(task), *_cells(task)) for task in evaluation.tasks),
            ]
        ),
    ]
    for suite in evaluation.suites:
        lines += ["", *_suite(suite)]
    if evaluation.comparison is not None:
        lines += ["", *_comparison(evaluation.comparison)]
    return "\n".join(lines)


def _policies(policies: Sequence[PolicyRef]) -> str:
    parts = [f"{ref.name} {ref.revision}" + (" (a script)" if ref.scripted else "") for ref in policies]
    return ", ".join(parts) or "no policy"


def _categories(evaluation: Evaluation) -> tuple[CategoryResult, ...]:
    """The categories that are not suites."""
    suites = {suite.suite for suite in evaluation.suites}
    return tuple(each for each in evaluation.categories if each.category not in suites)


def _cells(result: Result) -> tuple[str, ...]:
    rate = result.successes
    return (
        _percent(rate.rate),
        f"{_percent(rate.low)}–{_percent(rate.high)}",
        str(rate.attempts),
        _pass(result.pass_at),
        format_number(result.score, 2),
        format_number(result.normalised, 2),
        format_number(result.human, 1),
        format_number(result.steps, 1),
        format_number(result.think_characters, 0),
        format_number(result.reply_tokens, 0),
    )


def _percent(rate: float) -> str:
    return f"{100 * rate:.1f}"


def format_number(value: float | None, places: int) -> str:
    """Format a number with so many decimals; a dash for None."""
    return "–" if value is None else f"{value:.{places}f}"


def _pass(passes: Sequence[PassAt]) -> str:
    most = passes[-1]
    return f"{_percent(most.rate)} @{most.k}"


def _suite(suite: SuiteResult) -> list[str]:
    parts = [f"{suite.suite or 'no suite'}: {suite.tasks.count} tasks, each alike {_percent(suite.tasks.mean)}"]
    if suite.runs is not None and suite.runs.deviation is not None:
        parts.append(f"{suite.runs.count} runs {_percent(suite.runs.mean)} ± {_percent(suite.runs.deviation)}")
    points = (
        f"{point.steps}: {_percent(point.successes.rate)}" + (f" ({point.cut_off} cut off)" if point.cut_off else "")
        for point in suite.scaling
    )
    return ["; ".join(parts), "success by allowed steps: " + ", ".join(points)]


def _comparison(comparison: Comparison) -> list[str]:
    overall = comparison.overall
    parts = {"worse": "worse", "better": "better", "chance": "can be chance"}
    lines = [
        f"against {_policies(comparison.policies)}: {overall.pairs} pairs, {overall.won} won, {overall.lost} lost, "
        f"p {overall.chance:.3g}: {parts[overall.finding]}"
    ]
    lines += align_columns(
        [
            (
                task_label(task),
                f"{_share(task.before)} → {_share(task.after)}",
                f"p {task.chance:.3g}, adjusted {task.adjusted:.3g}: {parts[task.finding]}",
            )
            for task in comparison.tasks
            if task.before.rate != task.after.rate
        ]
    )
    for word, names in (("only before", comparison.only_before), ("only after", comparison.only_after)):
        if names:
            lines.append(f"{word}: {', '.join(names)}")
    return lines


def _share(rate: Rate) -> str:
    return f"{rate.successes}/{rate.attempts}"


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Align columns to their widest cell, the first one left-aligned."""
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) if place == 0 else cell.rjust(width) for place, (cell, width) in enumerate(pairs))
        for pairs in (list(zip(row, widths, strict=True)) for row in rows)
    ]
