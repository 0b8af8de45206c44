"""What was done in an episode, and which states of it can be made again."""

from pathlib import Path

import pytest

from protocol.actions.types import Click
from protocol.trajectory.tasks import Task
from vm_bridge.drivers.browser.replay_log import ReplayLog, ReplayStep
from vm_bridge.errors import CannotRestore

TASK = Task(id="t", instruction="x", platform="browser")


def replay_step(at: float) -> ReplayStep:
    return ReplayStep(action=Click(x=1, y=1), settle=True, until_ms=at)


@pytest.fixture
def log(tmp_path: Path) -> ReplayLog:
    log = ReplayLog(tmp_path / "log.jsonl")
    log.begin(TASK)
    return log


def test_a_snapshot_counts_acts_and_finds_the_way_to_its_state(log: ReplayLog) -> None:
    log.note(replay_step(10))
    log.advance_time(25)
    log.advance_time(40)
    kept = log.snapshot()
    log.note(replay_step(50))
    assert kept.acts == 1
    assert [one.until_ms for one in log.path_to(kept)] == [10, 40]
    assert log.path_to(kept)[1].action is None


def test_a_state_that_was_left_is_not_taken_for_what_came_in_its_place(log: ReplayLog) -> None:
    log.note(replay_step(10))
    first = log.snapshot()
    log.note(replay_step(20))
    second = log.snapshot()
    log.go_back(1)
    log.note(replay_step(30))
    assert len(log.path_to(first)) == 1
    with pytest.raises(CannotRestore):
        log.path_to(second)
    assert len(log.path_to(log.snapshot())) == 2


def test_the_next_set_up_ends_all_snapshots(log: ReplayLog) -> None:
    kept = log.snapshot()
    log.begin(TASK)
    with pytest.raises(CannotRestore):
        log.path_to(kept)


def test_what_was_not_logged_cannot_be_gone_back_over(log: ReplayLog) -> None:
    kept = log.snapshot()
    log.mark_not_replayable("somebody else acted")
    with pytest.raises(CannotRestore, match="somebody else"):
        log.path_to(kept)
    with pytest.raises(CannotRestore, match="somebody else"):
        log.all_steps()
    log.begin(TASK)
    assert log.all_steps() == ()


def test_another_process_reads_all_of_it(log: ReplayLog, tmp_path: Path) -> None:
    log.admit(9)
    log.note(replay_step(10))
    kept = log.snapshot()
    log.note(replay_step(20))
    log.go_back(1)
    log.note(replay_step(30))
    with (tmp_path / "log.jsonl").open("a") as file:
        file.write('{"deed": {"until')  # the process ended while it wrote
    again = ReplayLog(tmp_path / "log.jsonl")
    assert again.beginning == log.beginning
    assert (again.steps, again.fence) == (log.steps, 9)
    assert again.path_to(kept) == log.path_to(kept)


def test_a_machine_without_an_episode_remembers_its_fence_alone(log: ReplayLog, tmp_path: Path) -> None:
    log.admit(9)
    log.note(replay_step(10))
    log.end_lease()
    log.forget()
    again = ReplayLog(tmp_path / "log.jsonl")
    assert (again.beginning, again.steps, again.fence) == (None, [], 10)
    again.end_lease()  # nobody has held it since
    assert again.fence == 10
