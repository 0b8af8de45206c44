"""Cases of a report are counted as pytest writes them."""

from benchmarks.parts.kubernetes.contract import count_cases

REPORT = b"""<?xml version="1.0"?><testsuites><testsuite>
<testcase name="a"/><testcase name="b"><failure message="no"/></testcase>
<testcase name="c"><skipped message="later"/></testcase><testcase name="d"><error message="no"/></testcase>
<testcase name="e"><system-out>words</system-out></testcase>
</testsuite></testsuites>"""


def test_only_cases_that_ran_to_their_end_are_passed() -> None:
    assert count_cases(REPORT) == (2, 5)
