"""The computer use of Gemini: function calls with points from 0 to 999.

The functions are those of https://ai.google.dev/gemini-api/docs/computer-use: of Gemini 3.5 on desktops, browsers and
phones, and of the older Gemini 2.5, which types at a point and thereby means several actions. What the tool lacks is
called by functions of ours, which are declared beside it.
"""

import re
from collections.abc import Callable
from typing import Any

from protocol.actions.types import Point, PressKeys, ScrollBy, Wait
from protocol.dialects.coordinates import thousandths_grid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.function_calls import ReplyParseError, several_actions_error
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.tool_calls import (
    PROMPT_TEMPLATE,
    ToolCall,
    ToolCallCodec,
    ToolDialect,
    ToolFormat,
    read_function,
    tool_grammars,
)
from protocol.trajectory.proposals import ImageLimits, ProviderCall

NAME_BY_KIND = {
    "click": "click",
    "double_click": "double_click",
    "triple_click": "triple_click",
    "middle_click": "middle_click",
    "right_click": "right_click",
    "mouse_down": "mouse_down",
    "mouse_up": "mouse_up",
    "move_to": "move",
    "type_text": "type",
    "drag": "drag_and_drop",
    "wait": "wait",
    "press_keys": "hotkey",
    "press": "key_down",
    "release": "key_up",
    "screenshot": "take_screenshot",
    "scroll_by": "scroll",
    "scroll": "scroll",
    "navigate": "navigate",
    "navigate_back": "go_back",
    "open_app": "open_app",
    "long_press": "long_press",
}
"""What the tool calls each kind of action."""
_RENAMED = {
    "move": "move_to",
    "hover_at": "move_to",
    "click_at": "click",
    "press_key": "hotkey",
    "key_combination": "hotkey",
    "key_down": "press",
    "key_up": "release",
    "take_screenshot": "screenshot",
    "go_back": "navigate_back",
}


def legacy_call(call: dict[str, Any]) -> dict[str, Any]:
    """A call of a turn in the words of Gemini 2.5, which names some functions otherwise."""
    name, arguments = call["name"], dict(call["args"])
    if name == "hotkey":
        arguments = {"keys": "+".join(arguments["keys"])}
    elif name == "drag_and_drop":
        names = {"start_x": "x", "start_y": "y", "end_x": "destination_x", "end_y": "destination_y"}
        arguments = {names[key]: value for key, value in arguments.items()}
    elif name == "type":
        arguments = {"content": arguments.get("text", "")}
    return {"name": _LEGACY_NAMES.get(name, name), "args": arguments}


_LEGACY_NAMES = {"click": "click_at", "move": "hover_at", "hotkey": "key_combination", "take_screenshot": "screenshot"}
_UNSUPPORTED = ("open_web_browser", "search", "list_apps", "yield_to_user")
_SCROLL_PIXELS, _SCROLL_SHARE, _DOCUMENT_PIXELS = 300, 800, 600
_Pixel = Callable[[Any], list[int]]


def _call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, native=True)


def _at(name: str) -> Callable[[Any, _Pixel], ToolCall]:
    def write(action: Any, pixel: _Pixel) -> ToolCall:
        x, y = pixel(Point(x=action.x, y=action.y))
        return _call(name, y=y, x=x)

    return write


def _button(name: str) -> Callable[[Any, _Pixel], ToolCall | None]:
    def write(action: Any, pixel: _Pixel) -> ToolCall | None:
        if action.point is None or action.button != "left":
            return None
        x, y = pixel(action.point)
        return _call(name, y=y, x=x)

    return write


def _drag(action: Any, pixel: _Pixel) -> ToolCall | None:
    if action.button != "left":
        return None
    (start_x, start_y), (end_x, end_y) = pixel(action.start), pixel(action.end)
    return _call("drag_and_drop", start_y=start_y, start_x=start_x, end_y=end_y, end_x=end_x)


