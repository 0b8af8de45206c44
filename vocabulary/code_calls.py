"""Code of pyautogui and its relatives as one call: taken apart by `ast` against fixed signatures, never run.

Calls with literal arguments are read, nothing else. `moveTo` and what follows at that point are one action. The
names are pyautogui's and AgentNet's (`computer.`, `mobile.`, `browser.`, with both spellings of a triple click);
`tools.NAME(…)` is the function NAME of `vocabulary.functions`.
"""

import ast
import warnings
from dataclasses import dataclass

from vocabulary.calls import Call, Unreadable
from vocabulary.inputs import SCROLL_AXES

Value = str | float | int | list[str | float | int]
_MOST_STATEMENTS = 20
_POSITIONS: dict[str, tuple[str, ...]] = {
    "write": ("message",),
    "typewrite": ("message",),
    "press": ("keys",),
    "keyDown": ("key",),
    "keyUp": ("key",),
    "scroll": ("clicks", "x", "y"),
    "hscroll": ("clicks", "x", "y"),
    "vscroll": ("clicks", "x", "y"),
    "sleep": ("seconds",),
    "wait": ("seconds",),
    "navigate": ("url",),
    "answer": ("answer",),
    "call_user": ("message",),
    "terminate": ("status", "answer"),
    "open_app": ("name",),
    "swipe": ("from_coord", "to_coord"),
    "click": ("x", "y", "clicks", "interval", "button"),
    "mouseDown": ("x", "y", "button"),
    "mouseUp": ("x", "y", "button"),
}
"""What arguments without a name are; of the others the first two are a point."""
_IGNORED = {"interval", "duration", "tween", "logScreenshot", "_pause", "mouseDownUp", "direction", "data"}
"""Arguments that do not change what is meant."""
_CLICKS = {
    "click": "click",
    "leftClick": "click",
    "doubleClick": "left_double",
    "tripleClick": "triple_click",
    "triple_click": "triple_click",
    "rightClick": "right_single",
    "middleClick": "middle_click",
}
_BUTTON_OF = {
    "click": ("left", 1),
    "left_double": ("left", 2),
    "triple_click": ("left", 3),
    "right_single": ("right", 1),
    "middle_click": ("middle", 1),
}
_BY_CLICKS = {(clicks, button): name for name, (button, clicks) in _BUTTON_OF.items()}
_PLAIN = {
    "moveTo": "move_to",
    "mouseDown": "mouse_down",
    "mouseUp": "mouse_up",
    "write": "type",
    "typewrite": "type",
    "keyDown": "press",
    "keyUp": "release",
    "wait": "wait",
    "sleep": "wait",
    "navigate": "navigate",
    "navigate_back": "navigate_back",
    "long_press": "long_press",
    "longPress": "long_press",
    "open_app": "open_app",
    "home": "press_home",
    "back": "press_back",
    "answer": "finished",
    "call_user": "call_user",
}
_RENAMED = {"message": "content", "url": "content", "seconds": "time", "name": "app_name", "answer": "content"}
ENDS_BY_STATUS = {
    **dict.fromkeys(("success", "succeeded", "done"), "finished"),
    **dict.fromkeys(("failure", "fail", "failed", "infeasible"), "infeasible"),
}
"""What a `terminate` with a status means."""
_MODULES = {"pyautogui", "computer", "mobile", "browser", "tools", "time", ""}


def call_of_code(code: str) -> Call:
    """The one call, of a function of `vocabulary.functions`, that code means. Raises Unreadable."""
    return _call_of(_statements(code))


def unfinished() -> Unreadable:
    """What code without its end is refused with."""
    return Unreadable("unfinished_call", "The code is cut, or a quote or a bracket is out of place.")


@dataclass(frozen=True)
class _Statement:
    """One call: its function, and its arguments by name."""

    module: str
    function: str
    arguments: dict[str, Value]


def is_code(text: str) -> bool:
    """Whether a text is code as a whole, be it of calls or not."""
    return _parsed(text) is not None


def _parsed(code: str) -> list[ast.stmt] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash too many is not worth a warning
            return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def _statements(code: str) -> list[_Statement]:
    """The calls of a code. Raises Unreadable for anything that is none."""
    body = _parsed(code)
    if body is None:
        raise unfinished()
    said = [_statement(node) for node in body[:_MOST_STATEMENTS] if not isinstance(node, ast.Import | ast.ImportFrom)]
    if not said:
        raise Unreadable("no_action", "The code holds no call.")
    return said


