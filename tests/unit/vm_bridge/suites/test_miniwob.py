"""MiniWoB++ is offered whole, and its instructions are those its pages were found to give."""

import pytest

from protocol.trajectory.tasks import Task
from vm_bridge.errors import InvalidAction, UnknownTask
from vm_bridge.suites.miniwob import MiniWob
from vm_bridge.suites.miniwob.pages import page_paths, pages_folder, read_instructions
from vm_bridge.suites.web_suite import WebSuite


def test_every_page_of_the_package_is_a_task() -> None:
    tasks = MiniWob().tasks
    assert len(tasks) == 134
    assert {task.name for task in tasks} == set(read_instructions())
    assert all((pages_folder() / path[1:]).is_file() for path in page_paths().values())
    assert isinstance(MiniWob(), WebSuite)


def test_the_instruction_follows_the_seed() -> None:
    first, second = (MiniWob().make("click-link", seed=seed).instruction for seed in (0, 1))
    assert first != second
    assert MiniWob().make("click-test", seed=99).instruction == "Click the button."
    assert MiniWob().make("click-link", seed=99).instruction.startswith("Click on the link")
    assert "on top of the page" in MiniWob().make("click-link", seed=999).instruction


def test_a_scene_lies_in_the_package_alone() -> None:
    scene = MiniWob().scene(MiniWob().make("flight-aa"))
    assert scene.url == "http://miniwob.test/flight/AA/wrapper.html"
    assert scene.size == (600, 700)


def test_another_size_is_taken_where_it_is_one() -> None:
    suite = MiniWob()
    assert suite.scene(suite.make("click-test", size=(1280, 720))).size == (1280, 720)
    assert len({suite.make("click-test", size=size).id for size in suite.sizes("click-test")}) == 5
    with pytest.raises(InvalidAction):
        suite.make("click-test", size=(0, 10))
    bad = suite.make("click-test").model_copy(update={"parameters": {"size": "large"}})
    with pytest.raises(InvalidAction):
        suite.scene(bad)


def test_an_unknown_task_is_refused() -> None:
    with pytest.raises(UnknownTask):
        MiniWob().make("click-nothing")
    with pytest.raises(UnknownTask):
        MiniWob().scene(Task(id="x", instruction="x", suite="miniwob", name="click-nothing"))
