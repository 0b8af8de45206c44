"""Two policies are compared at the same pages, once each, and at nothing else."""

from collections.abc import Sequence

import pytest

from benchmarks.attempts import NotAlike, compared, parsed
from tests.unit.agent_backend.evaluate.tries import tried
from vocabulary.statistics import signs
from vocabulary.trajectories import Trajectory


def played(wins: Sequence[bool], first: int = 300) -> list[Trajectory]:
    return [
        one.model_copy(update={"id": f"{seed}-{won}", "task": one.task.model_copy(update={"id": f"snake-s{seed}"})})
        for seed, won in enumerate(wins, first)
        for one in [tried("snake", won, steps=1)]
    ]


def test_pages_won_anew_and_lost_are_counted_page_by_page() -> None:
    before, after = played([True, True, False, False, False]), played([True, False, True, True, False])
    found = compared(before, list(reversed(after)))
    assert found == {"before": 2, "anew": 2, "lost": 1, "by_chance": signs(2, 1)}


def test_other_pages_are_refused() -> None:
    with pytest.raises(NotAlike, match="2 pages are in one of them alone: snake-s300"):
        compared(played([True, True]), played([True, True], first=301))


def test_a_page_attempted_twice_is_refused() -> None:
    with pytest.raises(NotAlike, match="snake-s300 was attempted more than once"):
        compared(played([True]), [*played([True]), *played([False])])


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--task", "click-color", "--attempts", "0"], "at least 1"),
        (["--task", "click-color", "--task", "sites/nowhere"], "no such task: sites/nowhere"),
    ],
)
def test_what_cannot_be_played_is_refused(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parsed(["out", *words])
    assert why in capsys.readouterr().err
