"""A web process that drives an episode is killed behind nginx: the other goes on with it, and no step is lost."""

import tempfile
from pathlib import Path

import pytest

from benchmarks.parts.failover.annotators import ReconnectingAnnotator
from benchmarks.parts.failover.web_processes import STEPS, count_lost_and_doubled, measure_deaths
from benchmarks.parts.nginx import NGINX
from protocol.actions.types import Click

PILOTS = 2


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
@pytest.mark.parametrize(
    "hosts", [pytest.param(("web", "web"), id="one host"), pytest.param(("web-1", "web-2"), id="two hosts")]
)
def test_an_episode_goes_on_in_the_other_process(hosts: tuple[str, str]) -> None:
    """The killed process is started again only when every pilot has done a step without it."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-") as short:  # the database's socket lies in it
        figures = measure_deaths(Path(short) / "deaths", hosts=hosts, rounds=1, annotator_count=PILOTS)
    assert figures["deaths"] >= 1
    assert figures["steps"] >= PILOTS * STEPS + figures["deaths"]
    assert (figures["lost_steps"], figures["doubled_steps"]) == (0, 0)


def flown(*stored: tuple[str, int], done: list[str]) -> ReconnectingAnnotator:
    """A pilot whose browser heard of `done`, and whose commands are stored with where they clicked."""
    steps = [{"command_id": name, "action": {"x": x, "y": 0}} for name, x in stored]
    return ReconnectingAnnotator("e", "s", 0, "nowhere", done=done, stored=steps, steered=[0.1], acted=[0.1])


@pytest.mark.parametrize(
    ("stored", "acts", "lost", "doubled"),
    [
        ((("a", 1), ("b", 2)), (1, 2), 0, 0),
        ((("a", 1),), (1, 2), 1, 0),
        ((("a", 1), ("b", 2)), (1,), 1, 0),
        ((("a", 1), ("b", 2), ("b", 2)), (1, 2), 0, 1),
        ((("a", 1), ("b", 2)), (1, 2, 2), 0, 1),
    ],
)
def test_what_is_lost_or_done_twice_is_counted(
    stored: tuple[tuple[str, int], ...], acts: tuple[int, ...], lost: int, doubled: int
) -> None:
    figures = count_lost_and_doubled([flown(*stored, done=["a", "b"])], [[Click(x=x, y=0) for x in acts]])
    assert (figures["lost_steps"], figures["doubled_steps"]) == (lost, doubled)
