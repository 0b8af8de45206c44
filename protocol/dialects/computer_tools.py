"""What other computer tools call our functions, and how they name their arguments: Qwen's `computer_use` and
`mobile_use`, and what resembles them.

`to_function_call` gives a call of one of them as a call of `protocol.dialects.action_readers`.
"""

import json
from typing import Any

from protocol.actions.inputs import MAX_NOTCHES, PIXELS_PER_NOTCH, SCROLL_AXES
from protocol.actions.keys import MODIFIERS, parse_hotkey
from protocol.dialects.function_calls import ReplyParseError
from protocol.dialects.python_calls import FUNCTION_BY_STATUS

_FUNCTION_NAMES = {
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
_ARGUMENT_NAMES = {
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
_FUNCTION_BY_CLICK = {mapped: name for name, mapped in _CLICKS.items() if name != "left_click"}
TOOL_NAMES = ("computer_use", "mobile_use", "computer", "browser")


def to_json(value: Any) -> str:
    """A value as JSON text, characters as they are."""
    return json.dumps(value, ensure_ascii=False)


def to_function_call(name: str, arguments: dict[str, Any], *, is_tool: bool = False) -> tuple[str, dict[str, Any]]:
    """A call of a computer tool as one of `protocol.dialects.action_readers`. Raises ReplyParseError.

    `is_tool` says that the reply named the tool; the tool's clicks need no point.
    """
    if mapped := _pointer(name, arguments, is_tool=is_tool):
        return mapped
    if name == "zoom" and isinstance(arguments.get("region"), list) and len(arguments["region"]) == 4:
        corners = {"start_point": arguments["region"][:2], "end_point": arguments["region"][2:]}
        return name, {**{key: value for key, value in arguments.items() if key != "region"}, **corners}
    if name in ("terminate", "finish") and "status" in arguments:
        return _terminate({**arguments})
    if name == "system_button":
        return _system_button({**arguments})
    if name == "swipe" and "coordinate2" in arguments:
        return "swipe", _renamed(arguments, coordinate="start_point", coordinate2="end_point")
    name = _FUNCTION_NAMES.get(name, name)
    if name in ("hotkey", "press", "release"):
        arguments = _renamed(arguments, text="key")
    elif name == "open_app":
        arguments = _renamed(arguments, text="app_name")
    return name, arguments


def _pointer(name: str, arguments: dict[str, Any], *, is_tool: bool) -> tuple[str, dict[str, Any]] | None:
    """A click, drag or scroll that other tools say otherwise than we do; None for any other call."""
    if name in _CLICKS:
        return _click(name, arguments, is_tool=is_tool)
    if name in ("left_click_drag", "drag"):
        return _drag(arguments)
    if name == "scroll" and (
        {"scroll_x", "scroll_y", "scroll_direction"} & arguments.keys() or _has_held_keys(arguments)
    ):
        return _scroll({**arguments})
    if name in ("scroll", "hscroll") and "pixels" in arguments and "direction" not in arguments:
        return _scroll_pixels(name, {**arguments})
    return None


def _click(name: str, arguments: dict[str, Any], *, is_tool: bool) -> tuple[str, dict[str, Any]] | None:
    """A click at the pointer, with keys held, or with a button of its own; None for any other."""
    button, clicks = _CLICKS[name]
    pointed = {"coordinate", "point", "x", "start_box", "start_point"} & arguments.keys()
    if not (_has_held_keys(arguments) or "button" in arguments or (not pointed and (is_tool or name == "left_click"))):
        return None
    mapped = _rename_held_keys(arguments, key="keys")
    button = str(mapped.pop("button", button)).strip().lower()
    button = {"wheel": "middle"}.get(button, button)
    plain = _FUNCTION_BY_CLICK.get((button, clicks)) if pointed and not mapped.get("keys") else None
    if plain:
        return plain, {key: value for key, value in mapped.items() if key != "keys"}
    return "mouse_click", {**mapped, "button": button, "clicks": clicks}


def _drag(arguments: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """A drag along a path, or between two points with keys held; None for one that is called as ours."""
    mapped = _rename_held_keys(arguments, path="points")
    points = mapped.get("points")
    if isinstance(points, list):
        if len(points) != 2 or mapped.get("keys"):
            return "drag_path", mapped
        rest = {key: value for key, value in mapped.items() if key not in ("points", "keys")}
        return "drag", {**rest, "start_point": points[0], "end_point": points[1]}
    if "start_coordinate" not in mapped or "coordinate" not in mapped:
        return None
    start, end = mapped.pop("start_coordinate"), mapped.pop("coordinate")
    if not mapped.get("keys"):
        return "drag", {**mapped, "start_point": start, "end_point": end}
    return "drag_path", {**mapped, "points": [start, end]}


def _scroll(arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A scroll in pixels on both axes, or by direction with keys held. Raises Unreadable."""
    names = {"scroll_x": "dx", "scroll_y": "dy", "scroll_direction": "direction", "scroll_amount": "amount"}
    mapped = _rename_held_keys(arguments, **names)
    if "pixels" in mapped and "direction" not in mapped:
        return "scroll_by", {**mapped, "dy": -_pixels("scroll", mapped.pop("pixels"))}
    if "direction" not in mapped or not mapped.get("keys"):
        return ("scroll" if "direction" in mapped else "scroll_by"), mapped
    axis, sign = SCROLL_AXES.get(str(mapped.pop("direction")).strip().lower(), ("", 0))
    amount = mapped.pop("amount", 5)
    if not sign or not isinstance(amount, int):
        raise ReplyParseError("bad_value", "scroll takes a direction, and a whole number of notches.")
    return "scroll_by", {**mapped, axis: sign * min(amount, MAX_NOTCHES), "unit": "notches"}


def _rename_held_keys(arguments: dict[str, Any], **names: str) -> dict[str, Any]:
    """Arguments under our names, with the held keys as `keys`. A `text` is one only where it names modifiers: models
    also put the label of what they click there. Raises Unreadable."""
    text = arguments.get("text")
    if text:
        try:
            keys = parse_hotkey(text) if isinstance(text, str) else ()
        except ValueError:
            keys = ()
        if not keys or not set(keys) <= set(MODIFIERS):
            raise ReplyParseError(
                "bad_value", "The text of a click, drag or scroll names the modifier keys that are held."
            )
    return _renamed(arguments, text="keys", modifiers="keys", **names)


def _has_held_keys(arguments: dict[str, Any]) -> bool:
    """Whether keys are held, by whatever name."""
    return any(arguments.get(name) for name in ("text", "keys", "modifiers"))


def _terminate(arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A success is the end; a failure says that the task cannot be done."""
    status = str(arguments.pop("status")).strip().lower()
    if status not in FUNCTION_BY_STATUS:
        raise ReplyParseError("bad_value", f"The status is success or failure, not “{status[:40]}”.")
    return FUNCTION_BY_STATUS[status], arguments


def _scroll_pixels(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Pixels to scroll as a direction and notches: negative is down, and left for hscroll."""
    pixels = _pixels(name, arguments.pop("pixels"))
    ways = ("right", "left") if name == "hscroll" else ("up", "down")
    notches = max(1, round(abs(pixels) / PIXELS_PER_NOTCH))
    return "scroll", {**arguments, "direction": ways[pixels < 0], "amount": notches}


def _pixels(name: str, mapped: Any) -> int:
    """A number of pixels that is not 0. Raises Unreadable."""
    try:
        amount = float(mapped)
    except (TypeError, ValueError):
        amount = 0.0
    if not amount or not abs(amount) <= 1e6:
        raise ReplyParseError("bad_value", f"{name} needs a number of pixels, not 0.")
    return round(amount) or (1 if amount > 0 else -1)


def _system_button(arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    button = str(arguments.pop("button", "")).strip().lower()
    if button == "enter":
        return "hotkey", {**arguments, "key": "enter"}
    if button not in ("back", "home"):
        raise ReplyParseError("bad_value", f"The button is back, home or enter, not “{button[:40]}”.")
    return f"press_{button}", arguments


def _renamed(arguments: dict[str, Any], **names: str) -> dict[str, Any]:
    """Fields under other names. Raises Unreadable where two would be one."""
    renamed = {names.get(key, key): value for key, value in arguments.items()}
    if len(renamed) < len(arguments):
        raise ReplyParseError("bad_arguments", "An argument occurs twice, under two names.")
    return renamed


def format_arguments(name: str, arguments: dict[str, Any]) -> dict[str, str]:
    """Arguments as texts, points under one name. Raises Unreadable."""
    if "x" in arguments and "y" in arguments:
        rest = {key: value for key, value in arguments.items() if key not in ("x", "y")}
        arguments = {"point": [arguments["x"], arguments["y"]], **rest} if "point" not in rest else {**arguments}
    return {
        key: to_json(value)
        if (name, key) == ("call_tool", "arguments")
        else "; ".join(map(_argument_text, value))
        if key == "points" and isinstance(value, list)
        else _argument_text(value)
        for key, value in _renamed(arguments, **_ARGUMENT_NAMES).items()
    }


def _argument_text(value: Any) -> str:
    """A value as the text it stands for: a list of its items, a point of its numbers. The key `+` of a list is named,
    since between keys it is a separator."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() == {"x", "y"}:
        return f"{_argument_text(value['x'])} {_argument_text(value['y'])}"
    if isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        return " ".join("plus" if item == "+" else _argument_text(item) for item in value)
    return to_json(value)
