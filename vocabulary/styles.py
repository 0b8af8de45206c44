"""How each kind of action is called, in the style of one family.

Arguments that a grammar lacks (a scroll's amount, a wait's seconds) are written only where they differ from what the
function means without them, so that nothing is lost.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue, TypeAdapter

from vocabulary.actions import Action, CallTool, Drag, DragPath, LongPress, MouseClick, Point, Scroll, ScrollBy
from vocabulary.calls import Call
from vocabulary.dialect import Screen
from vocabulary.grids import Grid, to_grid
from vocabulary.keys import hotkey_text

_JSON_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


@dataclass(frozen=True)
class Style:
    """How one family names its points: the arguments' names, and the text of a point in its grid."""

    grid: Grid
    point: str
    start: str
    end: str
    text: Callable[[int, int], str]


@dataclass(frozen=True)
class Pen:
    """A style at work on one screen."""

    style: Style
    screen: Screen

    def at(self, pixel: Point | None) -> dict[str, str]:
        """The argument that names a pixel; none where there is none."""
        return {} if pixel is None else {self.style.point: self._text(pixel)}

    def path(self, start: Point, end: Point) -> dict[str, str]:
        """The arguments that name where something begins and ends."""
        return {self.style.start: self._text(start), self.style.end: self._text(end)}

    def along(self, pixels: tuple[Point, ...]) -> str:
        """Several pixels in one text."""
        return "; ".join(map(self._text, pixels))

    def _text(self, pixel: Point) -> str:
        return self.style.text(*to_grid(pixel, self.screen, self.style.grid(self.screen)))


def write_action(action: Action, screen: Screen, style: Style) -> Call:
    """The call of an action. Raises ValueError for a kind no function says."""
    writer = WRITERS.get(action.kind)
    if writer is None:
        raise ValueError(f"no function says {action.kind}")
    return writer(action, Pen(style, screen))


_Write = Callable[[Any, Pen], Call]


def _point_call(name: str) -> _Write:
    return lambda action, pen: Call(name, pen.at(Point(x=action.x, y=action.y)))


def _mouse_call(name: str) -> _Write:
    return lambda action, pen: Call(name, {**pen.at(action.point), **_unusual(action, "button")})


def _bare_call(name: str) -> _Write:
    return lambda action, pen: Call(name, {})


def _drag_call(action: Drag, pen: Pen) -> Call:
    return Call("drag", {**pen.path(action.start, action.end), **_unusual(action, "button")})


def _scroll_call(action: Scroll, pen: Pen) -> Call:
    return Call("scroll", {**pen.at(action.point), "direction": action.direction, **_unusual(action, "amount")})


def _mouse_click_call(action: MouseClick, pen: Pen) -> Call:
    given = {**_unusual(action, "button"), **_unusual(action, "clicks"), **_held(action)}
    return Call("mouse_click", {**pen.at(action.point), **given})


def _drag_path_call(action: DragPath, pen: Pen) -> Call:
    return Call("drag_path", {"points": pen.along(action.points), **_unusual(action, "button"), **_held(action)})


def _scroll_by_call(action: ScrollBy, pen: Pen) -> Call:
    given = {name: text for field in ("dx", "dy", "unit") for name, text in _unusual(action, field).items()}
    return Call("scroll_by", {**pen.at(action.point), **given, **_held(action)})


def _held(action: MouseClick | DragPath | ScrollBy) -> dict[str, str]:
    return {"keys": hotkey_text(action.keys)} if action.keys else {}


def _long_press_call(action: LongPress, pen: Pen) -> Call:
    return Call("long_press", {**pen.at(Point(x=action.x, y=action.y)), **_unusual(action, "seconds", "time")})


def _run_call(name: str, field: str) -> _Write:
    return lambda action, pen: Call(name, {"content": getattr(action, field), **_unusual(action, "timeout")})


def _call_tool_call(action: CallTool, pen: Pen) -> Call:
    given = {"arguments": _JSON_OBJECT.dump_json(action.arguments).decode()} if action.arguments else {}
    return Call("call_tool", {"name": action.name, **given})


def _unusual(action: Any, field: str, name: str = "") -> dict[str, str]:
    """A field as an argument, unless it has its default."""
    value = getattr(action, field)
    usual = type(action).model_fields[field].default
    return {} if value == usual else {name or field: str(value)}


WRITERS: dict[str, _Write] = {
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
    "swipe": lambda action, pen: Call("scroll", pen.path(action.start, action.end)),
    "scroll": _scroll_call,
    "type_text": lambda action, pen: Call("type", {"content": action.text}),
    "press_keys": lambda action, pen: Call("hotkey", {"key": hotkey_text(action.keys)}),
    "press": lambda action, pen: Call("press", {"key": action.key}),
    "release": lambda action, pen: Call("release", {"key": action.key}),
    "wait": lambda action, pen: Call("wait", _unusual(action, "seconds", "time")),
    "navigate": lambda action, pen: Call("navigate", {"content": action.url}),
    "navigate_back": _bare_call("navigate_back"),
    "switch_page": lambda action, pen: Call("switch_page", {"page": action.page}),
    "close_page": lambda action, pen: Call("close_page", _unusual(action, "page")),
    "choose_files": lambda action, pen: Call("choose_files", {"files": "|".join(action.files)} if action.files else {}),
    "long_press": _long_press_call,
    "open_app": lambda action, pen: Call("open_app", {"app_name": action.name}),
    "press_home": _bare_call("press_home"),
    "press_back": _bare_call("press_back"),
    "run_command": _run_call("run_command", "command"),
    "type_terminal": lambda action, pen: Call("type_terminal", {"content": action.text, **_unusual(action, "session")}),
    "list_files": lambda action, pen: Call("list_files", {"path": action.path}),
    "read_file": lambda action, pen: Call("read_file", {"path": action.path}),
    "write_file": lambda action, pen: Call("write_file", {"path": action.path, "content": action.text}),
    "edit_file": lambda action, pen: Call("edit_file", {"path": action.path, "old": action.old, "new": action.new}),
    "download_file": lambda action, pen: Call("download_file", {"path": action.path}),
    "run_code": _run_call("run_code", "code"),
    "call_tool": _call_tool_call,
    "screenshot": _bare_call("screenshot"),
    "zoom": lambda action, pen: Call("zoom", pen.path(action.start, action.end)),
    "finish": lambda action, pen: Call("finished", _unusual(action, "answer", "content")),
    "call_user": lambda action, pen: Call("call_user", _unusual(action, "message", "content")),
    "infeasible": lambda action, pen: Call("infeasible", _unusual(action, "reason", "content")),
}
"""How each kind of action is called."""
