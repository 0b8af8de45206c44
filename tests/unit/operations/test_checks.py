"""A run of checks is honest: what fails, dies or writes no report is counted as failed."""

import io
import sys
from pathlib import Path

import pytest

from annotation_app.operations.checks import Check, run_checks
from annotation_app.operations.console import Console

WRITE = "import sys; open(sys.argv[1], 'w').write(sys.argv[2]); sys.exit(int(sys.argv[3]))"
TWO_GOOD = "<testsuite><testcase/><testcase/></testsuite>"
ONE_BAD = "<testsuite><testcase/><testcase><failure/></testcase></testsuite>"
SKIPPED = '<testsuite><testcase><skipped message="needs a GPU"/></testcase></testsuite>'


def check(report: Path, content: str, status: int) -> Check:
    return Check("some", (sys.executable, "-c", WRITE, str(report), content, str(status)), report=report)


@pytest.mark.parametrize(
    ("content", "status", "line"),
    [
        (TWO_GOOD, 0, "2 passed, 0 failed, 0 skipped"),
        (ONE_BAD, 1, "1 passed, 1 failed, 0 skipped"),
        (TWO_GOOD, 3, "2 passed, 1 failed, 0 skipped"),
        ("not XML", 2, "0 passed, 1 failed, 0 skipped"),
        (SKIPPED, 0, "0 passed, 0 failed, 1 skipped"),
    ],
)
def test_the_last_line_counts_every_failure(tmp_path: Path, content: str, status: int, line: str) -> None:
    said = io.StringIO()
    run_checks([check(tmp_path / "report.xml", content, status)], Console(said))
    assert said.getvalue().splitlines()[-1] == line


def test_a_report_of_an_earlier_run_is_not_counted(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(TWO_GOOD)
    results = run_checks(
        [Check("dies", (sys.executable, "-c", "raise SystemExit(1)"), report=report)], Console(io.StringIO())
    )
    assert (results.passed, results.failed) == (0, 1)


def test_a_check_that_fails_does_not_keep_the_next_from_running(tmp_path: Path) -> None:
    bad = Check("bad", (sys.executable, "-c", "raise SystemExit(1)"))
    good = Check("good", (sys.executable, "-c", ""))
    results = run_checks([bad, good], Console(io.StringIO()))
    assert (results.passed, results.failed) == (1, 1)


def test_skips_are_told_by_what_they_lack(tmp_path: Path) -> None:
    said = io.StringIO()
    run_checks([check(tmp_path / "report.xml", SKIPPED, 0)], Console(said))
    assert "skipped 1 × needs a GPU" in said.getvalue()


def test_what_ran_twice_is_told_though_it_passed(tmp_path: Path) -> None:
    again = '<t><testcase name="a"><properties><property name="rerun" value="too late"/></properties></testcase></t>'
    said = io.StringIO()
    run_checks([check(tmp_path / "report.xml", again, 0)], Console(said))
    assert "run twice: .a: too late" in said.getvalue()
    assert said.getvalue().splitlines()[-1] == "1 passed, 0 failed, 0 skipped"
