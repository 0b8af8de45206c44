"""What the benchmark of kills counts: each kind of damage is seen, and nothing else is."""

from collections import Counter
from typing import Any

import pytest

from benchmarks.parts.kills.annotators import Episode
from benchmarks.parts.kills.episode_client import Command
from benchmarks.parts.kills.machine_logs import MachineLogReader, log_command
from benchmarks.parts.kills.results import StoredStep, classify_failure, lost_or_rejected, recovery_times
from benchmarks.parts.kills.schedule import Death


def command(fate: str) -> Command:
    return Command("a1", {"type": "act"}, began=0.0, fate=fate)


def episode(*commands: Command, complete: bool = True, failed_at: float | None = None) -> Episode:
    return Episode("e1", "terminal", list(commands), "finished", "", complete, failed_at)


@pytest.mark.parametrize(
    ("fate", "stored", "done", "complete", "lost", "refused"),
    [
        ("acknowledged", StoredStep("e1", None), 1, True, 0, 0),
        ("acknowledged", None, 1, True, 1, 0),
        ("acknowledged", StoredStep("e1", None), 0, True, 1, 0),
        ("acknowledged", StoredStep("e1", None), 0, False, 0, 0),
        ("acknowledged", StoredStep("e1", "outcome_unknown"), 0, True, 0, 0),
        ("queue_full", None, 0, True, 0, 0),
        ("queue_full", None, 1, True, 0, 1),
    ],
)
def test_an_act_is_lost_where_it_was_acknowledged_and_not_stored_or_not_done(
    fate: str, stored: StoredStep | None, done: int, complete: bool, lost: int, refused: int
) -> None:
    of = {"a1": stored} if stored else {}
    found = lost_or_rejected([episode(command(fate), complete=complete)], of, Counter({"a1": done}))
    assert tuple(map(len, found)) == (lost, refused)


@pytest.mark.parametrize(
    ("victim", "at", "ended", "whom"),
    [
        ("redis", 90.0, set(), "redis"),
        ("redis emptied", 90.0, set(), "redis"),
        ("redis", 90.0, {"e1"}, "machine"),
        ("redis", 10.0, set(), "other"),
        ("web", 90.0, set(), "other"),
    ],
)
def test_a_failure_is_blamed_on_its_machine_first(victim: str, at: float, ended: set[str], whom: str) -> None:
    assert classify_failure(episode(failed_at=100.0), [Death(victim, at, 1.0)], ended) == whom


def test_recovery_is_told_for_all_and_by_victim() -> None:
    told: dict[str, Any] = recovery_times([Death("web", 0.0, 1.0), Death("web", 0.0, 3.0), Death("redis", 0.0, 9.0)])
    assert told["recovery_max_s"] == 9.0
    assert set(told["recovery_p95_s_by_victim"]) == {"web", "redis"}


def test_a_machine_that_two_episodes_wrote_to_was_held_twice() -> None:
    machine_logs = MachineLogReader("run1")
    machine_logs.files["run1 e1 a1"] = ["run1 e1 a1", "run1 e1 a2", "run1 e1 a2"]
    assert machine_logs.doubly_held == 0
    assert machine_logs.acts == {"a1": 1, "a2": 2}
    machine_logs.files["run1 e1 a1"].append("run1 e2 a3")
    assert machine_logs.doubly_held == 1


def test_a_line_names_run_episode_and_command() -> None:
    assert log_command("run1", "e1", "a1").split(">>")[0].split() == ["echo", "run1", "e1", "a1"]