def _scroll_by(action: ScrollBy, pixel: _Pixel) -> ToolCall | None:
    ways = [("down" if action.dy > 0 else "up", action.dy), ("right" if action.dx > 0 else "left", action.dx)]
    moved = [(way, abs(distance)) for way, distance in ways if distance]
    if action.point is None or action.unit != "pixels" or action.keys or len(moved) != 1 or moved[0][1] > 999:
        return None
    x, y = pixel(action.point)
    return _call("scroll", y=y, x=x, direction=moved[0][0], magnitude_in_pixels=moved[0][1])


def _wait(action: Wait, _: _Pixel) -> ToolCall | None:
    return _call("wait", seconds=int(action.seconds)) if action.seconds == int(action.seconds) else None


def _press_keys(action: PressKeys, _: _Pixel) -> ToolCall:
    return _call("hotkey", keys=list(action.keys))


def _wrap(call: ToolCall) -> dict[str, Any]:
    return {"functionCall": {"name": call.name, "args": call.arguments}}


def _annotate(part: dict[str, Any], call: ProviderCall) -> dict[str, Any]:
    """The signature stands beside the call, what was to be acknowledged among its arguments."""
    made = dict(part["functionCall"])
    if call.id:
        made["id"] = call.id
    for check in call.safety_checks[:1]:
        made["args"] = {**made["args"], "safety_decision": {"decision": check.code, "explanation": check.message}}
    return {"functionCall": made, **({"thoughtSignature": call.signature} if call.signature else {})}


def _unwrap(part: dict[str, Any]) -> tuple[ToolCall, ...]:
    call = part.get("functionCall", part.get("function_call"))
    name = call.get("name") if isinstance(call, dict) else None
    arguments = call.get("args") or {} if isinstance(call, dict) else None
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ReplyParseError("bad_arguments", "A functionCall has a name, and an object as its args.")
    return (ToolCall(name, arguments, native=True),)


def _to_function(call: ToolCall, screen: ScreenSize) -> tuple[str, dict[str, Any]]:
    unread = ("safety_decision", "intent")
    arguments = {key: value for key, value in call.arguments.items() if key not in unread and value is not None}
    special = _SPECIAL.get(call.name)
    if special is not None:
        return special(arguments, screen)
    if call.name in _UNSUPPORTED:
        raise ReplyParseError("unknown_action", f"“{call.name}” is no action here.")
    if {"direction", "x", "y"} <= arguments.keys() and call.name == "scroll":
        distance = arguments.pop("magnitude_in_pixels", _SCROLL_PIXELS)
        return _scroll(arguments, distance, distance)
    if call.name == "wait" and not arguments:
        arguments = {"seconds": 1}
    if call.name == "long_press" and {"x", "y"} <= arguments.keys():
        arguments.setdefault("seconds", 2)
    name = _RENAMED.get(call.name, call.name)
    return read_function(ToolCall(name, arguments, native=False))


def _scroll(arguments: dict[str, Any], across: Any, down: Any) -> tuple[str, dict[str, Any]]:
    """A scroll by pixels in one of four directions. Raises ReplyParseError."""
    axes = {"up": ("dy", -1, down), "down": ("dy", 1, down), "left": ("dx", -1, across), "right": ("dx", 1, across)}
    axis, sign, distance = axes.get(str(arguments.pop("direction", "")).strip().lower(), ("", 0, 0))
    if not axis or isinstance(distance, bool) or not isinstance(distance, int | float) or not 0 < distance < 1e5:
        raise ReplyParseError("bad_value", "scroll takes a direction, and a number of pixels that is not 0.")
    return "scroll_by", {**arguments, axis: sign * max(1, round(distance))}


def _scroll_at(arguments: dict[str, Any], screen: ScreenSize) -> tuple[str, dict[str, Any]]:
    """A scroll by thousandths of the screen."""
    share = arguments.pop("magnitude", _SCROLL_SHARE)
    if isinstance(share, bool) or not isinstance(share, int | float):
        raise ReplyParseError("bad_value", "magnitude is a number.")
    return _scroll(arguments, share * screen.width / 1000, share * screen.height / 1000)


