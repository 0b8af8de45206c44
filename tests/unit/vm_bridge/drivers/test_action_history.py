"""The way back to an earlier state, and when there is none."""

import pytest

from vm_bridge.drivers.computer import action_history
from vm_bridge.drivers.computer.action_history import ActionHistory, RecordedAction, ReplayPath, StateFingerprint
from vm_bridge.errors import CannotRestore
from vm_bridge.machine import Snapshot
from vocabulary.actions import TypeText


def deed(text: str) -> RecordedAction:
    return RecordedAction(TypeText(text=text), settle=True, failed=None)


@pytest.fixture
def made() -> ActionHistory:
    """Three acts."""
    made = ActionHistory()
    for text in "abc":
        made.note(StateFingerprint(text.encode()), deed(text))
    return made


def test_the_way_is_what_was_done_before(made: ActionHistory) -> None:
    kept = made.snapshot(StateFingerprint(b"now", "digest"))
    made.note(StateFingerprint(b"now"), deed("d"))
    way = made.path_to(kept)
    assert way.recorded_actions == (deed("a"), deed("b"), deed("c"))
    assert way.states == (StateFingerprint(b"a"), StateFingerprint(b"b"), StateFingerprint(b"c"))
    assert way.end == StateFingerprint(b"now", "digest")


def test_every_act_begins_in_a_state_that_can_be_named(made: ActionHistory) -> None:
    now = made.snapshot(StateFingerprint(b"now"))
    first = Snapshot(id=now.id.replace("-3", "-0"), acts=0, taken_at=now.taken_at)
    assert made.path_to(first) == ReplayPath((), (), StateFingerprint(b"a"))


def test_going_back_forgets_what_came_after(made: ActionHistory) -> None:
    kept = made.snapshot(StateFingerprint(b"now"))
    made.note(StateFingerprint(b"now"), deed("d"))
    later = made.snapshot(StateFingerprint(b"later"))
    made.go_back(kept)
    assert len(made.path_to(kept).recorded_actions) == 3
    with pytest.raises(CannotRestore):
        made.path_to(later)


def test_another_set_up_is_another_history(made: ActionHistory) -> None:
    kept = made.snapshot(StateFingerprint(b"now"))
    made.begin()
    with pytest.raises(CannotRestore):
        made.path_to(kept)


def test_after_an_unknown_outcome_there_is_no_way(made: ActionHistory) -> None:
    kept = made.snapshot(StateFingerprint(b"now"))
    made.mark_not_replayable()
    with pytest.raises(CannotRestore):
        made.path_to(kept)


def test_what_is_kept_is_bounded(made: ActionHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = made.snapshot(StateFingerprint(b"now"))
    for number in range(action_history.MAX_SNAPSHOTS):
        made.note(StateFingerprint(b"%d" % number), deed("x"))
    made.note(StateFingerprint(b"last"), deed("x"))
    with pytest.raises(CannotRestore, match="too long ago"):
        made.path_to(kept)
    monkeypatch.setattr(action_history, "MAX_ACTIONS", 2)
    with pytest.raises(CannotRestore, match="more than 2"):
        made.path_to(made.snapshot(StateFingerprint(b"now")))
