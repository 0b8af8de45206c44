"""The computer tool of OpenAI's Responses API: a `computer_call` item with one action, or a list of them.

Points are pixels of the picture that was sent (https://developers.openai.com/api/docs/guides/tools-computer-use).
What the tool lacks is a function's call, an item of the type `function_call` whose arguments are a text of JSON.
"""

import re
from collections.abc import Callable
from typing import Any

from protocol.actions.types import DragPath, MouseClick, Point, PressKeys, ScrollBy
from protocol.dialects.computer_tools import to_json
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.function_calls import ReplyParseError, several_actions_error
from protocol.dialects.json_objects import decode_arguments
from protocol.dialects.prompt_template import PromptTemplate
from protocol.dialects.tool_calls import (
    PROMPT_TEMPLATE,
    ToolCall,
    ToolCallCodec,
    ToolDialect,
    ToolFormat,
    fitted_grid,
    read_function,
    tool_grammars,
)
from protocol.trajectory.proposals import ImageLimits, ProviderCall

IMAGE_EDGE, IMAGE_PIXELS = 6_000, 10_240_000
"""To what pictures are scaled down; screens in use stay as they are."""
NATIVE_KINDS = frozenset(
    {
        *("click", "double_click", "right_click", "middle_click", "mouse_click", "move_to", "drag", "drag_path"),
        *("scroll_by", "scroll", "type_text", "press_keys", "wait", "screenshot"),
    }
)
_BUTTONS = {"left": "left", "right": "right", "middle": "wheel", "back": "back", "forward": "forward"}
_Pixel = Callable[[Any], list[int]]


def _call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name, arguments, native=True)


def _xy(pixel: list[int]) -> dict[str, int]:
    return {"x": pixel[0], "y": pixel[1]}


def _click(button: str) -> Callable[[Any, _Pixel], ToolCall]:
    return lambda action, pixel: _call("click", button=button, **_xy(pixel(Point(x=action.x, y=action.y))))


def _mouse_click(action: MouseClick, pixel: _Pixel) -> ToolCall | None:
    plain = action.button in ("left", "right", "middle") and not action.keys
    if action.point is None or action.clicks > 2 or plain or (action.clicks == 2 and action.button != "left"):
        return None
    keys = {"keys": list(action.keys)} if action.keys else {}
    if action.clicks == 2:
        return _call("double_click", **_xy(pixel(action.point)), **keys)
    return _call("click", button=_BUTTONS[action.button], **_xy(pixel(action.point)), **keys)


def _drag_path(action: DragPath, pixel: _Pixel) -> ToolCall | None:
    if action.button != "left" or len(action.points) < 2 or (len(action.points) == 2 and not action.keys):
        return None
    keys = {"keys": list(action.keys)} if action.keys else {}
    return _call("drag", path=[_xy(pixel(point)) for point in action.points], **keys)


def _drag(action: Any, pixel: _Pixel) -> ToolCall | None:
    if action.button != "left":
        return None
    return _call("drag", path=[_xy(pixel(action.start)), _xy(pixel(action.end))])


def _scroll_by(action: ScrollBy, pixel: _Pixel) -> ToolCall | None:
    if action.point is None or action.unit != "pixels":
        return None
    keys = {"keys": list(action.keys)} if action.keys else {}
    return _call("scroll", **_xy(pixel(action.point)), scroll_x=action.dx, scroll_y=action.dy, **keys)


def _press_keys(action: PressKeys, _: _Pixel) -> ToolCall:
    return _call("keypress", keys=list(action.keys))


def _wrap(call: ToolCall) -> dict[str, Any]:
    if call.native:
        return {"type": "computer_call", "actions": [{"type": call.name, **call.arguments}]}
    return {"type": "function_call", "name": call.name, "arguments": to_json(call.arguments)}


