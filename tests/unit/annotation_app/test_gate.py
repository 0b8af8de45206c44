"""A gate's decision follows from the reports alone, and says why it is shut."""

from datetime import UTC, datetime
from itertools import product

import pytest

from annotation_app.policies.gate import Decision, Gate, Improvement, decide
from protocol.evaluation.reports import Comparison, Evaluation, Finding, PairedComparison, TaskResult
from protocol.evaluation.statistics import wilson_rate
from protocol.trajectory.proposals import PolicyRef

OLD = PolicyRef(name="tars", revision="1", dialect="ui_tars_1_5")
NEW = PolicyRef(name="tars", revision="2", dialect="ui_tars_1_5")


def report(policy: PolicyRef, tasks: dict[str, tuple[int, int]], comparison: Comparison | None = None) -> Evaluation:
    """A report on these tasks (`suite/name`: successes, attempts)."""
    return Evaluation(
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
        policies=(policy,),
        attempts=sum(attempts for _, attempts in tasks.values()),
        tasks=tuple(
            TaskResult(
                suite=kind.split("/")[0],
                name=kind.split("/")[1],
                successes=wilson_rate(*counts),
                steps=1,
                think_characters=0,
            )
            for kind, counts in tasks.items()
        ),
        comparison=comparison,
    )


def reasons(decision: Decision) -> list[tuple[str, str]]:
    assert decision.passed == (not decision.reasons)
    return [(reason.code, reason.subject) for reason in decision.reasons]


def gate_reasons(
    gate: Gate, after: dict[str, tuple[int, int]], before: dict[str, tuple[int, int]] | None = None
) -> list[tuple[str, str]]:
    old = None if before is None else report(OLD, before)
    return reasons(decide(gate, report(NEW, after), OLD, old))


def compared(finding: Finding, *dropped: str, against: PolicyRef = OLD) -> Comparison:
    """What a report says of itself: overall, and one task that stayed as it was."""
    both = report(NEW, {"games/2048": (3, 5)}).tasks[0].successes
    task = {"suite": "games", "name": "2048", "before": both, "after": both, "chance": 1, "adjusted": 1}
    return Comparison.model_validate(
        {
            "policies": (against,),
            "overall": PairedComparison(pairs=9, won=0, lost=9, chance=0.004, finding=finding),
            "tasks": ({**task, "finding": "chance"},),
            "only_before": dropped,
        }
    )


def test_what_is_no_worse_passes() -> None:
    assert gate_reasons(Gate(), {"games/2048": (4, 5)}, {"games/2048": (3, 5)}) == []


def test_every_task_needs_its_attempts() -> None:
    tasks = {"games/2048": (5, 5), "games/snake": (4, 4)}
    assert gate_reasons(Gate(no_regression=False), tasks) == [("too_few_attempts", "games/snake")]


def test_the_success_is_that_of_what_the_gate_is_over() -> None:
    tasks = {"games/2048": (5, 5), "sites/shop": (0, 5)}
    gate = Gate(success=0.6, no_regression=False)
    assert gate_reasons(gate, tasks) == [("success_too_low", "")]
    assert gate_reasons(gate.model_copy(update={"over": ("games",)}), tasks) == []
    assert gate_reasons(gate.model_copy(update={"over": ("sites/shop",)}), tasks) == [("success_too_low", "")]
    assert gate_reasons(gate.model_copy(update={"success": 0.5}), tasks) == []


def test_a_suite_is_not_its_namesake() -> None:
    assert gate_reasons(Gate(over=("game",), no_regression=False), {"games/2048": (5, 5)}) == [
        ("not_evaluated", "game")
    ]


def test_nothing_evaluated_is_nothing_shown() -> None:
    assert gate_reasons(Gate(no_regression=False), {}) == [("nothing_evaluated", "")]


def test_nobody_knows_without_a_report_on_the_active_one() -> None:
    tasks = {"games/2048": (5, 5)}
    assert gate_reasons(Gate(), tasks) == [("active_not_evaluated", "tars 1")]
    assert gate_reasons(Gate(), tasks, {"sites/shop": (5, 5)}) == [("active_not_evaluated", "tars 1")]
    assert reasons(decide(Gate(), report(NEW, tasks), None, None)) == [], "nobody is active"


