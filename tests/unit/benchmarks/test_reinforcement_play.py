"""Attempts of an update are made until all are there, also where pages fail, and those that are there stay."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agent_backend.rollout.attempts import AttemptResult
from agent_backend.trajectory_folders import read_trajectories
from benchmarks.parts.reinforcement.player import MAX_TRIES, PagesFailed, Player, Take
from protocol.trajectory.tasks import Task
from tests.unit.agent_backend.evaluation.examples import example_attempt
from tests.unit.agent_backend.test_trajectory_folders import PICTURES

VERSION = "update-000003"


class Pages(Player):
    """A player one of whose pages fails so many times."""

    def __init__(self, fails: int) -> None:
        super().__init__((), "http://127.0.0.1:1", acts=4)
        self.asked: list[int] = []
        self._fails = fails

    async def _attempted(self, tasks: Sequence[Task], version: str, temperature: float, take: Take) -> None:
        failing = len(self.asked) < self._fails
        self.asked.append(len(tasks))
        for number, task in enumerate(tasks):
            if not (failing and number == 0):
                made = example_attempt("snake", True, steps=1)
                name = f"{task.id}-{len(self.asked)}-{number}"
                take(AttemptResult(made.model_copy(update={"id": name, "task": task}), "", PICTURES))


async def test_a_page_of_a_site_is_named_and_played_as_the_benchmark_has_it() -> None:
    player = Player((), "http://127.0.0.1:1", acts=None)
    wide, narrow = player.tasks([("sites/login", 50_000), ("login-user", 50_000)])
    assert (wide.id, wide.max_steps) == ("sites/login-s50000-320x240", 9)
    assert (narrow.suite, narrow.parameters["size"], narrow.max_steps) == ("miniwob", [160, 210], 9)
    await player.aclose()


@pytest.mark.parametrize("fails", range(MAX_TRIES))
async def test_what_failed_is_played_again(tmp_path: Path, fails: int) -> None:
    player = Pages(fails)
    tasks = player.tasks([("click-color", seed) for seed in (50_000, 50_000, 50_001)])
    await player.sample(tmp_path / VERSION, tasks, VERSION, 1.0)
    found = [one for _, one in read_trajectories([tmp_path / VERSION])]
    assert sorted(one.task.id for one in found) == sorted(task.id for task in tasks)
    assert player.asked == [3, *(1,) * fails]
    await player.aclose()


async def test_a_page_that_always_fails_is_told_and_what_is_there_stays(tmp_path: Path) -> None:
    player = Pages(MAX_TRIES)
    tasks = player.tasks([("click-color", 50_000), ("click-option", 50_001)])
    assert tasks[0].max_steps == 4
    with pytest.raises(PagesFailed, match="1 attempts"):
        await player.sample(tmp_path / VERSION, tasks, VERSION, 1.0)
    again = Pages(0)
    await again.sample(tmp_path / VERSION, tasks, VERSION, 1.0)
    assert again.asked == [1]
    for one in (player, again):
        await one.aclose()
