"""What the desk's benchmark makes of the front-end's results and of two records of an episode."""

from typing import Any

from benchmarks.parts.desktops.frontend_cases import GROUP, SAVED, figures_of
from benchmarks.parts.speculation.comparisons import compare, find_planted, play_planted
from benchmarks.parts.speculation.episodes import Played, first_difference


async def test_prepared_candidates_that_belong_to_another_screen_are_found() -> None:
    assert await find_planted(2) == {"speculation_planted": 2, "speculation_planted_found": 2}
    honest = await play_planted(0, twin=True)
    assert (honest.held, honest.wrong) == ([False], 0), "without the fault nothing prepared is shown"


def test_an_episode_is_wrong_where_its_record_or_what_was_shown_differs() -> None:
    step = {"before": "a", "action": 1}
    assert compare(Played(steps=[step]), Played(steps=[step]))[0] == "equal"
    assert compare(Played(steps=[step]), Played(steps=[step, step]))[0] == "differs"
    assert compare(Played(steps=[step], wrong=1), Played(steps=[step]))[0] == "wrong"
    assert compare(Played(steps=[{**step, "before": "b"}]), Played(steps=[step]))[0] == "starts_differ"


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
