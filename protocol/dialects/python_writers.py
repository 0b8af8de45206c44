"""Calls as lines of PyAutoGUI and its relatives, which `protocol.dialects.python_calls` reads."""

from collections.abc import Callable

from protocol.dialects.action_readers import parse_point
from protocol.dialects.function_calls import FunctionCall

_Arguments = dict[str, str]


def _code(function: str, **arguments: object) -> str:
    arguments_text = ", ".join(f"{name}={value!r}" for name, value in arguments.items() if value is not None)
    return f"{function}({arguments_text})"


def _at(text: str | None) -> dict[str, int]:
    """A point's coordinates as arguments; none where there is none."""
    return {} if text is None else dict(zip("xy", map(int, parse_point(text)), strict=True))


def _coordinate_pair(text: str) -> list[int]:
    return [int(coordinate) for coordinate in parse_point(text)]


def _scroll(a: _Arguments) -> str:
    if "end_point" in a:
        return _code(
            "mobile.swipe", from_coord=_coordinate_pair(a["start_point"]), to_coord=_coordinate_pair(a["end_point"])
        )
    sideways = a["direction"] in ("left", "right")
    amount = int(a.get("amount", 5)) * (1 if a["direction"] in ("up", "right") else -1)
    arguments_text = "".join(f", {name}={value}" for name, value in _at(a.get("point")).items())
    return f"pyautogui.{'hscroll' if sideways else 'scroll'}({amount}{arguments_text})"


def _drag(a: _Arguments) -> str:
    to = _code("pyautogui.dragTo", **_at(a["end_point"]), button=a.get("button", "left"))
    return f"{_code('pyautogui.moveTo', **_at(a['start_point']))}\n{to}"


def _mouse_click(a: _Arguments) -> str:
    """PyAutoGUI knows three buttons, and one click of them has a name of its own already."""
    button, clicks, at = a.get("button", "left"), int(a.get("clicks", 1)), _at(a.get("point"))
    named = at and "keys" not in a and (clicks == 1 or button == "left")
    if button in ("back", "forward") or named:
        return _code("tools.mouse_click", **a)
    more = {"clicks": clicks} if clicks > 1 else {}
    return _with_held_keys(
        a, _code("pyautogui.click", **at, **more, **({"button": button} if button != "left" else {}))
    )


def _drag_path(a: _Arguments) -> str:
    points, button = [_at(text) for text in a["points"].split(";")], a.get("button", "left")
    first, *others = (_code("pyautogui.moveTo", **point) for point in points)
    if len(points) > 2:
        down, up = (_code(f"pyautogui.{name}", button=button) for name in ("mouseDown", "mouseUp"))
        return _with_held_keys(a, "\n".join((first, down, *others, up)))
    if len(points) == 2 and "keys" not in a:
        return _code("tools.drag_path", **a)
    to = _code("pyautogui.dragTo", **points[-1], button=button)
    return _with_held_keys(a, f"{first}\n{to}" if others else to)


def _scroll_by(a: _Arguments) -> str:
    """PyAutoGUI turns one wheel by notches."""
    dx, dy = int(a.get("dx", 0)), int(a.get("dy", 0))
    if "keys" not in a or a.get("unit") != "notches" or (dx and dy):
        return _code("tools.scroll_by", **a)
    at = "".join(f", {name}={value}" for name, value in _at(a.get("point")).items())
    return _with_held_keys(a, f"pyautogui.{'hscroll' if dx else 'scroll'}({dx or -dy}{at})")


def _with_held_keys(a: _Arguments, code: str) -> str:
    keys = a["keys"].split(" ") if "keys" in a else []
    down = [_key_code("keyDown", key) for key in keys]
    return "\n".join([*down, code, *(_key_code("keyUp", key) for key in reversed(keys))])


def _key_code(function: str, key: str) -> str:
    return f"pyautogui.{function}({key!r})"


def _hotkey(a: _Arguments) -> str:
    keys = a["key"].split(" ")
    return f"pyautogui.press({keys[0]!r})" if len(keys) == 1 else f"pyautogui.hotkey({keys!r})"


def _point_code(function: str) -> Callable[[_Arguments], str]:
    return lambda a: _code(function, **_at(a.get("point")), button=a.get("button"))


_CODE_WRITERS: dict[str, Callable[[_Arguments], str]] = {
    "click": _point_code("pyautogui.click"),
    "left_double": _point_code("pyautogui.doubleClick"),
    "triple_click": _point_code("computer.tripleClick"),
    "right_single": _point_code("pyautogui.rightClick"),
    "middle_click": _point_code("pyautogui.middleClick"),
    "move_to": _point_code("pyautogui.moveTo"),
    "mouse_down": _point_code("pyautogui.mouseDown"),
    "mouse_up": _point_code("pyautogui.mouseUp"),
    "mouse_click": _mouse_click,
    "drag": _drag,
    "drag_path": _drag_path,
    "scroll": _scroll,
    "scroll_by": _scroll_by,
    "type": lambda a: _code("pyautogui.write", message=a["content"]),
    "hotkey": _hotkey,
    "press": lambda a: f"pyautogui.keyDown({a['key']!r})",
    "release": lambda a: f"pyautogui.keyUp({a['key']!r})",
    "wait": lambda a: f"computer.wait({f'seconds={seconds}' if (seconds := a.get('time')) else ''})",
    "navigate": lambda a: _code("browser.navigate", url=a["content"]),
    "navigate_back": lambda a: "browser.navigate_back()",
    "long_press": lambda a: _code("mobile.long_press", **_at(a["point"]), seconds=_number(a.get("time"))),
    "open_app": lambda a: _code("mobile.open_app", name=a["app_name"]),
    "press_home": lambda a: "mobile.home()",
    "press_back": lambda a: "mobile.back()",
    "finished": lambda a: _code("computer.terminate", status="success", answer=a.get("content")),
    "call_user": lambda a: _code("computer.call_user", message=a.get("content")),
    "infeasible": lambda a: _code("computer.terminate", status="failure", answer=a.get("content")),
}
"""How a function of `protocol.dialects.action_writers` is called here; any other is one of `tools`."""


def _number(text: str | None) -> float | None:
    return None if text is None else float(text)


def call_to_code(call: FunctionCall) -> str:
    """A call as one or several lines of Python."""
    writer = _CODE_WRITERS.get(call.name)
    return writer(call.arguments) if writer else _code(f"tools.{call.name}", **call.arguments)
