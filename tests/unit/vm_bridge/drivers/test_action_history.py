"""The way back to an earlier state, and when there is none."""

import pytest

from protocol.actions.types import TypeText
from protocol.trajectory.observations import MachineSnapshot
from vm_bridge.drivers import command_log
from vm_bridge.drivers.command_log import ActionHistory, RecordedAction, ReplayPath, StateFingerprint
from vm_bridge.errors import CannotRestore


def recorded_action(text: str) -> RecordedAction:
    return RecordedAction(TypeText(text=text), settle=True, failed=None)


@pytest.fixture
def history_of_three() -> ActionHistory:
    """Three acts."""
    history_of_three = ActionHistory()
    for text in "abc":
        history_of_three.note(StateFingerprint(text.encode()), recorded_action(text))
    return history_of_three


def test_the_way_is_what_was_done_before(history_of_three: ActionHistory) -> None:
    kept = history_of_three.snapshot(StateFingerprint(b"now", "digest"))
    history_of_three.note(StateFingerprint(b"now"), recorded_action("d"))
    way = history_of_three.path_to(kept)
    assert way.recorded_actions == (recorded_action("a"), recorded_action("b"), recorded_action("c"))
    assert way.states == (StateFingerprint(b"a"), StateFingerprint(b"b"), StateFingerprint(b"c"))
    assert way.end == StateFingerprint(b"now", "digest")


def test_every_act_begins_in_a_state_that_can_be_named(history_of_three: ActionHistory) -> None:
    now = history_of_three.snapshot(StateFingerprint(b"now"))
    first = MachineSnapshot(id=now.id.replace("-3", "-0"), acts=0, taken_at=now.taken_at)
    assert history_of_three.path_to(first) == ReplayPath((), (), StateFingerprint(b"a"))


def test_going_back_forgets_what_came_after(history_of_three: ActionHistory) -> None:
    kept = history_of_three.snapshot(StateFingerprint(b"now"))
    history_of_three.note(StateFingerprint(b"now"), recorded_action("d"))
    later = history_of_three.snapshot(StateFingerprint(b"later"))
    history_of_three.go_back(kept)
    assert len(history_of_three.path_to(kept).recorded_actions) == 3
    with pytest.raises(CannotRestore):
        history_of_three.path_to(later)


def test_another_set_up_is_another_history(history_of_three: ActionHistory) -> None:
    kept = history_of_three.snapshot(StateFingerprint(b"now"))
    history_of_three.begin()
    with pytest.raises(CannotRestore):
        history_of_three.path_to(kept)


def test_after_an_unknown_outcome_there_is_no_way(history_of_three: ActionHistory) -> None:
    kept = history_of_three.snapshot(StateFingerprint(b"now"))
    assert history_of_three.replayable
    history_of_three.mark_not_replayable()
    assert not history_of_three.replayable
    with pytest.raises(CannotRestore):
        history_of_three.path_to(kept)


def test_what_is_kept_is_bounded(history_of_three: ActionHistory, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = history_of_three.snapshot(StateFingerprint(b"now"))
    for number in range(command_log.MAX_SNAPSHOTS):
        history_of_three.note(StateFingerprint(b"%d" % number), recorded_action("x"))
    history_of_three.note(StateFingerprint(b"last"), recorded_action("x"))
    with pytest.raises(CannotRestore, match="too long ago"):
        history_of_three.path_to(kept)
    monkeypatch.setattr(command_log, "MAX_ACTIONS", 2)
    assert not history_of_three.replayable
    with pytest.raises(CannotRestore, match="more than 2"):
        history_of_three.path_to(history_of_three.snapshot(StateFingerprint(b"now")))
