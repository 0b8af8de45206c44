"""A run of checks is honest: what fails, dies or writes no report is counted as failed."""

import io
import json
import sys
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.testing import checks
from annotation_app.operations.testing.checks import Check, run_checks, selected_tests
from annotation_app.operations.testing.results import OutcomeCounts
from annotation_app.operations.testing.runs import run_and_report

WRITE = "import sys; open(sys.argv[1], 'w').write(sys.argv[2]); print('said by it'); sys.exit(int(sys.argv[3]))"
TWO_GOOD = "<testsuite><testcase/><testcase/></testsuite>"
ONE_BAD = "<testsuite><testcase/><testcase><failure/></testcase></testsuite>"
SKIPPED = '<testsuite><testcase><skipped message="needs a GPU"/></testcase></testsuite>'
AGAIN = '<t><testcase name="a"><properties><property name="rerun" value="too late"/></properties></testcase></t>'


@pytest.fixture(autouse=True)
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reports of these runs stay apart from those of the run that runs these tests."""
    folder = tmp_path / "reports"
    monkeypatch.setattr(checks, "REPORTS_FOLDER", folder)
    return folder


def check(report: Path, content: str, status: int, name: str = "some") -> Check:
    return Check(name, (sys.executable, "-c", WRITE, str(report), content, str(status)), report=report)


def run_and_count(*lanes: list[Check]) -> OutcomeCounts:
    return OutcomeCounts.total(outcome.results for outcome in run_checks(lanes, Console(io.StringIO())))


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
    run_and_report([[check(tmp_path / "report.xml", content, status)]], Console(said))
    assert said.getvalue().splitlines()[-1] == line


@pytest.mark.parametrize(
    ("words", "chosen", "theirs"),
    [
        ("tests/none -k ports", ["tests/none", "-k", "ports"], None),
        ("-k trainer", ["-k", "trainer"], None),
        ("tests/trainer/test_none.py::test_one -x", None, ["tests/trainer/test_none.py::test_one", "-x"]),
        ("tests/trainer/test_none.py tests/none -x", ["tests/none", "-x"], ["tests/trainer/test_none.py", "-x"]),
    ],
)
def test_files_of_the_trainer_run_in_its_environment(
    words: str, chosen: list[str] | None, theirs: list[str] | None
) -> None:
    found = {check.name: list(check.command) for check in selected_tests(words.split(), Path("/trainer/python"))}
    wanted = {name: tests for name, tests in (("chosen tests", chosen), ("trainer tests", theirs)) if tests}
    assert found.keys() == wanted.keys()
    for name, tests in wanted.items():
        command = found[name]
        at = command.index(tests[0])
        assert command[at : at + len(tests)] == tests
        assert (command[0] == "/trainer/python") == (name == "trainer tests")


def test_a_report_of_an_earlier_run_is_not_counted(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(TWO_GOOD)
    results = run_and_count([Check("dies", (sys.executable, "-c", "raise SystemExit(1)"), report=report)])
    assert (results.passed, results.failed) == (0, 1)


def test_a_check_that_fails_does_not_keep_the_next_from_running() -> None:
    bad = Check("bad", (sys.executable, "-c", "raise SystemExit(1)"))
    good = Check("good", (sys.executable, "-c", ""))
    results = run_and_count([bad, good], [bad])
    assert (results.passed, results.failed) == (1, 2)


def test_lanes_run_side_by_side(tmp_path: Path) -> None:
    """Each of the two waits for the file that the other one writes."""
    program = "import sys, time, pathlib\npathlib.Path(sys.argv[1]).touch()\nend = time.monotonic() + 60\n"
    program += "while not pathlib.Path(sys.argv[2]).exists():\n    assert time.monotonic() < end\n    time.sleep(0.01)"
    names = (str(tmp_path / "one"), str(tmp_path / "two"))
    results = run_and_count(
        *([Check("waits", (sys.executable, "-c", program, *words))] for words in (names, names[::-1]))
    )
    assert (results.passed, results.failed) == (2, 0)


def test_output_is_shown_where_a_check_fails(tmp_path: Path) -> None:
    said = io.StringIO()
    good, bad = (check(tmp_path / f"{status}.xml", TWO_GOOD, status, f"check {status}") for status in (0, 1))
    run_checks([[good, bad]], Console(said))
    assert said.getvalue().count("said by it") == 1
    assert "--- check 1 ---" in said.getvalue()


def test_skips_are_told_by_what_they_lack(tmp_path: Path) -> None:
    said = io.StringIO()
    run_and_report([[check(tmp_path / "report.xml", SKIPPED, 0)]], Console(said))
    assert "skipped 1 × needs a GPU" in said.getvalue()


def test_what_ran_twice_is_told_though_it_passed(tmp_path: Path) -> None:
    said = io.StringIO()
    run_and_report([[check(tmp_path / "report.xml", AGAIN, 0)]], Console(said))
    assert "run twice: .a: too late" in said.getvalue()
    assert said.getvalue().splitlines()[-1] == "1 passed, 0 failed, 0 skipped"


def test_each_failed_test_of_every_check_is_named(tmp_path: Path) -> None:
    said = io.StringIO()
    page = '<t><testcase classname="page" name="p"><failure message="no list&#10;at all"/></testcase></t>'
    dies = Check("types", (sys.executable, "-c", "raise SystemExit(4)"))
    run_and_report([[check(tmp_path / "report.xml", page, 1), dies]], Console(said), timed=True)
    lines = said.getvalue().splitlines()[-5:-3]
    assert lines == ["failed: page.p: no list", "failed: types: ended with status 4"]


def test_a_timed_run_prints_its_figures_as_json_before_the_counts(tmp_path: Path, reports: Path) -> None:
    said = io.StringIO()
    run_and_report([[check(tmp_path / "report.xml", SKIPPED, 0)]], Console(said), timed=True)
    figures, line = said.getvalue().splitlines()[-2:]
    assert line == "0 passed, 0 failed, 1 skipped"
    found = json.loads(figures)
    assert found == json.loads((reports / "summary.json").read_text())
    assert (found["tests"], found["skipped_reasons"], found["run_twice"]) == (1, {"needs a GPU": 1}, 0)
    assert 0 < found["setup_s"] <= found["total_s"]
    assert 0 <= found["busy_share"] <= 1
