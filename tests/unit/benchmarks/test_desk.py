"""What the desk's benchmark makes of the front-end's results and of two records of an episode."""

from typing import Any

from benchmarks.parts.desktops.frontend_cases import GROUP, SAVED, figures_of
from benchmarks.parts.speculation.episodes import first_difference


def result(status: str, group: str = GROUP, **meta: float) -> dict[str, Any]:
    return {"status": status, "ancestorTitles": ["", group], "meta": meta}


def test_the_share_is_what_its_test_measured_though_it_failed() -> None:
    results = [result("passed"), result("failed"), result("failed", "keys that completion saves", **{SAVED: 0.4})]
    assert figures_of(results) == {"keyboard_cases": 2, "keyboard_cases_exact": 1, SAVED: 0.4}
    assert figures_of(results[:1])[SAVED] is None


def test_two_records_differ_where_their_first_value_does() -> None:
    one = {"action": {"kind": "click", "x": 1}, "thought": "Why"}
    other = {"action": {"kind": "click", "x": 2}, "thought": "Else"}
    assert first_difference([one], [one]) is None
    assert first_difference([one, one], [one]) == "2 and 1 steps"
    assert first_difference([one, one], [one, other]) == "step 2, action.x: 1 and 2"
