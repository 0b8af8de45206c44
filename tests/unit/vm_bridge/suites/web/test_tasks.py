"""The bundled browser tasks without a browser: how many, in which words, and what their parameters may be."""

from typing import Any

import pytest

from protocol.trajectory.tasks import TaskVariant
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.suites.registry import list_suites, make_tasks
from vm_bridge.suites.web import DRILLS, GAMES, SITES, static_validation
from vm_bridge.suites.web.manifest import SMALL_SIZE, Reference
from vm_bridge.suites.web.records import normalize_score
from vm_bridge.suites.web.tasks import parse_variant


def test_there_are_as_many_as_promised() -> None:
    folders = [*GAMES.folders.values(), *SITES.folders.values()]
    assert len(GAMES.folders) >= 15
    assert sum(folder.manifest.webgl for folder in folders) >= 2
    assert sum(folder.manifest.small for folder in folders) >= 10


@pytest.mark.parametrize("name", sorted(GAMES.folders))
def test_a_game_has_its_files_and_its_texts(name: str) -> None:
    assert list(static_validation.find_faults(GAMES.folders[name])) == []
    assert len(GAMES.folders[name].manifest.levels) >= 3


@pytest.mark.parametrize("name", sorted(DRILLS.folders))
def test_a_drill_is_small_has_its_texts_and_the_kit_of_the_sites(name: str) -> None:
    folder = DRILLS.folders[name]
    assert list(static_validation.find_faults(folder)) == []
    assert folder.manifest.small
    assert folder.manifest.size == SMALL_SIZE
    assert len(folder.manifest.levels) >= 2
    assert "function handsOf(" in folder.expert


def test_drills_are_named_apart_from_the_other_tasks() -> None:
    assert not DRILLS.folders.keys() & (GAMES.folders.keys() | SITES.folders.keys())


def test_a_task_says_what_it_is() -> None:
    task = GAMES.make("snake", seed=7, level=2, language="zh", size=(320, 240))
    assert task.id == "games/snake-l2-zh-s7-320x240"
    assert task.parameters == {"level": 2, "language": "zh", "size": [320, 240]}
    assert "5" in task.instruction
    assert GAMES.make("snake").id == "games/snake"


def test_a_scene_follows_from_the_task_and_its_site_is_fresh() -> None:
    task = GAMES.make("snake", level=2, size=(320, 240))
    one, other = GAMES.scene(task), GAMES.scene(task)
    assert (one.url, one.size, one.step_ms) == ("http://snake.pilothouse.test/", (320, 240), 150)
    assert one.site is not other.site


@pytest.mark.parametrize(
    "parameters",
    [{"level": 9}, {"level": "1"}, {"level": True}, {"language": "fr"}, {"size": [10, 10]}, {"size": "big"}],
)
def test_parameters_it_cannot_take_are_refused(parameters: dict[str, Any]) -> None:
    task = GAMES.make("snake").model_copy(update={"parameters": parameters})
    with pytest.raises(InvalidAction):
        parse_variant(GAMES.folder("snake"), task)


def test_a_screen_is_offered_only_to_tasks_that_fit_on_it() -> None:
    assert DRILLS.sizes("press")[:2] == (SMALL_SIZE, (640, 480))
    assert SMALL_SIZE not in SITES.sizes("shop")
    small = {task.name for task in make_tasks("sites", TaskVariant(size=SMALL_SIZE))}
    assert small == {name for name in SITES.folders if SMALL_SIZE in SITES.sizes(name)} != set(SITES.folders)
    reported = {task.name: task.sizes for suite in list_suites() for task in suite.tasks}
    assert (reported["shop"][:2], reported["say_hello"]) == (("800x600", "640x480"), ())


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(UnknownTask):
        GAMES.make("chess")


def test_a_score_is_measured_between_chance_and_the_expert() -> None:
    reference = Reference(score=0.9, random=0.1)
    assert normalize_score(0.9, reference) == pytest.approx(1)
    assert normalize_score(0.1, reference) == pytest.approx(0)
    assert normalize_score(0.5, reference) == pytest.approx(0.5)
    assert normalize_score(0.5, None) is None
    assert normalize_score(0.5, Reference(score=0.1, random=0.1)) is None
