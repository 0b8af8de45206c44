"""What is tried when the nano policy learns from its attempts: whose pages are whose, and a ledger to go on with."""

from pathlib import Path
from typing import Any

import pytest

from benchmarks.parts.reinforcement_plan import Ledger, LedgerBusy, OtherPlan, Plan, Run, table
from benchmarks.reinforcement import parsed, plan_of, told

WORDS = ("--task", "click-color", "--task", "click-option", "--compare", "identify-shape")


def planned(*words: str) -> Plan:
    return plan_of(parsed(["OUT", *WORDS, *words]))


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
    updates = [plan.seeds(ppo, update) for update in range(plan.updates)]
    assert updates == [plan.seeds(grpo, update) for update in range(plan.updates)]
    assert [len(seeds) for seeds in updates] == [8] * 3
    assert [len(set(seeds)) for seeds in updates] == [4] * 3
    met = [seed for seeds in updates for seed in set(seeds)]
    other = plan.seeds(ppo.model_copy(update={"seed": 1}), 0)
    assert len({*met, *other, *plan.evaluated()}) == len(met) + len(set(other)) + plan.held_out


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
    ledger.measured(run.task, [True, False, False, False])
    for update in (1, 2):
        ledger.updated(run, line(update, update / 4))
    again = Ledger(tmp_path, planned("--seed", "0", "--seed", "2"))
    again.updated(run, line(2, 1.0))
    again.updated(run, line(3, 0.75))
    assert [(one["update"], one["success"]) for one in again.updates(run)] == [(1, 0.25), (2, 0.5), (3, 0.75)]
    assert again.figures(run) is None
    again.done(run, [True, True, True, False])
    figures = again.figures(run)
    assert figures is not None
    assert (figures["success"], figures["episodes"], figures["cpu_seconds"]) == (0.75, 96, 10.5)
    assert figures["drawn_last"] == 0.5
    assert again.before()[run.task]["success"] == 0.25
    assert told(again) == {
        run.name: {"before": again.before()[run.task], "after": figures, "by_chance": 0.5},
    }, "two pages of two are won anew"
    assert all(again.figures(other) is None for other in others)
    assert len(table(again).splitlines()) == 3, "what is not done is not told"


@pytest.mark.parametrize("words", [("--updates", "13"), ("--set", "epochs=2"), ("--held-out", "61")])
def test_another_plan_is_refused(tmp_path: Path, words: tuple[str, ...]) -> None:
    Ledger(tmp_path, planned())
    with pytest.raises(OtherPlan, match=r"plan\.json"):
        Ledger(tmp_path, planned(*words))


def test_a_ledger_is_gone_on_with_by_one_at_a_time(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, planned())
    with ledger.alone(), pytest.raises(LedgerBusy), Ledger(tmp_path, planned()).alone():
        pass
    with ledger.alone():
        pass


def test_a_run_is_called_by_what_tells_it_apart() -> None:
    assert Run(task="click-link", algorithm="grpo", seed=2).name == "click-link-grpo-2"
