"""`./pilothouse test` and `./pilothouse check`: which lanes run in parallel, and the final report."""

import argparse
import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.node import Node
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.testing import checks
from annotation_app.operations.testing.checks import (
    Check,
    CheckOutcome,
    frontend_tests,
    platform_tests,
    run_checks,
    static_checks,
    trainer_tests,
    unit_tests,
)
from annotation_app.operations.testing.processor_use import ProcessorUse
from annotation_app.operations.testing.results import OutcomeCounts
from annotation_app.operations.testing.timing import (
    SLOWEST_COUNT,
    TestTiming,
    processor_times,
    program_lines,
    read_budgets,
)

BUDGETS_FILE = ROOT / "tests" / "budgets.toml"
DURATIONS_FILE = ROOT / "tests" / "durations.json"
SUMMARY_NAME = "summary.json"
UNIT, INTEGRATION, E2E = ("tests/unit", "tests/contract"), ("tests/integration",), ("tests/e2e",)


@dataclass(frozen=True, slots=True)
class TestRun:
    """A finished run of checks. `setup_s` and `total_s` are seconds since the command was started."""

    outcomes: tuple[CheckOutcome, ...]
    timing: TestTiming
    setup_s: float
    total_s: float
    busy: float
    stolen: float = 0.0
    """The share of CPU time that went to other machines of the host; it counts as busy."""
    programs: Counter[str] = field(default_factory=Counter)
    """CPU seconds of each program."""

    @property
    def results(self) -> OutcomeCounts:
        """All counts together."""
        return OutcomeCounts.total(outcome.results for outcome in self.outcomes)

    def summary(self) -> dict[str, Any]:
        """The figures that `./pilothouse bench tests` prints, as docs/research/benchmarks/test-run.md explains them."""
        results, moved = self.results, Counter(self.timing.moved.values())
        tests = results.passed + results.failed + results.skipped.total()
        return {
            "total_s": round(self.total_s, 1),
            "setup_s": round(self.setup_s, 1),
            "static_s": round(sum(one.seconds for one in self.outcomes if one.check.report is None), 1),
            "unit_s": self._seconds(UNIT),
            "integration_s": self._seconds(INTEGRATION),
            "e2e_s": self._seconds(E2E),
            "trainer_s": self._seconds(("tests/trainer",)),
            "tests": tests,
            "tests_moved_to_all": [{"tests": count, "reason": reason} for reason, count in moved.most_common()],
            "tests_total": tests + moved.total(),
            "failed": results.failed,
            "run_twice": len(results.rerun),
            "skipped": results.skipped.total(),
            "skipped_reasons": dict(results.skipped.most_common()),
            "busy_share": round(self.busy, 3),
            "stolen_share": round(self.stolen, 3),
            "programs_s": {name: round(took, 1) for name, took in self.programs.most_common(SLOWEST_COUNT)},
        }

    def _seconds(self, folders: tuple[str, ...]) -> float:
        found = self.timing.by_folder()
        return round(sum(sum(phases.values()) for name, phases in found.items() if name.startswith(folders)), 1)


def check_lanes(node: Node) -> tuple[Sequence[Check], ...]:
    """What a commit must pass, in two lanes of about the same duration."""
    types, others = _split(static_checks(node), {"types", "front-end types"})
    return (*others, *frontend_tests(node)), (*types, *unit_tests())


def test_lanes(node: Node, trainer: Path, *, everything: bool) -> tuple[Sequence[Check], ...]:
    """All tests: those that wait in one lane, CPU-bound ones in the other."""
    return (
        platform_tests(everything=everything),
        (*static_checks(node), *frontend_tests(node), *trainer_tests(trainer)),
    )


def run_and_report(lanes: Sequence[Sequence[Check]], console: Console, *, timed: bool = False) -> TestRun:
    """Run the lanes and report the results. With `timed`, also print where the time went and all figures as JSON.

    The last line counts the tests, in machine-readable form.
    """
    for file in _timing_records():
        file.unlink()
    setup_s, before = seconds_since_start(), processor_times()
    with ProcessorUse() as use:
        outcomes = run_checks(lanes, console)
    spent = processor_times() - before
    timing, total_s = TestTiming.read(_timing_records()), seconds_since_start()
    run = TestRun(outcomes, timing, setup_s, total_s, spent.busy_share, spent.stolen_share, use.by_program())
    _print_report(run, console, timed=timed)
    return run


def _print_report(run: TestRun, console: Console, *, timed: bool) -> None:
    results, summary = run.results, run.summary()
    console.say()
    for outcome in run.outcomes:
        mark = console.paint("✗", 31) if outcome.results.failed else console.paint("✓", 32)
        console.say(f"{mark} {outcome.check.name:<16} {outcome.results.line():<40} {outcome.seconds:6.1f} s")
    for reason, count in results.skipped.most_common():
        console.say(f"skipped {count} × {reason}")
    for one in summary["tests_moved_to_all"]:
        console.say(f"only with --all: {one['tests']} × {one['reason']}")
    for test in results.rerun:
        console.say(f"run twice: {test}")
    if timed:
        for line in (*run.timing.lines(read_budgets(BUDGETS_FILE)), *program_lines(run.programs)):
            console.say(line)
    for test in results.failures:
        console.say(f"{console.paint('failed', 31)}: {test}")
    if timed:
        stolen = f", {run.stolen:.0%} for other machines of the host" if run.stolen >= 0.01 else ""
        console.say(f"the processors were busy {run.busy:.0%} of the time{stolen}; {run.total_s:.0f} s in all")
        (checks.REPORTS_FOLDER / SUMMARY_NAME).write_text(json.dumps(summary))
        console.say(json.dumps(summary))
    console.say(results.line())


def keep_durations(arguments: argparse.Namespace, rest: list[str], console: Console) -> int:
    """`./pilothouse durations`: store the durations of a run, complete or not. Raises OperationsError."""
    records = arguments.records or _timing_records()
    if lacking := [str(file) for file in records if not file.is_file()]:
        raise OperationsError(f"No such record: {', '.join(lacking)}")
    count = save_durations(TestTiming.read(records))
    if not count:
        raise OperationsError("The last run left no timing record.", hint="./pilothouse test")
    console.say(f"{count} groups of tests were measured: {DURATIONS_FILE.relative_to(ROOT)}")
    return 0


def save_durations(timing: TestTiming, file: Path = DURATIONS_FILE) -> int:
    """Store how long each group of tests took. The next run sorts groups by it.

    Groups that did not run keep their durations, unless their file is gone.

    Returns:
        The number of groups that were measured.
    """
    measured = timing.by_group()
    earlier = {group: seconds for group, seconds in json.loads(file.read_text()).items() if _is_present(group)}
    file.write_text(json.dumps(dict(sorted((earlier | measured).items())), indent=1) + "\n")
    return len(measured)


def _timing_records() -> list[Path]:
    return sorted((checks.REPORTS_FOLDER / "timing").glob("*.jsonl"))


def _is_present(group: str) -> bool:
    """Whether a group may still have tests. A group that is named after a file needs the file."""
    return not group.endswith(".py") or (ROOT / group).exists()


def seconds_since_start() -> float:
    """Seconds since this process was started, including the shell before Python."""
    started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    return float(Path("/proc/uptime").read_text().split()[0]) - started


def _split(found: Sequence[Check], names: set[str]) -> tuple[list[Check], list[Check]]:
    return [each for each in found if each.name in names], [each for each in found if each.name not in names]
