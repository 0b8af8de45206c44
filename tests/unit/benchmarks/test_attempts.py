"""Two policies are compared at the same pages, once each, and at nothing else."""

from collections.abc import Sequence

import pytest

from benchmarks.attempts import DifferentPages, compare_attempts, parse_arguments
from protocol.evaluation.statistics import sign_test
from protocol.trajectory.trajectories import Trajectory
from tests.unit.agent_backend.evaluation.examples import example_attempt


def make_attempts(wins: Sequence[bool], first: int = 300) -> list[Trajectory]:
    return [
        one.model_copy(update={"id": f"{seed}-{won}", "task": one.task.model_copy(update={"id": f"snake-s{seed}"})})
        for seed, won in enumerate(wins, first)
        for one in [example_attempt("snake", won, steps=1)]
    ]


def test_pages_won_anew_and_lost_are_counted_page_by_page() -> None:
    before, after = make_attempts([True, True, False, False, False]), make_attempts([True, False, True, True, False])
    found = compare_attempts(before, list(reversed(after)))
    assert found == {"before": 2, "anew": 2, "lost": 1, "by_chance": sign_test(2, 1)}


def test_other_pages_are_refused() -> None:
    with pytest.raises(DifferentPages, match="2 pages are in one of them alone: snake-s300"):
        compare_attempts(make_attempts([True, True]), make_attempts([True, True], first=301))


def test_a_page_attempted_twice_is_refused() -> None:
    with pytest.raises(DifferentPages, match="snake-s300 was attempted more than once"):
        compare_attempts(make_attempts([True]), [*make_attempts([True]), *make_attempts([False])])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--task", "click-color", "--attempts", "0"], "at least 1"),
        (["--task", "click-color", "--task", "sites/nowhere"], "no such task: sites/nowhere"),
    ],
)
def test_what_cannot_be_played_is_refused(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse_arguments(["out", *words])
    assert why in capsys.readouterr().err
