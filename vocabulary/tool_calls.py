"""What other computer tools call our functions, and how they name their arguments: Qwen's `computer_use` and
`mobile_use`, and what resembles them.

`in_our_words` gives a call of one of them as a call of `vocabulary.functions`.
"""

import json
from typing import Any

from vocabulary.calls import Unreadable
from vocabulary.code_calls import ENDS_BY_STATUS

_PIXELS_A_NOTCH = 100
_NAMES = {
    "left_click": "click",
    "mouse_move": "move_to",
    "key": "hotkey",
    "press_key": "hotkey",
    "type_text": "type",
    "press_keys": "hotkey",
    "terminate": "finished",
    "finish": "finished",
    "fail": "infeasible",
    "answer": "finished",
    "left_mouse_down": "mouse_down",
    "left_mouse_up": "mouse_up",
    "key_down": "press",
    "key_up": "release",
    "open": "open_app",
    "ask_user": "call_user",
    "interact": "call_user",
}
"""What others call our functions."""
_KEYS = {
    "coordinate": "point",
    "start": "start_point",
    "end": "end_point",
    "text": "content",
    "answer": "content",
    "url": "content",
    "command": "content",
    "code": "content",
}
TOOL_NAMES = ("computer_use", "mobile_use", "computer", "browser")


def as_json(value: Any) -> str:
    """A value as JSON text, characters as they are."""
    return json.dumps(value, ensure_ascii=False)


def in_our_words(name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A call of a computer tool as one of `vocabulary.functions`. Raises Unreadable."""
    if name in ("terminate", "finish") and "status" in given:
        return _end({**given})
    if name in ("scroll", "hscroll") and "pixels" in given and "direction" not in given:
        return _wheel(name, {**given})
    if name == "system_button":
        return _button({**given})
    if name == "left_click_drag" and "start_coordinate" in given:
        return "drag", _renamed(given, start_coordinate="start_point", coordinate="end_point")
    if name == "swipe" and "coordinate2" in given:
        return "swipe", _renamed(given, coordinate="start_point", coordinate2="end_point")
    name = _NAMES.get(name, name)
    if name in ("hotkey", "press", "release"):
        given = _renamed(given, text="key")
    elif name == "open_app":
        given = _renamed(given, text="app_name")
    return name, given


def _end(given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A success is the end; a failure says that the task cannot be done."""
    status = str(given.pop("status")).strip().lower()
    if status not in ENDS_BY_STATUS:
        raise Unreadable("bad_value", f"The status is success or failure, not “{status[:40]}”.")
    return ENDS_BY_STATUS[status], given


def _wheel(name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Pixels to scroll as a direction and notches: negative is down, and left for hscroll."""
    pixels = given.pop("pixels")
    try:
        amount = float(pixels)
    except (TypeError, ValueError):
        amount = 0.0
    if not amount or abs(amount) > 1e6:
        raise Unreadable("bad_value", f"{name} needs a number of pixels, not 0.")
    ways = ("right", "left") if name == "hscroll" else ("up", "down")
    notches = max(1, round(abs(amount) / _PIXELS_A_NOTCH))
    return "scroll", {**given, "direction": ways[amount < 0], "amount": notches}


def _button(given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    button = str(given.pop("button", "")).strip().lower()
    if button == "enter":
        return "hotkey", {**given, "key": "enter"}
    if button not in ("back", "home"):
        raise Unreadable("bad_value", f"The button is back, home or enter, not “{button[:40]}”.")
    return f"press_{button}", given


def _renamed(given: dict[str, Any], **names: str) -> dict[str, Any]:
    """Fields under other names. Raises Unreadable where two would be one."""
    renamed = {names.get(key, key): value for key, value in given.items()}
    if len(renamed) < len(given):
        raise Unreadable("bad_arguments", "An argument stands twice, under two names.")
    return renamed


def arguments_as_text(name: str, given: dict[str, Any]) -> dict[str, str]:
    """Arguments as texts, points under one name. Raises Unreadable."""
    if "x" in given and "y" in given:
        rest = {key: value for key, value in given.items() if key not in ("x", "y")}
        given = {"point": [given["x"], given["y"]], **rest} if "point" not in rest else {**given}
    return {
        key: as_json(value) if (name, key) == ("call_tool", "arguments") else _text(value)
        for key, value in _renamed(given, **_KEYS).items()
    }


def _text(value: Any) -> str:
    """A value as the text it stands for: a list of its items, a point of its numbers."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() == {"x", "y"}:
        return f"{_text(value['x'])} {_text(value['y'])}"
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return " ".join(map(_text, value))
    return as_json(value)
