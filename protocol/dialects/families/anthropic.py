"""The tool calls of Claude: the computer toolset of 2026-08 and the older computer tool.

Points are pixels of the picture that was sent, so pictures are scaled within what every model takes before they are
sent (https://platform.claude.com/docs/en/build-with-claude/vision: 1568 pixels on the longer side, 1.15 megapixels).
The toolset's members are those of
https://github.com/anthropics/anthropic-sdk-python/blob/main/computer-toolset.md; the older tool, `computer`, names the
member in `action`.
"""

import re
from collections.abc import Callable
from typing import Any

from protocol.actions.types import Drag, DragPath, MouseClick, MouseDown, MouseUp, Point, PressKeys, Scroll, Wait, Zoom
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.function_calls import ReplyParseError, several_actions_error
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

IMAGE_EDGE, IMAGE_PIXELS = 1_568, 1_150_000
"""To what pictures are scaled down: pixels of the longer side, and in all."""
TOOLSET = "computer"
MEMBERS = frozenset(
    {
        *("key", "hold_key", "type", "cursor_position", "mouse_move", "left_mouse_down", "left_mouse_up"),
        *("left_click", "left_click_drag", "right_click", "middle_click", "double_click", "triple_click"),
        *("scroll", "wait", "screenshot", "zoom"),
    }
)
MEMBER_BY_KIND = {
    "click": "left_click",
    "double_click": "double_click",
    "triple_click": "triple_click",
    "right_click": "right_click",
    "middle_click": "middle_click",
    "move_to": "mouse_move",
    "mouse_down": "left_mouse_down",
    "mouse_up": "left_mouse_up",
    "drag": "left_click_drag",
    "scroll": "scroll",
    "type_text": "type",
    "press_keys": "key",
    "wait": "wait",
    "screenshot": "screenshot",
    "zoom": "zoom",
}
_CLICK_MEMBERS = {
    ("left", 1): "left_click",
    ("left", 2): "double_click",
    ("left", 3): "triple_click",
    ("right", 1): "right_click",
    ("middle", 1): "middle_click",
}
_Pixel = Callable[[Any], list[int]]


def _call(member: str, **arguments: Any) -> ToolCall:
    return ToolCall(member, {name: value for name, value in arguments.items() if value is not None}, native=True)


def _hotkey(keys: tuple[str, ...]) -> str | None:
    """Keys as this tool writes them; `+` stands between them, and is a key by its name."""
    return "+".join("plus" if key == "+" else key for key in keys) or None


def _mouse_click(action: MouseClick, pixel: _Pixel) -> ToolCall | None:
    member = _CLICK_MEMBERS.get((action.button, action.clicks))
    if member is None or (action.point is not None and not action.keys) or not _modifiers(action.keys):
        return None
    return _call(member, coordinate=action.point and pixel(action.point), text=_hotkey(action.keys))


def _modifiers(keys: tuple[str, ...]) -> bool:
    return set(keys) <= {"ctrl", "shift", "alt", "super"}


def _drag_path(action: DragPath, pixel: _Pixel) -> ToolCall | None:
    if len(action.points) != 2 or action.button != "left" or not action.keys or not _modifiers(action.keys):
        return None
    start, end = map(pixel, action.points)
    return _call("left_click_drag", start_coordinate=start, coordinate=end, text=_hotkey(action.keys))


def _button(member: str) -> Callable[[MouseDown | MouseUp, _Pixel], ToolCall | None]:
    return lambda action, _: None if action.point is not None or action.button != "left" else _call(member)


def _drag(action: Drag, pixel: _Pixel) -> ToolCall | None:
    if action.button != "left":
        return None
    return _call("left_click_drag", start_coordinate=pixel(action.start), coordinate=pixel(action.end))


def _scroll(action: Scroll, pixel: _Pixel) -> ToolCall:
    return _call(
        "scroll",
        coordinate=action.point and pixel(action.point),
        scroll_direction=action.direction,
        scroll_amount=action.amount,
    )