def _type(arguments: dict[str, Any], _: ScreenSize) -> tuple[str, dict[str, Any]]:
    """Typing; a line break at the end submits."""
    enter = arguments.pop("press_enter", False)
    text = arguments.get("text")
    if enter is True and isinstance(text, str):
        arguments["text"] = f"{text}\n"
    elif enter is not False:
        raise ReplyParseError("bad_value", "press_enter is true or false.")
    return read_function(ToolCall("type", arguments))


def _drag_and_drop(arguments: dict[str, Any], _: ScreenSize) -> tuple[str, dict[str, Any]]:
    names = ("start_x", "start_y", "end_x", "end_y")
    if "destination_x" in arguments:
        names = ("x", "y", "destination_x", "destination_y")
    if arguments.keys() != set(names):
        raise ReplyParseError("bad_arguments", "drag_and_drop needs where it begins and where it ends.")
    start_x, start_y, end_x, end_y = (arguments[name] for name in names)
    return "drag", {"start_point": [start_x, start_y], "end_point": [end_x, end_y]}


def _type_text_at(arguments: dict[str, Any], _: ScreenSize) -> tuple[str, dict[str, Any]]:
    raise several_actions_error("type_text_at means a click and then typing")


def _go_forward(arguments: dict[str, Any], _: ScreenSize) -> tuple[str, dict[str, Any]]:
    return "hotkey", {**arguments, "key": "alt right"}


def _wait_5_seconds(arguments: dict[str, Any], _: ScreenSize) -> tuple[str, dict[str, Any]]:
    return "wait", {**arguments, "seconds": 5}


def _scroll_document(arguments: dict[str, Any], _: ScreenSize) -> tuple[str, dict[str, Any]]:
    return _scroll(arguments, _DOCUMENT_PIXELS, _DOCUMENT_PIXELS)


_SPECIAL: dict[str, Callable[[dict[str, Any], ScreenSize], tuple[str, dict[str, Any]]]] = {
    "scroll_at": _scroll_at,
    "scroll_document": _scroll_document,
    "type": _type,
    "drag_and_drop": _drag_and_drop,
    "type_text_at": _type_text_at,
    "go_forward": _go_forward,
    "wait_5_seconds": _wait_5_seconds,
}

FORMAT = ToolFormat(
    head=re.compile(r'\{\s*"function_?[Cc]all"\s*:'),
    wrap=_wrap,
    unwrap=_unwrap,
    annotate=_annotate,
    write={
        **{kind: _at(NAME_BY_KIND[kind]) for kind in ("click", "double_click", "triple_click", "middle_click")},
        "right_click": _at("right_click"),
        "move_to": _at("move"),
        "mouse_down": _button("mouse_down"),
        "mouse_up": _button("mouse_up"),
        "drag": _drag,
        "scroll_by": _scroll_by,
        "type_text": lambda action, _: _call("type", text=action.text),
        "press_keys": _press_keys,
        "press": lambda action, _: _call("key_down", key=action.key),
        "release": lambda action, _: _call("key_up", key=action.key),
        "wait": _wait,
        "navigate": lambda action, _: _call("navigate", url=action.url),
        "navigate_back": lambda *_: _call("go_back"),
        "screenshot": lambda *_: _call("take_screenshot"),
    },
    to_function=_to_function,
)

DIALECT = ToolDialect(
    name="gemini_computer",
    codec=ToolCallCodec(FORMAT, thousandths_grid),
    grammars=tool_grammars(),
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
    limits=ImageLimits(min_pixels=1, max_pixels=10_240_000),
    lacking={
        "gemini_2_5": frozenset(
            {
                *("double_click", "triple_click", "middle_click", "right_click", "mouse_down", "mouse_up", "type_text"),
                *("press", "release", "screenshot"),
            }
        )
    },
    image_edge=6_000,
    native_kinds=frozenset(NAME_BY_KIND) - {"open_app", "long_press"},
)