def test_a_task_that_got_worse_shuts_it() -> None:
    before, after = {"games/2048": (9, 9), "games/snake": (0, 9)}, {"games/2048": (0, 9), "games/snake": (9, 9)}
    assert gate_reasons(Gate(), after, before) == [("worse_task", "games/2048")]
    assert gate_reasons(Gate(no_regression=False), after, before) == []


def test_small_losses_in_many_tasks_shut_it_though_none_is_more_than_chance() -> None:
    kinds = [f"games/{n}" for n in range(12)]
    gate = Gate(attempts=2)
    assert gate_reasons(gate, dict.fromkeys(kinds, (0, 2)), dict.fromkeys(kinds, (1, 2))) == [("worse", "")]
    assert gate_reasons(gate, dict.fromkeys(kinds, (1, 2)), dict.fromkeys(kinds, (0, 2))) == []


def test_a_task_that_was_not_tried_again_shuts_it() -> None:
    before = {"games/2048": (5, 5), "games/snake": (5, 5), "sites/shop": (5, 5)}
    assert gate_reasons(Gate(over=("games",)), {"games/2048": (5, 5)}, before) == [("task_dropped", "games/snake")]


def test_pairs_count_where_the_report_was_compared_with_the_active_one() -> None:
    tasks = {"games/2048": (3, 5)}
    after = report(NEW, tasks, compared("worse", "games/snake"))
    assert reasons(decide(Gate(), after, OLD, None)) == [("task_dropped", "games/snake"), ("worse", "")]
    assert reasons(decide(Gate(), report(NEW, tasks, compared("chance")), OLD, None)) == []


def test_a_comparison_with_somebody_else_says_nothing() -> None:
    after = report(NEW, {"games/2048": (3, 5)}, compared("better", against=NEW))
    assert reasons(decide(Gate(), after, OLD, None)) == [("active_not_evaluated", "tars 1")]
    assert reasons(decide(Gate(), after, OLD, report(OLD, {"games/2048": (3, 5)}))) == []


@pytest.mark.parametrize("attempts", [5, 8])
def test_more_successes_never_shut_a_gate_that_was_open(attempts: int) -> None:
    gate = Gate(success=0.4)
    for was, now in product(range(attempts + 1), range(attempts)):
        before = {"games/2048": (was, attempts)}
        if not gate_reasons(gate, {"games/2048": (now, attempts)}, before):
            assert not gate_reasons(gate, {"games/2048": (now + 1, attempts)}, before)


def test_a_judging_models_word_opens_no_gate() -> None:
    believed = report(NEW, {"games/2048": (9, 9)}).model_copy(update={"judged": 2})
    assert reasons(decide(Gate(no_regression=False), believed, None, None)) == [("rests_on_a_judge", "")]


@pytest.mark.parametrize(
    ("improvement", "won", "lost", "shut"),
    [
        ("none", 1, 2, []),
        ("estimated", 1, 2, [("no_gain", "")]),
        ("estimated", 2, 2, [("no_gain", "")]),
        ("estimated", 2, 1, []),
        ("significant", 2, 1, [("gain_by_chance", "")]),
        ("significant", 9, 0, []),
    ],
)
def test_a_gate_may_ask_that_the_same_attempts_were_better(
    improvement: Improvement, won: int, lost: int, shut: list[tuple[str, str]]
) -> None:
    found: Finding = "better" if won == 9 else "chance"
    both = compared("chance").model_copy(
        update={"overall": PairedComparison(pairs=20, won=won, lost=lost, chance=0.5, finding=found)}
    )
    after = report(NEW, {"games/2048": (3, 5)}, both)
    assert reasons(decide(Gate(improvement=improvement), after, OLD, None)) == shut
    assert reasons(decide(Gate(improvement=improvement), after, None, None)) == [], "nobody is active"


def test_without_pairs_the_rates_within_a_task_tell_the_gain() -> None:
    gate = Gate(improvement="estimated", no_regression=False)
    assert gate_reasons(gate, {"games/2048": (3, 5)}, {"games/2048": (3, 5)}) == [("no_gain", "")]
    assert gate_reasons(gate, {"games/2048": (4, 5)}, {"games/2048": (3, 5)}) == []
    assert gate_reasons(gate, {"games/2048": (4, 5)}) == [("active_not_evaluated", "tars 1")]
