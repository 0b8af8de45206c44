"""Writes each kind of action as a call, in the style of one family.

Arguments that a grammar lacks (a scroll's amount, a wait's seconds) are written only where they differ from what the
function means without them, so that nothing is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, TypeAdapter

from protocol.actions.keys import format_hotkey
from protocol.actions.types import Action, CallTool, Drag, DragPath, LongPress, MouseClick, Point, Scroll, ScrollBy
from protocol.dialects.coordinates import CoordinateGrid, pixel_to_grid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.function_calls import FunctionCall

_JSON_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


@dataclass(frozen=True)
class PointSyntax:
    """How one family names its points: the arguments' names, and the text of a point in its grid."""

    grid: CoordinateGrid
    point: str
    start: str
    end: str
    text: Callable[[int, int], str]


@dataclass(frozen=True)
class ArgumentWriter:
    """A style at work on one screen."""

    syntax: PointSyntax
    screen: ScreenSize

    def at(self, pixel: Point | None) -> dict[str, str]:
        """The argument that names a pixel; none where there is none."""
        return {} if pixel is None else {self.syntax.point: self._text(pixel)}

    def path(self, start: Point, end: Point) -> dict[str, str]:
        """The arguments that name where something begins and ends."""
        return {self.syntax.start: self._text(start), self.syntax.end: self._text(end)}

    def joined_points(self, pixels: tuple[Point, ...]) -> str:
        """Several pixels in one text."""
        return "; ".join(map(self._text, pixels))

    def _text(self, pixel: Point) -> str:
        return self.syntax.text(*pixel_to_grid(pixel, self.screen, self.syntax.grid(self.screen)))


def action_to_call(action: Action, screen: ScreenSize, syntax: PointSyntax) -> FunctionCall:
    """The call of an action. Raises ValueError for a kind no function says."""
    writer = ACTION_WRITERS.get(action.kind)
    if writer is None:
        raise ValueError(f"no function expresses {action.kind}")
    return writer(action, ArgumentWriter(syntax, screen))


_ActionWriter = Callable[[Any, ArgumentWriter], FunctionCall]


def _point_call(name: str) -> _ActionWriter:
    return lambda action, argument_writer: FunctionCall(name, argument_writer.at(Point(x=action.x, y=action.y)))


def _mouse_call(name: str) -> _ActionWriter:
    return lambda action, argument_writer: FunctionCall(
        name, {**argument_writer.at(action.point), **_non_default(action, "button")}
    )


def _bare_call(name: str) -> _ActionWriter:
    return lambda action, argument_writer: FunctionCall(name, {})


def _drag_call(action: Drag, argument_writer: ArgumentWriter) -> FunctionCall:
    return FunctionCall("drag", {**argument_writer.path(action.start, action.end), **_non_default(action, "button")})


def _scroll_call(action: Scroll, argument_writer: ArgumentWriter) -> FunctionCall:
    return FunctionCall(
        "scroll", {**argument_writer.at(action.point), "direction": action.direction, **_non_default(action, "amount")}
    )


def _mouse_click_call(action: MouseClick, argument_writer: ArgumentWriter) -> FunctionCall:
    fields = {**_non_default(action, "button"), **_non_default(action, "clicks"), **_held_keys(action)}
    return FunctionCall("mouse_click", {**argument_writer.at(action.point), **fields})


def _drag_path_call(action: DragPath, argument_writer: ArgumentWriter) -> FunctionCall:
    return FunctionCall(
        "drag_path",
        {
            "points": argument_writer.joined_points(action.points),
            **_non_default(action, "button"),
            **_held_keys(action),
        },
    )


def _scroll_by_call(action: ScrollBy, argument_writer: ArgumentWriter) -> FunctionCall:
    fields = {name: text for field in ("dx", "dy", "unit") for name, text in _non_default(action, field).items()}
    return FunctionCall("scroll_by", {**argument_writer.at(action.point), **fields, **_held_keys(action)})


def _held_keys(action: MouseClick | DragPath | ScrollBy) -> dict[str, str]:
    return {"keys": format_hotkey(action.keys)} if action.keys else {}


