"""The checks and tests of the project, as a table; `./pilothouse check` and `./pilothouse test` run parts of it."""

import os
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from annotation_app.operations.console import Console
from annotation_app.operations.frontend import FOLDER
from annotation_app.operations.node import Node
from annotation_app.operations.results import Results
from annotation_app.operations.stack import ROOT

REPORTS = ROOT / "test-results"
PARALLEL = ("-n", "2", "--dist", "loadgroup")
BY_FILE = ("-n", "3", "--dist", "loadfile", "--no-loadscope-reorder")
"""Three, since they wait half of their time. In their own order, in which what takes longest comes first: by default
files of few tests come last, and those with whole trainings have one or two."""
ONCE_MORE = ("--reruns", "1", "-rfEsR")


@dataclass(frozen=True, slots=True)
class Check:
    """One command. With a `report`, a JUnit file it writes, its tests are counted; else it counts as one test."""

    name: str
    command: tuple[str, ...]
    folder: Path = ROOT
    environment: dict[str, str] = field(default_factory=dict)
    report: Path | None = None


def static_checks(node: Node) -> tuple[Check, ...]:
    """Everything that reads the code without running it."""
    return (
        Check("format", _tool("ruff", "format", "--check", ".")),
        Check("lint", _tool("ruff", "check", ".")),
        Check("types", _tool("mypy")),
        Check("import rules", _tool("lint-imports")),
        Check("generated types", (sys.executable, "-m", "annotation_app.operations", "types", "--check")),
        _npm(node, "front-end lint", "lint"),
        _npm(node, "front-end types", "typecheck"),
    )


def quick_tests(node: Node) -> tuple[Check, ...]:
    """No database, no network, no desktop; contract tests meet real browsers, and run once more where they fail."""
    report = REPORTS / "frontend.xml"
    junit = ("--", "--reporter=default", "--reporter=junit", f"--outputFile.junit={report}")
    return (
        _pytest("unit", "tests/unit", "tests/contract", *PARALLEL, *ONCE_MORE),
        _npm(node, "front-end", "test", *junit, report=report),
    )


def full_tests() -> tuple[Check, ...]:
    """Real servers, real desktops, a real browser. Three files of tests at a time; those of the whole platform one
    after another, for they share it. A test that fails runs once more, and is told."""
    return (
        _pytest("integration", "tests/integration", *BY_FILE, *ONCE_MORE),
        _pytest("e2e", "tests/e2e", *ONCE_MORE),
    )


def chosen_tests(arguments: Iterable[str]) -> tuple[Check, ...]:
    """Those that these pytest arguments name."""
    return (_pytest("chosen", *arguments),)


def affected_checks(
    node: Node, stages: Iterable[tuple[str, Iterable[str]]], *, python: bool, frontend: bool, frontend_tests: bool
) -> tuple[Check, ...]:
    """Checks of the code that changed, then files of tests by stage, in their order, with what failed last time first.

    Args:
        stages: Names as in `quick_tests` and `full_tests`, and the paths of their files of tests.
        python: Whether Python or its settings changed.
        frontend: Whether the front-end changed.
        frontend_tests: Whether the front-end's own tests run.
    """
    static = (check for check in static_checks(node) if (frontend if check.folder == FOLDER else python or frontend))
    options = {"unit": PARALLEL, "integration": BY_FILE}
    tests = [
        _pytest(name, *files, "--failed-first", *options.get(name, ()), *ONCE_MORE)
        for name, paths in stages
        if (files := tuple(paths))
    ]
    own = quick_tests(node)[1:] if frontend_tests else ()
    return (*static, *own, *tests)


def run_checks(checks: Iterable[Check], console: Console) -> Results:
    """Run them all, whatever fails, and say how each went; what was skipped is told by reason."""
    REPORTS.mkdir(exist_ok=True)
    found, told = [], []
    for check in checks:
        console.step(check.name)
        began = time.monotonic()
        result = _run(check)
        found.append(result)
        mark = console.paint("✗", 31) if result.failed else console.paint("✓", 32)
        told.append(f"{mark} {check.name:<16} {result.line():<40} {time.monotonic() - began:6.1f} s")
    total = Results.sum_of(found)
    skipped = (f"skipped {count} × {reason}" for reason, count in total.skipped.most_common())
    for line in ("", *told, *skipped, *(f"run twice: {test}" for test in total.rerun)):
        console.say(line)
    console.say(total.line())
    return total


def _run(check: Check) -> Results:
    if check.report:
        check.report.unlink(missing_ok=True)
    status = subprocess.run(
        check.command, cwd=check.folder, env={**os.environ, **check.environment}, check=False
    ).returncode
    one = Results(passed=int(status == 0), failed=int(status != 0))
    if not check.report:
        return one
    try:
        counted = Results.of_junit(check.report)
    except (FileNotFoundError, ElementTree.ParseError):
        return one
    return counted if counted.failed or not status else Results.sum_of((counted, one))


def _tool(module: str, *arguments: str) -> tuple[str, ...]:
    return (str(Path(sys.executable).with_name(module)), *arguments)


def _npm(node: Node, name: str, script: str, *arguments: str, report: Path | None = None) -> Check:
    command = (*node.npm, "run", "--silent", script, *arguments)
    return Check(name, command, folder=FOLDER, environment=node.environment, report=report)


def _pytest(name: str, *arguments: str) -> Check:
    report = REPORTS / f"{name}.xml"
    command = (sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments)
    return Check(f"{name} tests", command, report=report)
