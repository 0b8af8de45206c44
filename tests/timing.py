"""A pytest plugin that records where the time of a run goes: phases, fixtures and waits of every test.

With `--timing=FILE` the process that prints the report adds one JSON object a line to FILE, as tests end: one for each
phase of a test, and `{"moved": {…}}` with the tests that only `--all` runs and the reason.
"""

import gc
import json
import os
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.scheduling import group_of, reason_to_move
from tests.waiting import WAITS

UNFAILED = ("", "passed")
"""What pytest's terminal calls the outcomes of phases that did not fail; "" is that of set-ups and teardowns."""
OLDEST = 2
"""The generation of objects that have lived longest."""
MANY_OBJECTS = 50_000
"""To look through so many objects takes some hundredths of a second."""
FIXTURES = pytest.StashKey[list[tuple[str, str, float]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--timing", type=Path, help="write where the time went to this file, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(PhaseRecorder(), "pilothouse-phases")
    if hasattr(config, "workeroutput"):
        config.pluginmanager.register(MovedReporter(config.workeroutput), "pilothouse-moved")
    elif file := config.getoption("--timing"):
        config.pluginmanager.register(TimingWriter(file), "pilothouse-timing")


class PhaseRecorder:
    """Adds to each report what only the process that ran the test knows."""

    def __init__(self) -> None:
        self.processor_s = _processor_seconds()
        self.unclosed: list[str] = []
        self.collects = False

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self) -> None:
        """Collect garbage after each file only where what was collected is frozen: looking through it takes long.

        Counting what is frozen takes 0.1 s, so it is counted once.
        """
        self.collects = gc.get_freeze_count() > 0

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, None, None]:
        """What a file of tests left open is found when it ends and told as its own. Else it would be found later, at
        any moment, and a test of another file would fail for it."""
        yield
        if self.collects and (nextitem is None or nextitem.path != item.path):
            _drop_reports(item.config)
            self.unclosed = _collect_garbage()
            _freeze_again()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self.processor_s = _processor_seconds()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: "pytest.FixtureDef[object]", request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        began = time.perf_counter()
        try:
            return (yield)
        finally:
            took = time.perf_counter() - began
            item: pytest.Item = request._pyfuncitem
            item.stash.setdefault(FIXTURES, []).append((fixturedef.argname, fixturedef.scope, round(took, 3)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: "pytest.CallInfo[None]"
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        facts: Any = report  # what is set here travels from the worker with the report
        facts.fixtures = item.stash.get(FIXTURES, [])
        facts.waits = [(what, round(seconds, 3)) for what, seconds in WAITS]
        facts.attempt = getattr(item, "execution_count", 1)
        before, self.processor_s = self.processor_s, _processor_seconds()
        facts.processor_s = round(self.processor_s - before, 3)
        facts.unclosed, self.unclosed = self.unclosed, []
        item.stash[FIXTURES] = []
        WAITS.clear()
        return report


class MovedReporter:
    """Tells the controller which tests a worker left out: only the workers of xdist collect."""

    def __init__(self, output: dict[str, Any]) -> None:
        self.output = output

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.output["moved"] = {item.nodeid: why for item in items if (why := reason_to_move(item.nodeid))}


class TimingWriter:
    """Writes the reports of all workers as they come."""

    def __init__(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self.file = file.open("w", buffering=1)
        self.moved: dict[str, str] = {}

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.moved |= {item.nodeid: why for item in items if (why := reason_to_move(item.nodeid))}

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        self.moved |= getattr(node, "workeroutput", {}).get("moved", {})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        facts: Any = report
        row = {
            "test": report.nodeid,
            "group": group_of(report.nodeid),
            "phase": report.when,
            "outcome": report.outcome,
            "attempt": facts.attempt,
            "start": report.start,
            "seconds": round(report.duration, 3),
            "processor_s": facts.processor_s,
            "worker": getattr(report, "worker_id", "main"),
            "unclosed": facts.unclosed,
            "fixtures": facts.fixtures,
            "waits": facts.waits,
        }
        print(json.dumps(row), file=self.file)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        print(json.dumps({"moved": self.moved}), file=self.file)
        self.file.close()


def _freeze_again() -> None:
    """Never look again through what is left of many objects: it lives on. Exports unfreeze all that was frozen, too
    (`annotation_app.exports.folder_writer`). What is frozen is not counted."""
    if len(gc.get_objects(generation=OLDEST)) > MANY_OBJECTS:
        gc.freeze()


def _drop_reports(config: pytest.Config) -> None:
    """A worker prints nothing, yet its terminal keeps each report, which every collection of garbage looks through."""
    if hasattr(config, "workeroutput"):
        terminal: Any = config.pluginmanager.get_plugin("terminalreporter")
        for outcome in UNFAILED:
            terminal.stats.pop(outcome, None)


def _collect_garbage() -> list[str]:
    """Collect all garbage; what complained that it was never closed."""
    found = list[str]()
    hook, sys.unraisablehook = sys.unraisablehook, lambda told: found.append(str(told.exc_value))
    try:
        gc.collect()
    finally:
        sys.unraisablehook = hook
    return found


def _processor_seconds() -> float:
    """What this process has computed, and those that it started and that have ended. What a program computes for
    several tests counts for the one that ends it."""
    return sum(os.times()[:4])
