"""Which attempts an update takes: whole folders in order, bounded judged rewards, none without a sibling."""

from collections import Counter
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.trainer.data.test_inbox import attempt
from trainer.data.inbox import ALONE, OVER_SHARE, Selection, select_attempts
from trainer.rl.attempts import Attempt

Waiting = list[tuple[str, list[Attempt]]]


def at(task: str, number: int = 0, *, judged: bool = False) -> Attempt:
    return replace(attempt(f"{task}-{number}"), task=task, judged=judged)


def folders(*tasks: str) -> Waiting:
    """A folder for each of these attempts."""
    return [(f"{place}", [at(task, place)]) for place, task in enumerate(tasks)]


def taken(*tasks: str, count: int = 4, compared: set[str] | None = None) -> tuple[list[str], dict[str, str]]:
    chosen = select_attempts(folders(*tasks), count, compared=compared)
    return chosen.folders, chosen.later


def test_an_attempt_without_a_sibling_waits_until_one_is_there() -> None:
    assert taken("a", "a", "b", compared=set()) == (["0", "1"], {"2": ALONE})
    assert taken("b", "a", "a", "b", compared=set()) == (["1", "2", "0", "3"], {})
    assert taken("a", "b", count=2) == (["0", "1"], {}), "where each counts by itself none waits"


def test_a_late_sibling_joins_a_later_update() -> None:
    assert taken("a", "b", "b", "c", compared={"a"}) == (["0", "1", "2"], {"3": ALONE})


def test_a_folder_with_siblings_of_its_own_is_taken_whole() -> None:
    waiting = [("0", [at("a", 0), at("a", 1), at("b")])]
    assert select_attempts(waiting, 1, compared=()).folders == ["0"]


def test_siblings_that_come_together_take_one_that_waited_along() -> None:
    waiting = [("0", [at("a")]), ("1", [at("a", 1), at("a", 2)])]
    assert select_attempts(waiting, 3, compared=()).folders == ["0", "1"]


def test_what_a_person_did_is_compared_with_nothing() -> None:
    class Shown(Attempt):
        has_human_steps = True

    shown = Shown("s", "a", (), (), True, True, (), 1, 0.0)
    assert select_attempts([("0", [shown])], 1, compared=()).folders == ["0"]


def test_siblings_are_taken_only_where_both_may_be() -> None:
    waiting = [(f"{number}", [at("a", number, judged=True)]) for number in range(2)]
    assert select_attempts(waiting, 2, most_judged=1, compared=()).folders == []
    assert select_attempts(waiting, 2, most_judged=2, compared=()).folders == ["0", "1"]


ATTEMPTS = st.tuples(st.sampled_from("abcde"), st.booleans())
WAITING = st.lists(st.lists(ATTEMPTS, min_size=1, max_size=4), max_size=12)


def select(
    waiting: list[list[tuple[str, bool]]], count: int, most_judged: int | None, compared: set[str] | None
) -> tuple[Waiting, Selection]:
    given = [
        (f"{place:02}", [at(task, place * 10 + number, judged=judged) for number, (task, judged) in enumerate(one)])
        for place, one in enumerate(waiting)
    ]
    return given, select_attempts(given, count, most_judged=most_judged, compared=compared)


@settings(deadline=None)
@given(WAITING, st.integers(1, 12), st.none() | st.integers(0, 6), st.none() | st.sets(st.sampled_from("abcde")))
def test_every_folder_is_taken_or_waits_for_a_reason(
    waiting: list[list[tuple[str, bool]]], count: int, most_judged: int | None, compared: set[str] | None
) -> None:
    given, chosen = select(waiting, count, most_judged, compared)
    enough = len(chosen.attempts) >= count
    names = [name for name, _ in given]
    assert len(chosen.folders) == len(set(chosen.folders))
    assert not set(chosen.folders) & set(chosen.later)
    if not enough:
        assert {*chosen.folders, *chosen.later} == set(names), "none is forgotten"
    assert set(chosen.later.values()) <= {OVER_SHARE} | ({ALONE} if compared is not None else set())
    of = dict(given)
    assert {one.id for one in chosen.attempts} <= {one.id for name in chosen.folders for one in of[name]}
    assert len(chosen.attempts) + chosen.trimmed <= sum(len(of[name]) for name in chosen.folders)
    assert len(chosen.attempts) < count + 20, "no more than a folder and those that waited for it"
    if most_judged is not None:
        assert sum(one.judged for one in chosen.attempts) <= most_judged


@settings(deadline=None)
@given(WAITING, st.integers(1, 12), st.sets(st.sampled_from("abcde")))
def test_from_every_folder_something_can_be_compared(
    waiting: list[list[tuple[str, bool]]], count: int, compared: set[str]
) -> None:
    given, chosen = select(waiting, count, None, compared)
    met = Counter(one.task for one in chosen.attempts)
    of = dict(given)
    for name in chosen.folders:
        assert any(met[one.task] > 1 or one.task in compared for one in of[name])
    for name in (name for name, why in chosen.later.items() if why == ALONE):
        others = {one.task for other, several in given if other != name for one in several}
        if len(chosen.attempts) < count:
            assert not {one.task for one in of[name]} & (others | compared), "a folder with a sibling is taken"


@settings(deadline=None)
@given(WAITING, WAITING, st.integers(1, 12), st.sets(st.sampled_from("abcde")))
def test_what_comes_later_takes_nothing_from_an_update_that_could_begin(
    waiting: list[list[tuple[str, bool]]], more: list[list[tuple[str, bool]]], count: int, compared: set[str]
) -> None:
    _, before = select(waiting, count, None, compared)
    _, after = select([*waiting, *more], count, None, compared)
    if len(before.attempts) >= count:
        assert before.folders == after.folders
    else:
        assert len(after.attempts) >= len(before.attempts)
