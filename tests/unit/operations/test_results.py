"""Counting tests from JUnit files."""

from collections import Counter
from pathlib import Path

from annotation_app.operations.results import Results

JUNIT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure message="no">trace</failure></testcase>
<testcase name="c"><error message="broken"/></testcase>
<testcase name="d"><skipped message="needs vLLM"/></testcase>
<testcase name="e"><skipped message="needs vLLM"/></testcase>
<testcase name="f"><skipped/></testcase>
</testsuite></testsuites>"""


def test_errors_count_as_failures_and_skips_keep_their_reason(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(JUNIT)
    results = Results.of_junit(tmp_path / "report.xml")
    assert results == Results(1, 2, Counter({"needs vLLM": 2, "no reason given": 1}))
    assert results.line() == "1 passed, 2 failed, 3 skipped"


def test_sums_keep_the_reasons_apart() -> None:
    total = Results.sum_of([Results(1, 0, Counter(x=1)), Results(2, 1, Counter(x=2, y=1))])
    assert total == Results(3, 1, Counter(x=3, y=1))


def test_a_long_reason_is_told_in_one_short_line(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(f'<t><testcase><skipped message="{"x" * 300}&#10;y"/></testcase></t>')
    assert Results.of_junit(tmp_path / "report.xml").skipped == Counter({"x" * 120 + "…": 1})
