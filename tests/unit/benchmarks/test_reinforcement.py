"""What is tried when the nano policy learns from its attempts: whose pages are whose, and a ledger to go on with."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.parts.reinforcement.plan import (
    Ledger,
    LedgerLocked,
    Plan,
    PlanMismatch,
    Run,
    render_table,
    summarize_attempts,
)
from benchmarks.reinforcement import build_plan, parse_arguments, run_summaries
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.evaluation.examples import example_attempt

WORDS = ("--task", "click-color", "--task", "click-option", "--compare", "identify-shape")


def planned(*words: str) -> Plan:
    return build_plan(parse_arguments(["OUT", *WORDS, *words]))


def line(update: int, success: float = 0.5) -> dict[str, Any]:
    return {"update": update, "success": success, "attempts": 32, "cpu_seconds": {"learn": 2.0, "play": 1.5}}


def test_each_seed_has_every_task_and_both_algorithms_where_they_are_compared() -> None:
    runs = planned("--seed", "0", "--seed", "1").runs
    assert [run.name for run in runs[: len(runs) // 2]] == [
        *("identify-shape-ppo-0", "identify-shape-grpo-0", "click-color-ppo-0", "click-option-ppo-0"),
    ]
    assert [run.name.removesuffix("-1") for run in runs[4:]] == [run.name.removesuffix("-0") for run in runs[:4]]


def test_both_algorithms_play_the_same_pages_and_no_page_is_played_for_two_updates_or_evaluated() -> None:
    plan = planned("--updates", "3", "--pages", "4", "--group", "2")
    ppo, grpo = plan.runs[:2]
    updates = [plan.sample(ppo, update) for update in range(plan.updates)]
    assert updates == [plan.sample(grpo, update) for update in range(plan.updates)]
    assert [len(pages) for pages in updates] == [8] * 3
    assert [len(set(pages)) for pages in updates] == [4] * 3
    met = [seed for pages in updates for _, seed in set(pages)]
    other = {seed for _, seed in plan.sample(ppo.model_copy(update={"seed": 1}), 0)}
    assert len({*met, *other, *plan.evaluated()}) == len(met) + len(other) + plan.held_out


def test_a_run_on_several_tasks_plays_them_in_turn_and_is_measured_at_each(tmp_path: Path) -> None:
    plan = planned("--together", "grpo", "--pages", "3", "--group", "2", "--seed", "1", "--compare", "click-color")
    (run,) = plan.runs
    assert run.name == "together-grpo-1"
    assert run.tasks == plan.tasks == ("click-color", "click-option")
    pages = [page for update in range(2) for page in plan.sample(run, update)]
    assert [task for task, _ in pages[::2]] == ["click-color", "click-option"] * 3
    assert len(set(pages)) == 6
    ledger = Ledger(tmp_path, plan)
    ledger.record_start("click-color", [True, False])
    ledger.record_start("click-option", [False, False])
    ledger.record_update(run, line(1))
    ledger.done(run, {"click-color": [True, False], "click-option": [True, True]})
    (came,) = run_summaries(ledger).values()
    assert (came["before"]["wins"], came["after"]["wins"]) == ([1, 0, 0, 0], [1, 0, 1, 1])
    assert came["after"]["tasks"]["click-option"]["success"] == 1
    assert came["by_chance"] == 0.5
    assert len(render_table(ledger).splitlines()) == 2 + 1 + 2


def test_what_was_drawn_is_told_of_each_task() -> None:
    wins = {("a", 1): (True, False), ("a", 2): (True, True), ("b", 1): (False, False)}
    made = [
        one.model_copy(update={"task": Task(id=f"{name}-{seed}", name=name, instruction="Click.")})
        for (name, seed), pair in wins.items()
        for one in (example_attempt("snake", won, steps=1) for won in pair)
    ]
    assert summarize_attempts(made) == {"a": {"success": 0.75, "varied": 0.5}, "b": {"success": 0.0, "varied": 0.0}}


def test_the_trainer_is_told_what_both_share_and_ppo_alone_what_is_its_own(tmp_path: Path) -> None:
    plan = planned("--set", "learning_rate=0.0003", "--set-ppo", "value_updates=5", "--temperature", "0.8")
    ppo, grpo = (
        plan.settings(run, start=tmp_path, out=tmp_path / "run", inbox=tmp_path / "inbox") for run in plan.runs[:2]
    )
    assert ppo["learning_rate"] == grpo["learning_rate"] == 0.0003
    assert ppo["temperature"] == 0.8
    assert ppo["value_updates"] == 5
    assert ppo.keys() - grpo.keys() == plan.ppo.keys()
    assert ppo["attempts"] == 1, "an update takes one folder, whatever of it can be used"


def test_a_ledger_is_gone_on_with_and_an_update_counts_once(tmp_path: Path) -> None:
    plan = planned()
    run, *others = plan.runs
    ledger = Ledger(tmp_path, plan)
    ledger.record_start(run.title, [True, False, False, False])
    for update in (1, 2):
        ledger.record_update(run, line(update, update / 4))
    again = Ledger(tmp_path, planned("--seed", "0", "--seed", "2"))
    again.record_update(run, line(2, 1.0))
    again.record_update(run, line(3, 0.75))
    assert [(one["update"], one["success"]) for one in again.updates(run)] == [(1, 0.25), (2, 0.5), (3, 0.75)]
    assert again.figures(run) is None
    again.done(run, {run.title: [True, True, True, False]})
    figures = again.figures(run)
    assert figures is not None
    assert (figures["success"], figures["episodes"], figures["cpu_seconds"]) == (0.75, 96, 10.5)
    assert figures["drawn_last"] == 0.5
    assert again.before()[run.title]["success"] == 0.25
    assert run_summaries(again) == {
        run.name: {"before": again.start_of_run(run), "after": figures, "by_chance": 0.5},
    }, "two pages of two are won anew"
    assert all(again.figures(other) is None for other in others)
    assert len(render_table(again).splitlines()) == 3, "what is not done is not told"


@pytest.mark.parametrize("words", [("--updates", "13"), ("--set", "epochs=2"), ("--held-out", "61")])
def test_another_plan_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    Ledger(tmp_path, planned())
    with pytest.raises(PlanMismatch, match=r"plan\.json"):
        Ledger(tmp_path, planned(*words))


def test_a_ledger_is_gone_on_with_by_one_at_a_time(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, planned())
    with ledger.locked(), pytest.raises(LedgerLocked), Ledger(tmp_path, planned()).locked():
        pass
    with ledger.locked():
        pass


def test_a_run_is_called_by_what_tells_it_apart() -> None:
    assert Run(tasks=("click-link",), algorithm="grpo", seed=2).name == "click-link-grpo-2"
