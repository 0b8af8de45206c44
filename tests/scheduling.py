"""A pytest plugin that decides which tests run together, in what order, which have a second try, and which run only
with `--all`.

Tests of one group run one after another in one worker, since they share something that is costly to start. Groups that
take longest begin first, so that all workers end at nearly the same moment; `durations.json` says how long they took.
"""

import json
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

HERE = Path(__file__).parent
DURATIONS = HERE / "durations.json"
MOVED = HERE / "moved_to_all.toml"
SECOND_TRIES = HERE / "second_tries.toml"
UNKNOWN_SECONDS = 30.0
"""What a file is taken for that has never been measured: it begins early, in case it is long."""
MACHINES = ("browser", "phone", "preview", "recording", "simulated", "streams", "tools")
"""End-to-end tests that are about machines. They have a platform of their own: one group of all would last longest."""
SHARED = (
    *((f"tests/e2e/test_{name}.py", "platform of machines") for name in MACHINES),
    ("tests/e2e/", "platform"),
    ("tests/integration/servers/", "model servers"),
    ("tests/integration/cluster/", "Ray cluster"),
    ("[placed]", "Ray cluster"),
    ("[windows]", "Windows"),
    ("tests/integration/windows/", "Windows"),
)
"""Parts of a test's id, and the group that its test is in; every other test is in the group of its file."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help=f"run the tests of {MOVED.name} too")
    parser.addoption(
        "--second-tries", action="store_true", help=f"run the tests of {SECOND_TRIES.name} twice if need be"
    )
    parser.addoption("--longest-first", action="store_true", help="begin with the groups that take longest")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say why each test that ran twice failed at first: where it failed again, that may be another reason."""
    for report in terminalreporter.getreports("rerun"):
        terminalreporter.section(f"first try of {report.nodeid}", sep="_")
        terminalreporter.write_line(report.longreprtext)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> "LongestGroupFirst":
    return LongestGroupFirst(config, log)


class LongestGroupFirst(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
    """Hands out whole groups, in the order of the collection."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only `--all` runs, and sort the groups. The order within a group stays."""
    if not config.getoption("--all"):
        moved = [item for item in items if reason_to_move(item.nodeid)]
        if moved:
            config.hook.pytest_deselected(items=moved)
            items[:] = [item for item in items if not reason_to_move(item.nodeid)]
    if config.getoption("--second-tries"):
        for item in items:
            if has_second_try(item.nodeid):
                item.add_marker(pytest.mark.flaky(reruns=1))
    if not config.getoption("--longest-first"):
        return
    measured: dict[str, float] = json.loads(DURATIONS.read_text())
    seconds = group_seconds([item.nodeid for item in items], measured)
    items.sort(key=lambda item: -seconds[group_of(item.nodeid)])


def group_of(nodeid: str) -> str:
    """The group of a test."""
    return next((group for part, group in SHARED if part in nodeid), nodeid.partition("::")[0])


def group_seconds(nodeids: list[str], measured: dict[str, float]) -> dict[str, float]:
    """How long each group takes, from the seconds that whole groups took when they were last measured."""
    counts: defaultdict[str, int] = defaultdict(int)
    for nodeid in nodeids:
        counts[group_of(nodeid)] += 1
    return {group: measured.get(group, UNKNOWN_SECONDS) for group in counts}


def reason_to_move(nodeid: str) -> str | None:
    """Why a test runs only with `--all`; None where it always runs."""
    return next(
        (
            one["reason"]
            for one in MOVED_TESTS
            if nodeid.startswith(one["tests"]) and one.get("parameter", "") in nodeid
        ),
        None,
    )


def has_second_try(nodeid: str) -> bool:
    """Whether a test that fails runs once more."""
    return nodeid.startswith(tuple(one["tests"] for one in TRIED_AGAIN))


MOVED_TESTS: list[dict[str, str]] = tomllib.loads(MOVED.read_text())["moved"]
TRIED_AGAIN: list[dict[str, str]] = tomllib.loads(SECOND_TRIES.read_text())["again"]
