"""What other computer tools call our functions, and how they name their arguments: Qwen's `computer_use` and
`mobile_use`, and what resembles them.

`canonical_call` gives a call of one of them as a call of `vocabulary.functions`.
"""

import json
from typing import Any

from vocabulary.calls import Unreadable
from vocabulary.code_calls import ENDS_BY_STATUS
from vocabulary.inputs import MAX_NOTCHES, PIXELS_A_NOTCH, SCROLL_AXES
from vocabulary.keys import MODIFIERS, keys_named

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
_CLICKS = {
    "click": ("left", 1),
    "left_click": ("left", 1),
    "double_click": ("left", 2),
    "triple_click": ("left", 3),
    "right_click": ("right", 1),
    "middle_click": ("middle", 1),
}
_PLAIN = {said: name for name, said in _CLICKS.items() if name != "left_click"}
TOOL_NAMES = ("computer_use", "mobile_use", "computer", "browser")


def as_json(value: Any) -> str:
    """A value as JSON text, characters as they are."""
    return json.dumps(value, ensure_ascii=False)


def canonical_call(name: str, given: dict[str, Any], *, of_tool: bool = False) -> tuple[str, dict[str, Any]]:
    """A call of a computer tool as one of `vocabulary.functions`; `of_tool` says that the tool was named, whose clicks
    need no point. Raises Unreadable."""
    if said := _pointer(name, given, of_tool=of_tool):
        return said
    if name == "zoom" and isinstance(given.get("region"), list) and len(given["region"]) == 4:
        corners = {"start_point": given["region"][:2], "end_point": given["region"][2:]}
        return name, {**{key: value for key, value in given.items() if key != "region"}, **corners}
    if name in ("terminate", "finish") and "status" in given:
        return _end({**given})
    if name == "system_button":
        return _button({**given})
    if name == "swipe" and "coordinate2" in given:
        return "swipe", _renamed(given, coordinate="start_point", coordinate2="end_point")
    name = _NAMES.get(name, name)
    if name in ("hotkey", "press", "release"):
        given = _renamed(given, text="key")
    elif name == "open_app":
        given = _renamed(given, text="app_name")
    return name, given


def _pointer(name: str, given: dict[str, Any], *, of_tool: bool) -> tuple[str, dict[str, Any]] | None:
    """A click, drag or scroll that other tools say otherwise than we do; None for any other call."""
    if name in _CLICKS:
        return _click(name, given, of_tool=of_tool)
    if name in ("left_click_drag", "drag"):
        return _drag(given)
    if name == "scroll" and ({"scroll_x", "scroll_y", "scroll_direction"} & given.keys() or _keys(given)):
        return _scroll({**given})
    if name in ("scroll", "hscroll") and "pixels" in given and "direction" not in given:
        return _wheel(name, {**given})
    return None


def _click(name: str, given: dict[str, Any], *, of_tool: bool) -> tuple[str, dict[str, Any]] | None:
    """A click at the pointer, with keys held, or with a button of its own; None for any other."""
    button, clicks = _CLICKS[name]
    pointed = {"coordinate", "point", "x", "start_box", "start_point"} & given.keys()
    if not (_keys(given) or "button" in given or (not pointed and (of_tool or name == "left_click"))):
        return None
    said = _held(given, key="keys")
    button = str(said.pop("button", button)).strip().lower()
    button = {"wheel": "middle"}.get(button, button)
    plain = _PLAIN.get((button, clicks)) if pointed and not said.get("keys") else None
    if plain:
        return plain, {key: value for key, value in said.items() if key != "keys"}
    return "mouse_click", {**said, "button": button, "clicks": clicks}


def _drag(given: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """A drag along a path, or between two points with keys held; None for one that is called as ours."""
    said = _held(given, path="points")
    points = said.get("points")
    if isinstance(points, list):
        if len(points) != 2 or said.get("keys"):
            return "drag_path", said
        rest = {key: value for key, value in said.items() if key not in ("points", "keys")}
        return "drag", {**rest, "start_point": points[0], "end_point": points[1]}
    if "start_coordinate" not in said or "coordinate" not in said:
        return None
    start, end = said.pop("start_coordinate"), said.pop("coordinate")
    if not said.get("keys"):
        return "drag", {**said, "start_point": start, "end_point": end}
    return "drag_path", {**said, "points": [start, end]}


def _scroll(given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A scroll in pixels on both axes, or by direction with keys held. Raises Unreadable."""
    names = {"scroll_x": "dx", "scroll_y": "dy", "scroll_direction": "direction", "scroll_amount": "amount"}
    said = _held(given, **names)
    if "pixels" in said and "direction" not in said:
        return "scroll_by", {**said, "dy": -_pixels("scroll", said.pop("pixels"))}
    if "direction" not in said or not said.get("keys"):
        return ("scroll" if "direction" in said else "scroll_by"), said
    axis, sign = SCROLL_AXES.get(str(said.pop("direction")).strip().lower(), ("", 0))
    amount = said.pop("amount", 5)
    if not sign or not isinstance(amount, int):
        raise Unreadable("bad_value", "scroll takes a direction, and a whole number of notches.")
    return "scroll_by", {**said, axis: sign * min(amount, MAX_NOTCHES), "unit": "notches"}


def _held(given: dict[str, Any], **names: str) -> dict[str, Any]:
    """Arguments under our names, with the held keys as `keys`. A `text` is one only where it names modifiers: models
    also put the label of what they click there. Raises Unreadable."""
    text = given.get("text")
    if text:
        try:
            keys = keys_named(text) if isinstance(text, str) else ()
        except ValueError:
            keys = ()
        if not keys or not set(keys) <= set(MODIFIERS):
            raise Unreadable("bad_value", "The text of a click, drag or scroll names the modifier keys that are held.")
    return _renamed(given, text="keys", modifiers="keys", **names)


def _keys(given: dict[str, Any]) -> bool:
    """Whether keys are held, by whatever name."""
    return any(given.get(name) for name in ("text", "keys", "modifiers"))


def _end(given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A success is the end; a failure says that the task cannot be done."""
    status = str(given.pop("status")).strip().lower()
    if status not in ENDS_BY_STATUS:
        raise Unreadable("bad_value", f"The status is success or failure, not “{status[:40]}”.")
    return ENDS_BY_STATUS[status], given


def _wheel(name: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Pixels to scroll as a direction and notches: negative is down, and left for hscroll."""
    pixels = _pixels(name, given.pop("pixels"))
    ways = ("right", "left") if name == "hscroll" else ("up", "down")
    notches = max(1, round(abs(pixels) / PIXELS_A_NOTCH))
    return "scroll", {**given, "direction": ways[pixels < 0], "amount": notches}


def _pixels(name: str, said: Any) -> int:
    """A number of pixels that is not 0. Raises Unreadable."""
    try:
        amount = float(said)
    except (TypeError, ValueError):
        amount = 0.0
    if not amount or not abs(amount) <= 1e6:
        raise Unreadable("bad_value", f"{name} needs a number of pixels, not 0.")
    return round(amount) or (1 if amount > 0 else -1)


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
        key: as_json(value)
        if (name, key) == ("call_tool", "arguments")
        else "; ".join(map(_text, value))
        if key == "points" and isinstance(value, list)
        else _text(value)
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