def _join(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Actions that follow each other are listed in one `computer_call`."""
    joined: list[dict[str, Any]] = []
    for call in calls:
        if joined and call["type"] == joined[-1]["type"] == "computer_call":
            joined[-1] = {**joined[-1], "actions": [*joined[-1]["actions"], *call["actions"]]}
        else:
            joined.append(call)
    return joined


def _annotate(item: dict[str, Any], call: ProviderCall) -> dict[str, Any]:
    checks = [check.model_dump(mode="json") for check in call.safety_checks]
    fields = {"call_id": call.id, "id": call.item_id, "pending_safety_checks": checks}
    return item | {key: value for key, value in fields.items() if value}


def _unwrap(item: dict[str, Any]) -> tuple[ToolCall, ...]:
    if item.get("type") == "function_call":
        name, text = item.get("name"), item.get("arguments")
        arguments = decode_arguments(text) if isinstance(text, str) else text
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise ReplyParseError("bad_arguments", "A function_call has a name, and an object of arguments as text.")
        return (ToolCall(name, arguments),)
    listed = item.get("actions")
    actions = listed if isinstance(listed, list) and listed else [item.get("action")]
    return tuple(map(_unwrap_action, actions))


def _unwrap_action(action: Any) -> ToolCall:
    if not isinstance(action, dict) or not isinstance(action.get("type"), str):
        raise ReplyParseError("bad_arguments", "A computer_call has an action with a type.")
    return ToolCall(action["type"], {key: value for key, value in action.items() if key != "type"}, native=True)


def _to_function(call: ToolCall, _: ScreenSize) -> tuple[str, dict[str, Any]]:
    if not call.native:
        return read_function(call)
    arguments = {key: value for key, value in call.arguments.items() if value is not None and value != []}
    names = {"move": "move_to", "keypress": "hotkey"}
    offered = {"click", "double_click", "drag", "scroll", "type", "wait", "screenshot", *names}
    if call.name not in offered:
        raise ReplyParseError("unknown_action", f"The computer tool has no “{call.name[:80]}” here.")
    if call.name == "move" and "keys" in arguments:
        raise several_actions_error("it moves with keys held: press, move and release")
    if call.name == "scroll":
        arguments = {name: value for name, value in arguments.items() if not name.startswith("scroll_") or value}
        if not {"scroll_x", "scroll_y"} & arguments.keys():
            raise ReplyParseError("bad_value", "scroll needs a distance that is not 0.")
    return read_function(ToolCall(names.get(call.name, call.name), arguments, native=True))


FORMAT = ToolFormat(
    head=re.compile(r'\{\s*"type"\s*:\s*"(?:computer_call|function_call)"'),
    wrap=_wrap,
    unwrap=_unwrap,
    annotate=_annotate,
    join=_join,
    write={
        "click": _click("left"),
        "right_click": _click("right"),
        "middle_click": _click("wheel"),
        "double_click": lambda action, pixel: _call("double_click", **_xy(pixel(Point(x=action.x, y=action.y)))),
        "move_to": lambda action, pixel: _call("move", **_xy(pixel(Point(x=action.x, y=action.y)))),
        "mouse_click": _mouse_click,
        "drag": _drag,
        "drag_path": _drag_path,
        "scroll_by": _scroll_by,
        "type_text": lambda action, _: _call("type", text=action.text),
        "press_keys": _press_keys,
        "wait": lambda action, _: _call("wait") if action.seconds == type(action)().seconds else None,
        "screenshot": lambda *_: _call("screenshot"),
    },
    to_function=_to_function,
)

DIALECT = ToolDialect(
    name="openai_computer",
    codec=ToolCallCodec(FORMAT, fitted_grid(IMAGE_EDGE, IMAGE_PIXELS)),
    grammars=tool_grammars(),
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
    limits=ImageLimits(min_pixels=1, max_pixels=IMAGE_PIXELS),
    image_edge=IMAGE_EDGE,
    native_kinds=NATIVE_KINDS,
)