def _press_keys(action: PressKeys, _: _Pixel) -> ToolCall:
    return _call("key", text=_hotkey(action.keys))


def _wait(action: Wait, _: _Pixel) -> ToolCall | None:
    return _call("wait", duration=int(action.seconds)) if action.seconds == int(action.seconds) else None


def _zoom(action: Zoom, pixel: _Pixel) -> ToolCall:
    return _call("zoom", region=[*pixel(action.start), *pixel(action.end)])


def _at(member: str) -> Callable[[Any, _Pixel], ToolCall]:
    return lambda action, pixel: _call(member, coordinate=pixel(Point(x=action.x, y=action.y)))


def _wrap(call: ToolCall) -> dict[str, Any]:
    toolset = {"toolset_name": TOOLSET} if call.native else {}
    return {"type": "tool_use", "name": call.name, **toolset, "input": call.arguments}


def _annotate(block: dict[str, Any], call: ProviderCall) -> dict[str, Any]:
    return block | ({"id": call.id} if call.id else {})


def _unwrap(block: dict[str, Any]) -> tuple[ToolCall, ...]:
    name, arguments = block.get("name"), block.get("input")
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ReplyParseError("bad_arguments", "A tool_use block has a name, and an object as its input.")
    if name == TOOLSET:
        member = arguments.get("action")
        if not isinstance(member, str):
            raise ReplyParseError("bad_arguments", "A call of the tool computer names its action.")
        return (ToolCall(member, {key: value for key, value in arguments.items() if key != "action"}, native=True),)
    return (ToolCall(name, arguments, native=block.get("toolset_name") == TOOLSET),)


def _to_function(call: ToolCall, _: ScreenSize) -> tuple[str, dict[str, Any]]:
    if not call.native:
        return read_function(call)
    if call.name == "hold_key":
        raise several_actions_error("hold_key means press, wait and release")
    if call.name not in MEMBERS or call.name == "cursor_position":
        raise ReplyParseError("unknown_action", f"The computer tool has no “{call.name[:80]}” here.")
    arguments = {key: value for key, value in call.arguments.items() if value is not None}
    if call.name == "key" and arguments.pop("repeat", 1) != 1:
        raise several_actions_error("it presses a key more than once")
    if call.name == "scroll" and "scroll_direction" not in arguments:
        raise ReplyParseError("bad_arguments", "scroll needs the argument scroll_direction.")
    return read_function(ToolCall(call.name, arguments, native=True))


FORMAT = ToolFormat(
    head=re.compile(r'\{\s*"type"\s*:\s*"tool_use"'),
    wrap=_wrap,
    unwrap=_unwrap,
    annotate=_annotate,
    write={
        "click": _at("left_click"),
        "double_click": _at("double_click"),
        "triple_click": _at("triple_click"),
        "right_click": _at("right_click"),
        "middle_click": _at("middle_click"),
        "move_to": _at("mouse_move"),
        "mouse_click": _mouse_click,
        "mouse_down": _button("left_mouse_down"),
        "mouse_up": _button("left_mouse_up"),
        "drag": _drag,
        "drag_path": _drag_path,
        "scroll": _scroll,
        "type_text": lambda action, _: _call("type", text=action.text),
        "press_keys": _press_keys,
        "wait": _wait,
        "screenshot": lambda *_: _call("screenshot"),
        "zoom": _zoom,
    },
    to_function=_to_function,
)

DIALECT = ToolDialect(
    name="anthropic",
    codec=ToolCallCodec(FORMAT, fitted_grid(IMAGE_EDGE, IMAGE_PIXELS)),
    grammars=tool_grammars(),
    template=PromptTemplate(prompt=PROMPT_TEMPLATE),
    limits=ImageLimits(min_pixels=1, max_pixels=IMAGE_PIXELS),
    lacking={
        "computer_20250124": frozenset({"zoom"}),
        "computer_20241022": frozenset({"zoom", "triple_click", "mouse_down", "mouse_up", "scroll", "wait"}),
    },
    image_edge=IMAGE_EDGE,
    native_kinds=frozenset(MEMBER_BY_KIND),
)