def _long_press_call(action: LongPress, argument_writer: ArgumentWriter) -> FunctionCall:
    return FunctionCall(
        "long_press", {**argument_writer.at(Point(x=action.x, y=action.y)), **_non_default(action, "seconds", "time")}
    )


def _run_call(name: str, field: str) -> _ActionWriter:
    return lambda action, argument_writer: FunctionCall(
        name, {"content": getattr(action, field), **_non_default(action, "timeout")}
    )


def _call_tool_call(action: CallTool, argument_writer: ArgumentWriter) -> FunctionCall:
    fields = {"arguments": _JSON_OBJECT.dump_json(action.arguments).decode()} if action.arguments else {}
    return FunctionCall("call_tool", {"name": action.name, **fields})


def _non_default(action: Any, field: str, name: str = "") -> dict[str, str]:
    """A field as an argument, unless it has its default."""
    value = getattr(action, field)
    usual = type(action).model_fields[field].default
    return {} if value == usual else {name or field: str(value)}


ACTION_WRITERS: dict[str, _ActionWriter] = {
    "click": _point_call("click"),
    "double_click": _point_call("left_double"),
    "triple_click": _point_call("triple_click"),
    "right_click": _point_call("right_single"),
    "middle_click": _point_call("middle_click"),
    "move_to": _point_call("move_to"),
    "mouse_down": _mouse_call("mouse_down"),
    "mouse_up": _mouse_call("mouse_up"),
    "mouse_click": _mouse_click_call,
    "drag": _drag_call,
    "drag_path": _drag_path_call,
    "scroll_by": _scroll_by_call,
    "swipe": lambda action, argument_writer: FunctionCall("scroll", argument_writer.path(action.start, action.end)),
    "scroll": _scroll_call,
    "type_text": lambda action, argument_writer: FunctionCall("type", {"content": action.text}),
    "press_keys": lambda action, argument_writer: FunctionCall("hotkey", {"key": format_hotkey(action.keys)}),
    "press": lambda action, argument_writer: FunctionCall("press", {"key": action.key}),
    "release": lambda action, argument_writer: FunctionCall("release", {"key": action.key}),
    "wait": lambda action, argument_writer: FunctionCall("wait", _non_default(action, "seconds", "time")),
    "navigate": lambda action, argument_writer: FunctionCall("navigate", {"content": action.url}),
    "navigate_back": _bare_call("navigate_back"),
    "switch_page": lambda action, argument_writer: FunctionCall("switch_page", {"page": action.page}),
    "close_page": lambda action, argument_writer: FunctionCall("close_page", _non_default(action, "page")),
    "choose_files": lambda action, argument_writer: FunctionCall(
        "choose_files", {"files": "|".join(action.files)} if action.files else {}
    ),
    "long_press": _long_press_call,
    "open_app": lambda action, argument_writer: FunctionCall("open_app", {"app_name": action.name}),
    "press_home": _bare_call("press_home"),
    "press_back": _bare_call("press_back"),
    "run_command": _run_call("run_command", "command"),
    "type_terminal": lambda action, argument_writer: FunctionCall(
        "type_terminal", {"content": action.text, **_non_default(action, "session")}
    ),
    "list_files": lambda action, argument_writer: FunctionCall("list_files", {"path": action.path}),
    "read_file": lambda action, argument_writer: FunctionCall("read_file", {"path": action.path}),
    "write_file": lambda action, argument_writer: FunctionCall(
        "write_file", {"path": action.path, "content": action.text}
    ),
    "edit_file": lambda action, argument_writer: FunctionCall(
        "edit_file", {"path": action.path, "old": action.old, "new": action.new}
    ),
    "download_file": lambda action, argument_writer: FunctionCall("download_file", {"path": action.path}),
    "run_code": _run_call("run_code", "code"),
    "call_tool": _call_tool_call,
    "screenshot": _bare_call("screenshot"),
    "zoom": lambda action, argument_writer: FunctionCall("zoom", argument_writer.path(action.start, action.end)),
    "finish": lambda action, argument_writer: FunctionCall("finished", _non_default(action, "answer", "content")),
    "call_user": lambda action, argument_writer: FunctionCall("call_user", _non_default(action, "message", "content")),
    "infeasible": lambda action, argument_writer: FunctionCall("infeasible", _non_default(action, "reason", "content")),
}
"""How each kind of action is called."""
