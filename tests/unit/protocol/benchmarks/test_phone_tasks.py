"""Rows of AndroidWorld's tasks."""

from typing import Any

import pytest

from protocol.benchmarks.forms import BENCHMARK, FolderSettings, FormError, oracle_actions
from protocol.benchmarks.phone_tasks import is_phone_task, phone_task
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.phone.android_world_tasks import parse_android_world, unsupported_reason
from vm_bridge.errors import UnsupportedTask


def row(**changed: Any) -> dict[str, Any]:
    place = {"family": "android_world", "task": "OwnTask", "seed": 30, "combination": 1}
    return {"android_world": place, "goal": "Do it.", "complexity": 2.6, **changed}


def test_a_row_is_a_task_with_the_budget_of_its_complexity() -> None:
    task = phone_task(row(), FolderSettings(), None)
    assert (task.id, task.name, task.platform, task.max_steps) == ("OwnTask-30-1", "OwnTask", "phone", 26)
    assert task.parameters[BENCHMARK] == {"name": "android-world", "oracle_source": "none"}
    found = parse_android_world(task)
    assert found is not None
    assert (found.task, found.seed, found.combination) == ("OwnTask", 30, 1)

    solved = phone_task(row(), FolderSettings(max_steps=5), [{"kind": "press_home"}])
    assert (solved.max_steps, len(oracle_actions(solved))) == (5, 1)
    assert solved.parameters[BENCHMARK] == {"name": "android-world", "oracle_source": "own"}


@pytest.mark.parametrize(
    "changed",
    [{"goal": ""}, {"complexity": 0}, {"complexity": "2"}, {"complexity": True}, {"android_world": {"seed": 1}}],
)
def test_a_row_that_is_none_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(FormError):
        phone_task(row(**changed), FolderSettings(), None)


def test_other_rows_are_none_of_its() -> None:
    assert is_phone_task(row())
    assert not is_phone_task({"goal": "Do it.", "complexity": 1})


def test_only_phones_score_them() -> None:
    task = phone_task(row(), FolderSettings(), None)
    assert unsupported_reason("phone", task) is None
    assert unsupported_reason("android", task) is None
    assert "image desktop" in (unsupported_reason("desktop", task) or "")
    assert unsupported_reason("desktop", Task(id="one", instruction="Do.")) is None
    wrong = task.model_copy(update={"parameters": {"android_world": {"task": "OwnTask", "seed": -1}}})
    assert "seed" in (unsupported_reason("android", wrong) or "")
    with pytest.raises(UnsupportedTask):
        parse_android_world(wrong)
