"""The vocabulary's acts as calls of PyAutoGUI's."""

import pytest

from protocol.actions.types import (
    ACTION_CLASSES,
    Action,
    DoubleClick,
    Drag,
    Gesture,
    MoveTo,
    Point,
    PressKeys,
    RunCommand,
    Scroll,
    TimedInput,
)
from vm_bridge.drivers.osworld.actions import ACTION_KINDS, build_request
from vm_bridge.drivers.osworld.guest_client import GUEST_PROGRAM, decode_image
from vm_bridge.drivers.remote.errors import TransportError
from vm_bridge.errors import ActionFailed


@pytest.mark.parametrize(
    ("action", "inputs"),
    [
        (DoubleClick(x=3, y=4), [("click", {"x": 3, "y": 4, "button": "left", "clicks": 2, "interval": 0.05}, 0.0)]),
        (Drag(start=Point(x=1, y=2), end=Point(x=3, y=4)), [("drag", ((1, 2), (3, 4), "left"), 0.0)]),
        (
            PressKeys(keys=("super", "a")),
            [
                *(("key_down", ("win",), 0.0), ("key_down", ("a",), 0.0)),
                *(("key_up", ("a",), 0.0), ("key_up", ("win",), 0.0)),
            ],
        ),
        (
            Scroll(point=Point(x=5, y=6), direction="down", amount=2),
            [("moveTo", {"x": 5, "y": 6}, 0.0), ("scroll", ("down", 2), 0.0)],
        ),
        (
            Gesture(inputs=(TimedInput(at_ms=250, input=MoveTo(x=1, y=1)),)),
            [("moveTo", {"x": 1, "y": 1}, 0.25)],
        ),
    ],
)
def test_an_act_is_a_list_of_calls(action: Action, inputs: list[object]) -> None:
    assert build_request(action) == {"do": "act", "inputs": inputs}


def test_a_command_ends_before_their_server_ends_it() -> None:
    assert build_request(RunCommand(command="sleep 500", timeout=500))["timeout"] == 110


def test_a_gesture_longer_than_their_server_waits_is_refused() -> None:
    with pytest.raises(ActionFailed) as failed:
        build_request(Gesture(inputs=(TimedInput(at_ms=200_000, input=MoveTo(x=1, y=1)),)))
    assert failed.value.code == "too_long"


def test_every_kind_is_one_of_the_vocabularys() -> None:
    assert set(ACTION_KINDS) <= ACTION_CLASSES.keys()


def test_the_program_that_is_sent_is_one() -> None:
    compile(GUEST_PROGRAM, "inside", "exec")
    assert len(GUEST_PROGRAM.encode()) < 100_000, "one argument of a program holds 128 KiB"


@pytest.mark.parametrize("file", [b"", b"no picture", b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_what_is_no_picture_is_refused(file: bytes) -> None:
    with pytest.raises(TransportError):
        decode_image(file)
