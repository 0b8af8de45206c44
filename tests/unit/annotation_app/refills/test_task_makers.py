"""Suites give their next seeds, and none that an evaluation tries."""

import pytest

from annotation_app.refills import task_makers
from annotation_app.refills.planning import TaskKind
from annotation_app.refills.task_makers import SuiteMaker
from protocol.trajectory.tasks import Task, TaskVariant
from vm_bridge.fleet import SuiteInfo
from vm_bridge.suites.registry import list_suites, make_tasks

FORM = TaskKind(suite="drills", name="form", level=2)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[TaskVariant]:
    """The variants that the bridge was asked for."""
    variants = list[TaskVariant]()

    async def suite_tasks(suite: str, variant: TaskVariant) -> tuple[Task, ...]:
        variants.append(variant)
        return make_tasks(suite, variant)

    monkeypatch.setattr(task_makers, "suite_tasks", suite_tasks)
    return variants


def suites() -> dict[str, SuiteInfo]:
    return {suite.name: suite for suite in list_suites()}


def a_task(kind: TaskKind, language: str = "en") -> Task:
    variant = TaskVariant(level=kind.level, language="zh" if language == "zh" else "en")
    return next(task for task in make_tasks(kind.suite, variant) if task.name == kind.name)


def test_the_next_seeds_that_no_gate_tries(asked: list[TaskVariant]) -> None:
    like = a_task(FORM, "zh")
    made = SuiteMaker(suites()).make(FORM, 3, like=like, first_seed=4, held=lambda seed: seed == 5)
    assert [task.seed for task in made] == [4, 6, 7]
    assert {(task.name, task.parameters["level"], task.parameters["language"]) for task in made} == {("form", 2, "zh")}
    assert all(task.parameters.get("size") == like.parameters.get("size") for task in made)
    assert len({task.instruction for task in made}) > 1


def test_the_screen_is_that_of_the_pools_tasks(asked: list[TaskVariant]) -> None:
    maze = TaskKind(suite="games", name="maze")
    small = next(task for task in make_tasks("games", TaskVariant(size=(320, 240))) if task.name == "maze")
    (made,) = SuiteMaker(suites()).make(maze, 1, like=small, first_seed=9, held=lambda _: False)
    assert made.parameters["size"] == small.parameters["size"] == [320, 240]


def test_a_seed_is_asked_for_once_for_all_kinds(asked: list[TaskVariant]) -> None:
    maker, like = SuiteMaker(suites()), a_task(FORM)
    for name in ("form", "wizard"):
        kind = TaskKind(suite="drills", name=name, level=2)
        maker.make(kind, 2, like=like, first_seed=0, held=lambda _: False)
    assert len(asked) == 2


def test_a_suite_ends_where_its_seeds_end(asked: list[TaskVariant]) -> None:
    few = {"drills": suites()["drills"].model_copy(update={"seeds": 6})}
    made = SuiteMaker(few).make(FORM, 10, like=a_task(FORM), first_seed=4, held=lambda _: False)
    assert [task.seed for task in made] == [4, 5]


def test_suites_whose_seeds_change_nothing_are_left_out() -> None:
    levels = SuiteMaker(suites()).levels()
    named = {suite for suite, _ in levels}
    assert {"drills", "games", "sites", "questions", "miniwob"} <= named
    assert not named & {"desktop", "terminal", "phone"}
    assert levels["drills", "form"] > 1
