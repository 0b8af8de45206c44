"""The way back to an earlier state, and when there is none."""

import pytest

from vm_bridge.drivers import history
from vm_bridge.drivers.history import Deed, History, Moment, Way
from vm_bridge.errors import CannotRestore
from vm_bridge.machine import Snapshot
from vocabulary.actions import TypeText


def deed(text: str) -> Deed:
    return Deed(TypeText(text=text), settle=True, failed=None)


@pytest.fixture
def made() -> History:
    """Three acts."""
    made = History()
    for text in "abc":
        made.note(Moment(text.encode()), deed(text))
    return made


def test_the_way_is_what_was_done_before(made: History) -> None:
    kept = made.snapshot(Moment(b"now", "digest"))
    made.note(Moment(b"now"), deed("d"))
    way = made.way_to(kept)
    assert way.deeds == (deed("a"), deed("b"), deed("c"))
    assert way.states == (Moment(b"a"), Moment(b"b"), Moment(b"c"))
    assert way.end == Moment(b"now", "digest")


def test_every_act_begins_in_a_state_that_can_be_named(made: History) -> None:
    now = made.snapshot(Moment(b"now"))
    first = Snapshot(id=now.id.replace("-3", "-0"), acts=0, taken_at=now.taken_at)
    assert made.way_to(first) == Way((), (), Moment(b"a"))


def test_going_back_forgets_what_came_after(made: History) -> None:
    kept = made.snapshot(Moment(b"now"))
    made.note(Moment(b"now"), deed("d"))
    later = made.snapshot(Moment(b"later"))
    made.go_back(kept)
    assert len(made.way_to(kept).deeds) == 3
    with pytest.raises(CannotRestore):
        made.way_to(later)


def test_another_set_up_is_another_history(made: History) -> None:
    kept = made.snapshot(Moment(b"now"))
    made.begin()
    with pytest.raises(CannotRestore):
        made.way_to(kept)


def test_after_an_unknown_outcome_there_is_no_way(made: History) -> None:
    kept = made.snapshot(Moment(b"now"))
    made.lose()
    with pytest.raises(CannotRestore):
        made.way_to(kept)


def test_what_is_kept_is_bounded(made: History, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = made.snapshot(Moment(b"now"))
    for number in range(history.KEPT_MOMENTS):
        made.note(Moment(b"%d" % number), deed("x"))
    made.note(Moment(b"last"), deed("x"))
    with pytest.raises(CannotRestore, match="too long ago"):
        made.way_to(kept)
    monkeypatch.setattr(history, "MOST_ACTS", 2)
    with pytest.raises(CannotRestore, match="more than 2"):
        made.way_to(made.snapshot(Moment(b"now")))
