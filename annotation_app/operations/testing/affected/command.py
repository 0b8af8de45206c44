"""Run, or list, the tests that a change can affect."""

import json
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.node import Node
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.testing.affected.changes import Changes, changes_since
from annotation_app.operations.testing.affected.graph import build_project
from annotation_app.operations.testing.affected.selection import (
    STAGES,
    AffectedTest,
    affected_tests,
    affects_frontend,
    affects_python,
    sort_by_run_order,
)
from annotation_app.operations.testing.checks import affected_lanes
from annotation_app.operations.testing.runs import TestRun, run_and_report

STAGE_NAMES = ("unit", "trainer", "integration", "e2e")
"""The check that runs each of `STAGES`."""
QUICK_FOLDERS = tuple(f"{folder}/" for folder in STAGES[0])
LAST_FAILED_FILE = ROOT / ".pytest_cache" / "v" / "cache" / "lastfailed"
"""Where pytest stores the tests that failed last, as JSON by node id."""


@dataclass(frozen=True, slots=True)
class AffectedSelection:
    """The changes since a commit, and the checks and tests for them."""

    changes: Changes
    tests: list[AffectedTest]
    """In the order in which they run."""
    total: int
    """Number of test files."""

    def line(self) -> str:
        """How many test files are affected, by how many changed files."""
        files = len(self.changes.files)
        count = "No test file is" if not self.tests else f"{len(self.tests)} of {self.total} test files are"
        return f"{count} affected by {files} changed file{'' if files == 1 else 's'} since {self.changes.commit}"

    def stages(self) -> dict[str, list[str]]:
        """The test file paths of each stage, by its name."""
        return {
            name: [test.path for test in self.tests if test.stage == number] for number, name in enumerate(STAGE_NAMES)
        }


def print_affected(commit: str, console: Console, *, quick: bool) -> None:
    """List the test files that would run, each with the shortest import chain to a change."""
    affected = _select_affected(commit, quick=quick)
    console.say(affected.line())
    for test in affected.tests:
        console.say(f"  {' ← '.join(test.chain)}")


def run_affected(commit: str, console: Console, node: Node, trainer: Path, *, quick: bool) -> TestRun | None:
    """Run the checks and tests that the changes since a commit can affect; None without any.

    Args:
        commit: A revision; empty for the upstream of `main`, or HEAD without one.
        trainer: The interpreter of the trainer's environment.
        quick: Leave out what needs servers.

    Raises:
        CommandFailed: There is no such commit.
    """
    affected = _select_affected(commit, quick=quick)
    console.say(affected.line())
    files = affected.changes.files
    lanes = affected_lanes(
        node,
        trainer,
        affected.stages(),
        python=any(map(affects_python, files)),
        frontend=any(file.startswith("frontend/") for file in files),
        pages=any(map(affects_frontend, files)),
    )
    return run_and_report(lanes, console) if any(lanes) else None


def _select_affected(commit: str, *, quick: bool) -> AffectedSelection:
    changes = changes_since(commit or None)
    project = build_project(ROOT, changes.removed)
    tests = sort_by_run_order(affected_tests(changes.files, project), _failed_files())
    if quick:
        tests = [test for test in tests if test.stage == 0]
    return AffectedSelection(changes, tests, sum(not quick or path.startswith(QUICK_FOLDERS) for path in project.tests))


def _failed_files() -> frozenset[str]:
    try:
        failed = json.loads(LAST_FAILED_FILE.read_text())
    except (FileNotFoundError, ValueError):
        return frozenset()
    return frozenset(node_id.partition("::")[0] for node_id in failed)
