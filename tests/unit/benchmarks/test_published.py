"""What `./pilothouse bench benchmarks` counts: who passed, who failed, and what is infrastructure."""

import pytest

from benchmarks.benchmarks import rule_figures
from benchmarks.parts.figures import print_figures
from benchmarks.parts.published.grader_replies import GRADER_REPLIES, grader_replies_right, reference_reading_right
from benchmarks.parts.published.roles import RuleOfFour
from benchmarks.parts.windows.contract import count_tests


def rule(oracle: float | None, noop: float | None, exploit: float | None, outage: float | None) -> RuleOfFour:
    return RuleOfFour("own", "own", oracle, noop, {"cheats": exploit}, {"is gone": outage})


def test_an_adapter_that_tells_the_four_apart_counts_in_all() -> None:
    figures = rule_figures([rule(1, 0, 0, None)])
    assert [figures[key] for key in ("oracle_pass", "noop_fail", "exploit_fail", "infrastructure_apart")] == [1] * 4
    assert figures["benchmark_names"] == ["own"]


@pytest.mark.parametrize("wrong", [rule(0, 1, 1, 0), rule(None, None, None, 1), RuleOfFour("own", "own")])
def test_one_that_does_not_counts_in_none(wrong: RuleOfFour, capsys: pytest.CaptureFixture[str]) -> None:
    figures = rule_figures([wrong])
    assert [figures[key] for key in ("oracle_pass", "noop_fail", "exploit_fail", "infrastructure_apart")] == [0] * 4
    assert print_figures("benchmarks", figures) == 1
    assert "infrastructure_apart is 0, not 1 (benchmarks)" in capsys.readouterr().err


def test_the_figure_of_another_benchmark_has_its_own_bound() -> None:
    assert print_figures("tasks", {"infrastructure_apart": True}) == 0
    assert print_figures("tasks", {"infrastructure_apart": False}) == 1
    assert print_figures("benchmarks", rule_figures([rule(1, 0, 0, None)] * 2)) == 0


def test_replies_of_graders_are_read_as_they_are_meant() -> None:
    assert grader_replies_right() == len(GRADER_REPLIES)
    assert reference_reading_right() < len(GRADER_REPLIES) / 2


def test_skipped_tests_of_the_windows_contract_count_in_neither_number() -> None:
    report = (
        b"<testsuites><testsuite><testcase name='a'/><testcase name='b'><failure/></testcase>"
        b"<testcase name='c'><skipped/></testcase><testcase name='d'><error/></testcase></testsuite></testsuites>"
    )
    assert count_tests(report) == {"passed": 1, "total": 3}
