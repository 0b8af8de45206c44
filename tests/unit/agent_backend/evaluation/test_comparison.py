"""Two policies: what is a difference, and what can be chance."""

import random
from pathlib import Path

import pytest

from agent_backend.evaluation.attempts import Attempt, Attempts, TaskKey, collect_attempts
from agent_backend.evaluation.report import compare_policies, passes_gate
from protocol.evaluation.reports import ExcludedAttempts
from tests.unit.agent_backend.evaluation.examples import example_attempt


def tries(run: str, **won: str) -> Attempts:
    """Attempts at tasks: `x` is a success, `.` none; the place is the seed."""
    made = (
        example_attempt(name, mark == "x", seed=seed, run=run)
        for name, marks in won.items()
        for seed, mark in enumerate(marks)
    )
    return collect_attempts((Path(run), one) for one in made)


def test_a_task_that_broke_is_found_and_comes_first() -> None:
    comparison = compare_policies(
        tries("new", snake="." * 10, maze="x.x.x.x.x."), tries("old", snake="x" * 10, maze=".x.x.x.x.x")
    )
    assert [(task.name, task.finding) for task in comparison.tasks] == [("snake", "worse"), ("maze", "chance")]
    assert comparison.overall.finding == "worse"
    assert (comparison.overall.pairs, comparison.overall.won, comparison.overall.lost) == (20, 5, 15)


def test_one_lost_attempt_can_be_chance() -> None:
    comparison = compare_policies(tries("new", snake="xx."), tries("old", snake="xxx"))
    assert comparison.tasks[0].finding == "chance"
    assert comparison.overall.finding == "chance"


def test_among_many_tasks_a_difference_must_be_larger() -> None:
    alone = compare_policies(tries("new", t0="xxxxx"), tries("old", t0="....."))
    others = {f"t{index}": "....." for index in range(1, 20)}
    among = compare_policies(tries("new", t0="xxxxx", **others), tries("old", t0=".....", **others))
    change = next(task for task in among.tasks if task.name == "t0")
    assert alone.tasks[0].finding == "better"
    assert (change.finding, change.chance) == ("chance", alone.tasks[0].chance)


def test_a_small_gain_everywhere_is_found_by_pairs_alone() -> None:
    names = [f"t{index}" for index in range(8)]
    comparison = compare_policies(
        tries("new", **dict.fromkeys(names, "xx")), tries("old", **dict.fromkeys(names, "x."))
    )
    assert {task.finding for task in comparison.tasks} == {"chance"}
    assert (comparison.overall.won, comparison.overall.lost, comparison.overall.finding) == (8, 0, "better")


def test_only_attempts_with_the_same_seed_are_pairs() -> None:
    assert compare_policies(tries("new", a="x"), tries("old", a="xxx")).overall.pairs == 1
    apart = collect_attempts([(Path("old"), example_attempt("a", True, seed=9))])
    assert compare_policies(tries("new", a="x"), apart).overall.pairs == 0


def test_attempts_with_one_seed_are_pairs_in_their_order() -> None:
    def twice(run: str) -> Attempts:
        won = ((True, f"{run}-1"), (False, f"{run}-2"))
        return collect_attempts((Path(run), example_attempt("a", success, id=name)) for success, name in won)

    overall = compare_policies(twice("new"), twice("old")).overall
    assert (overall.pairs, overall.won, overall.lost) == (2, 0, 0)


def test_tasks_of_one_side_are_named_and_not_compared() -> None:
    comparison = compare_policies(tries("new", a="x", b="x"), tries("old", b="x", c="x"))
    assert [task.name for task in comparison.tasks] == ["b"]
    assert (comparison.only_before, comparison.only_after) == (("games/c",), ("games/a",))


def test_a_policy_against_itself_differs_in_nothing() -> None:
    same = tries("new", a="x.x", b="...")
    comparison = compare_policies(same, same)
    assert {task.chance for task in comparison.tasks} == {1.0}
    assert (comparison.overall.chance, comparison.overall.finding) == (1.0, "chance")


@pytest.mark.parametrize(
    ("new", "old", "holds"),
    [
        ({"a": "xxx"}, {"a": "xx."}, True),
        ({"a": "xx."}, {"a": "xxx"}, True),
        ({"a": ".........."}, {"a": "xxxxxxxxxx"}, False),
        ({"a": "xxx"}, {"a": "xx.", "b": "xxx"}, False),
        ({}, {}, False),
    ],
)
def test_a_policy_holds_up_where_nothing_got_worse_and_nothing_was_left_untried(
    new: dict[str, str], old: dict[str, str], holds: bool
) -> None:
    assert passes_gate(compare_policies(tries("new", **new), tries("old", **old))) is holds


def test_false_alarms_are_as_rare_as_promised() -> None:
    dice = random.Random(11)
    skills = [0.1, 0.3, 0.5, 0.5, 0.7, 0.95]

    def drawn() -> Attempts:
        made = [
            Attempt(
                f"{task}-{seed}", TaskKey("s", f"t{task}"), seed, dice.random() < skill, None, 1, False, (), 0, 0, 0, ()
            )
            for task, skill in enumerate(skills)
            for seed in range(8)
        ]
        return Attempts(made, ExcludedAttempts())

    rounds = [compare_policies(drawn(), drawn()) for _ in range(200)]
    alarms = sum(any(task.finding != "chance" for task in one.tasks) for one in rounds)
    assert alarms <= 10
    assert sum(one.overall.finding != "chance" for one in rounds) <= 10