def _statement(node: ast.stmt) -> _Statement:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        raise Unreadable("unknown_action", "The code is more than plain calls; it is read, and never run.")
    call = node.value
    module, function = _named(call.func)
    if module not in _MODULES:
        raise Unreadable("unknown_action", f"“{f'{module}.{function}'[:80]}” is no action.")
    names = _POSITIONS.get(function, ("x", "y"))
    values = [_value(argument) for argument in call.args]
    if function == "hotkey":
        values = [[item for value in values for item in (value if isinstance(value, list) else [value])]]
        names = ("keys",) if call.args else ()
        values = values if call.args else []
    if len(values) > len(names):
        raise Unreadable("bad_arguments", f"{function} takes {len(names)} arguments at most.")
    arguments = dict(zip(names, values, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise Unreadable("bad_arguments", f"{function} has an argument twice, or arguments without a name.")
        arguments[keyword.arg] = _value(keyword.value)
    return _Statement(module, function, {name: value for name, value in arguments.items() if name not in _IGNORED})


def _named(node: ast.expr) -> tuple[str, str]:
    """(module, function) of what is called."""
    if isinstance(node, ast.Name):
        return "", node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id, node.attr
    raise Unreadable("unknown_action", "What is called is no plain function.")


def _value(node: ast.expr) -> Value:
    """A literal. Raises Unreadable for all else."""
    if isinstance(node, ast.List | ast.Tuple):
        items = [_value(item) for item in node.elts[:200]]
        if not any(isinstance(item, list) for item in items):
            return [item for item in items if not isinstance(item, list)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if isinstance(number, int | float) and not isinstance(number, bool):
            return -number
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float):
        return node.value
    raise Unreadable("bad_value", "An argument is no plain text, number or list of them.")


def _call_of(said: list[_Statement]) -> Call:
    """The one call that statements mean. Raises Unreadable."""
    keys, inner = _held(said)
    call = _unheld(inner)
    if not keys:
        return call
    held = {"keys": " ".join("plus" if key == "+" else key for key in keys)}
    arguments = dict(call.arguments)
    if call.name in _BUTTON_OF:
        button, clicks = _BUTTON_OF[call.name]
        return Call("mouse_click", {**arguments, "button": button, "clicks": str(clicks), **held})
    if call.name in ("mouse_click", "drag_path"):
        return Call(call.name, {**arguments, **held})
    if call.name == "drag":
        points = f"{arguments.pop('start_point')}; {arguments.pop('end_point')}"
        return Call("drag_path", {"points": points, **arguments, **held})
    if call.name == "scroll":
        way, amount = arguments.pop("direction"), int(arguments.pop("amount"))
        axis, sign = SCROLL_AXES[way]
        return Call("scroll_by", {**arguments, axis: str(sign * amount), "unit": "notches", **held})
    raise Unreadable("several_actions", f"The code holds {len(said)} actions; one is expected.")


def _held(said: list[_Statement]) -> tuple[list[str], list[_Statement]]:
    """The keys that are held around one act, and the act; all of it where none are."""
    keys: list[str] = []
    while len(keys) < len(said) and said[len(keys)].function == "keyDown":
        keys.append(_key_said(said[len(keys)]))
    count = len(keys)
    ends = [_key_said(one) for one in said[len(said) - count :] if one.function == "keyUp"]
    if not count or len(said) <= 2 * count or ends != keys[::-1]:
        return [], said
    return keys, said[count : len(said) - count]


def _key_said(said: _Statement) -> str:
    return _text(said.arguments.get("key", ""))


def _path(said: list[_Statement]) -> Call | None:
    """A drag along several points: `moveTo`, `mouseDown`, `moveTo` …, `mouseUp`."""
    names = [one.function for one in said]
    if len(said) < 4 or names[:2] != ["moveTo", "mouseDown"] or names[-1] != "mouseUp":
        return None
    moves, buttons = [said[0], *said[2:-1]], (said[1].arguments, said[-1].arguments)
    if any(one.function != "moveTo" for one in moves) or any({"x", "y"} & given.keys() for given in buttons):
        return None
    button, released = (_text(given.get("button", "left")) for given in buttons)
    if button != released:
        return None
    return Call("drag_path", {"points": "; ".join(map(_point, moves)), "button": button})


def _unheld(said: list[_Statement]) -> Call:
    if path := _path(said):
        return path
    if len(said) == 2 and said[0].function == "moveTo":
        first, second = said
        if second.function == "dragTo":
            button = {"button": str(second.arguments.get("button", "left"))}
            return Call("drag", {"start_point": _point(first), "end_point": _point(second), **button})
        if not {"x", "y"} & second.arguments.keys() and (second.function in _CLICKS or "scroll" in second.function):
            return _one(_Statement(second.module, second.function, {**second.arguments, **first.arguments}))
    if len(said) > 1:
        raise Unreadable("several_actions", f"The code holds {len(said)} actions; one is expected.")
    return _one(said[0])


def _one(said: _Statement) -> Call:
    function, arguments = said.function, dict(said.arguments)
    if said.module == "tools":
        return Call(function, {name: _text(value) for name, value in arguments.items()})
    if function in _CLICKS:
        return _click(said)
    if function == "dragTo":
        return Call("drag_path", {"points": _point(said), "button": _text(arguments.get("button", "left"))})
    if function in ("scroll", "hscroll", "vscroll"):
        return _wheel(said)
    if function in ("hotkey", "press"):
        return _keys(said)
    if function == "swipe":
        ends = {"start_point": arguments.get("from_coord"), "end_point": arguments.get("to_coord")}
        return Call("swipe", {name: _text(value) for name, value in ends.items() if value is not None})
    if function == "terminate":
        return _end(arguments)
    if function not in _PLAIN:
        raise Unreadable("unknown_action", f"“{function[:80]}” is no action.")
    at = {"point": _point(said)} if "x" in arguments and "y" in arguments else {}
    rest = {_RENAMED.get(name, name): _text(value) for name, value in arguments.items() if name not in ("x", "y")}
    return Call(_PLAIN[function], {**at, **rest})


def _point(said: _Statement) -> str:
    x, y = said.arguments.get("x"), said.arguments.get("y")
    if x is None or y is None:
        raise Unreadable("bad_arguments", f"{said.function} needs x and y.")
    return f"{_text(x)} {_text(y)}"


def _click(said: _Statement) -> Call:
    arguments = {name: value for name, value in said.arguments.items() if name not in ("x", "y", "clicks", "button")}
    name = _CLICKS[said.function]
    button, clicks = _BUTTON_OF[name]
    if name == "click":
        button, clicks = _button_said(said)
    if ({"x", "y"} & said.arguments.keys()) and (name := _BY_CLICKS.get((clicks, button), "")):
        return Call(name, {"point": _point(said), **{key: _text(value) for key, value in arguments.items()}})
    at = {"point": _point(said)} if {"x", "y"} & said.arguments.keys() else {}
    more = {key: _text(value) for key, value in arguments.items()}
    return Call("mouse_click", {**at, "button": button, "clicks": str(clicks), **more})


def _button_said(said: _Statement) -> tuple[str, int]:
    """The button of a click and how often it is pressed. Raises Unreadable."""
    clicks, button = said.arguments.get("clicks", 1), _text(said.arguments.get("button", "left")).lower()
    if not isinstance(clicks, int) or not 1 <= clicks <= 3 or button not in ("left", "middle", "right"):
        raise Unreadable("bad_value", f"No action is {_text(clicks)[:20]} clicks with the button {button[:20]}.")
    return button, clicks


def _wheel(said: _Statement) -> Call:
    arguments = said.arguments
    clicks = arguments.get("clicks", 0)
    if not isinstance(clicks, int) or not clicks:
        raise Unreadable("bad_value", f"{said.function} needs a whole number of clicks, not 0.")
    ways = ("right", "left") if said.function == "hscroll" else ("up", "down")
    at = {"point": _point(said)} if "x" in arguments or "y" in arguments else {}
    return Call("scroll", {**at, "direction": ways[clicks < 0], "amount": str(abs(clicks))})


def _keys(said: _Statement) -> Call:
    arguments = dict(said.arguments)
    given = arguments.pop("keys", arguments.pop("key", None))
    keys = given if isinstance(given, list) else [] if given is None else [given]
    if said.function == "press" and (len(keys) > 1 or arguments.pop("presses", 1) != 1):
        raise Unreadable("several_actions", "press with several keys means one after the other: several actions.")
    if arguments or not keys:
        raise Unreadable("bad_arguments", f"{said.function} takes keys and nothing else.")
    return Call("hotkey", {"key": " ".join("plus" if key == "+" else _text(key) for key in keys)})


def _end(arguments: dict[str, Value]) -> Call:
    """A success is the end, a failure says that the task cannot be done. Raises Unreadable for another status."""
    answer = {"content": _text(arguments["answer"])} if "answer" in arguments else {}
    status = _text(arguments.get("status", "success")).strip().lower()
    if status not in ENDS_BY_STATUS:
        raise Unreadable("bad_value", f"The status is success or failure, not “{status[:40]}”.")
    return Call(ENDS_BY_STATUS[status], answer)


def _text(value: Value) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
