"""The action space: which kind of act, and everything any kind needs; what a kind does not need is not looked at."""

import string
from collections.abc import Mapping
from typing import Any, get_args

from gymnasium import spaces

from protocol.actions.inputs import Direction
from protocol.actions.keys import MODIFIERS, NAMED_KEYS, PRINTABLE_KEYS
from protocol.actions.types import (
    ACTION_ADAPTER,
    Action,
    Drag,
    Finish,
    NavigateBack,
    Point,
    PressKeys,
    Scroll,
    TypeText,
    Wait,
)

ACTION_KINDS = (
    *("click", "double_click", "right_click", "move_to", "drag", "scroll", "type_text", "press_keys", "wait"),
    *("navigate_back", "finish"),
)
"""By number: what `kind` means."""
KEYS = (*(key for key in NAMED_KEYS if key not in MODIFIERS), *PRINTABLE_KEYS)
HELD_MODIFIERS = ("", "ctrl", "shift", "alt")
DIRECTIONS: tuple[Direction, ...] = get_args(Direction)
MAX_AMOUNT = 10
WAIT_UNIT = 0.1
"""Seconds of the page's time that one of `amount` waits."""
MAX_TEXT = 256
CHARACTERS = frozenset(string.digits + string.ascii_letters + string.punctuation + " \n")
ActionInput = Action | Mapping[str, Any]


def action_space(width: int, height: int) -> spaces.Dict:
    """All acts on a screen of this size."""
    pixel = spaces.MultiDiscrete([width, height])
    return spaces.Dict(
        {
            "kind": spaces.Discrete(len(ACTION_KINDS)),
            "point": pixel,
            "end": spaces.MultiDiscrete([width, height]),
            "direction": spaces.Discrete(len(DIRECTIONS)),
            "amount": spaces.Discrete(MAX_AMOUNT, start=1),
            "text": spaces.Text(MAX_TEXT, min_length=0, charset=CHARACTERS),
            "key": spaces.Discrete(len(KEYS)),
            "held": spaces.Discrete(len(HELD_MODIFIERS)),
        }
    )


def to_action(given: ActionInput) -> Action:
    """An act in the vocabulary's words; one that is in them already is left as it is."""
    if not isinstance(given, Mapping):
        return given
    x, y = (int(one) for one in given["point"])
    amount, kind = int(given["amount"]), ACTION_KINDS[int(given["kind"])]
    match kind:
        case "drag":
            end_x, end_y = (int(one) for one in given["end"])
            return Drag(start=Point(x=x, y=y), end=Point(x=end_x, y=end_y))
        case "scroll":
            return Scroll(point=Point(x=x, y=y), direction=DIRECTIONS[int(given["direction"])], amount=amount)
        case "press_keys":
            keys = (HELD_MODIFIERS[int(given["held"])], KEYS[int(given["key"])])
            return PressKeys(keys=tuple(key for key in keys if key))
        case "type_text":
            return TypeText(text=str(given["text"]))
        case "finish":
            return Finish(answer=str(given["text"]))
        case "wait":
            return Wait(seconds=amount * WAIT_UNIT)
        case "navigate_back":
            return NavigateBack()
    return ACTION_ADAPTER.validate_python({"kind": kind, "x": x, "y": y})
