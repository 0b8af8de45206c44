"""A kind of task says its level."""

import pytest

from protocol.trajectory.tasks import format_task_kind, kind_level


@pytest.mark.parametrize("level", [1, 2, 12])
@pytest.mark.parametrize(("suite", "name"), [("games", "maze"), ("", "to the next level 3 people"), ("", "level one")])
def test_a_kind_says_its_level(suite: str, name: str, level: int) -> None:
    assert kind_level(format_task_kind(suite, name, level)) == level
