"""How long an act may take."""

import pytest

from protocol.actions.types import Action, Click, Gesture, MoveTo, RunCode, RunCommand, TimedInput, TypeText, Wait
from vm_bridge.api.machine_client import RESTORE_TIMEOUT_SECONDS
from vm_bridge.machine import MAX_ACTION_SECONDS, REACH_SECONDS, RESTORE_SECONDS, STATE_SECONDS, action_timeout

GESTURE = Gesture(inputs=tuple(TimedInput(at_ms=at, input=MoveTo(x=1, y=1)) for at in (0, 2500)))


@pytest.mark.parametrize(
    ("action", "own"),
    [
        (Wait(seconds=7), 7),
        (RunCommand(command="true", timeout=300), 300),
        (RunCode(code="1", timeout=90), 90),
        (GESTURE, 2.5),
        (TypeText(text="字" * 20_000), 600),
        (Click(x=1, y=1), 0),
    ],
)
def test_an_act_may_take_its_own_time_and_some_more(action: Action, own: float) -> None:
    assert action_timeout(action) == MAX_ACTION_SECONDS + own


def test_a_client_waits_for_the_slowest_undo() -> None:
    assert max(RESTORE_SECONDS, STATE_SECONDS + REACH_SECONDS) < RESTORE_TIMEOUT_SECONDS
