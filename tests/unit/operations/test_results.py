"""Counting tests from JUnit files."""

from collections import Counter
from pathlib import Path

from annotation_app.operations.testing.results import OutcomeCounts

JUNIT = """<testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure message="no">trace</failure></testcase>
<testcase name="c"><error message="broken"/></testcase>
<testcase name="d"><skipped message="needs vLLM"/></testcase>
<testcase name="e"><skipped message="needs vLLM"/></testcase>
<testcase name="f"><skipped/></testcase>
</testsuite></testsuites>"""


def test_errors_count_as_failures_and_skips_keep_their_reason(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(JUNIT)
    results = OutcomeCounts.from_junit(tmp_path / "report.xml")
    failures = (".b: no", ".c: broken")
    assert results == OutcomeCounts(1, 2, Counter({"needs vLLM": 2, "no reason given": 1}), failures=failures)
    assert results.line() == "1 passed, 2 failed, 3 skipped"


TWICE = """<testsuite>
<testcase classname="t" name="a"/>
<testcase classname="t" name="a"><properties><property name="rerun" value="too late&#10;trace"/></properties></testcase>
<testcase classname="t" name="b"/>
<testcase classname="t" name="b">
<properties><property name="rerun" value="no"/></properties><failure message="no"/>
</testcase>
<testcase classname="t" name="c"/></testsuite>"""


def test_a_test_that_ran_twice_counts_once_and_is_told_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(TWICE)
    expected = OutcomeCounts(2, 1, rerun=("t.a: too late", "t.b: no"), failures=("t.b: no",))
    assert OutcomeCounts.from_junit(tmp_path / "report.xml") == expected


def test_sums_keep_the_reasons_apart() -> None:
    total = OutcomeCounts.total(
        [OutcomeCounts(1, 0, Counter(x=1), ("a",)), OutcomeCounts(2, 1, Counter(x=2, y=1), ("b",), ("c: no",))]
    )
    assert total == OutcomeCounts(3, 1, Counter(x=3, y=1), ("a", "b"), ("c: no",))


def test_a_long_reason_is_told_in_one_short_line(tmp_path: Path) -> None:
    (tmp_path / "report.xml").write_text(f'<t><testcase><skipped message="{"x" * 300}&#10;y"/></testcase></t>')
    assert OutcomeCounts.from_junit(tmp_path / "report.xml").skipped == Counter({"x" * 120 + "…": 1})
