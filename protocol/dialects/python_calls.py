"""Code of pyautogui and its relatives as one call: taken apart by `ast` against fixed signatures, never run.

Calls with literal arguments are read, nothing else. `moveTo` and what follows at that point are one action. The
names are pyautogui's and AgentNet's (`computer.`, `mobile.`, `browser.`, with both spellings of a triple click);
`tools.NAME(…)` is the function NAME of `protocol.dialects.action_readers`.
"""

import ast
import warnings
from dataclasses import dataclass

from protocol.actions.inputs import SCROLL_AXES
from protocol.dialects.function_calls import FunctionCall, ReplyParseError, several_actions_error

LiteralValue = str | float | int | list[str | float | int]
_MAX_STATEMENTS = 20
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
_FUNCTION_NAMES = {
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
_ARGUMENT_NAMES = {"message": "content", "url": "content", "seconds": "time", "name": "app_name", "answer": "content"}
FUNCTION_BY_STATUS = {
    **dict.fromkeys(("success", "succeeded", "done"), "finished"),
    **dict.fromkeys(("failure", "fail", "failed", "infeasible"), "infeasible"),
}
"""What a `terminate` with a status means."""
_MODULES = {"pyautogui", "computer", "mobile", "browser", "tools", "time", ""}


def parse_python_call(code: str) -> FunctionCall:
    """The one call, of a function of `protocol.dialects.action_readers`, that code means. Raises ReplyParseError."""
    return _merge_statements(_statements(code))


def parse_python_calls(code: str) -> list[FunctionCall]:
    """The calls that code means, one after another: statements that are one action are read as one. Raises
    ReplyParseError."""
    source = [each for statement in _statements(code) for each in _single_presses(statement)]
    calls: list[FunctionCall] = []
    while source:
        call, count = _longest_call(source)
        calls.append(call)
        source = source[count:]
    return calls


def _single_presses(source: "_Statement") -> list["_Statement"]:
    """`press` with several keys, or several times, as a statement for each."""
    keys, presses = source.arguments.get("keys"), source.arguments.get("presses", 1)
    if source.function != "press" or not isinstance(presses, int) or not 1 <= presses <= _MAX_STATEMENTS:
        return [source]
    each = keys if isinstance(keys, list) else [keys] if keys is not None else []
    rest = {name: value for name, value in source.arguments.items() if name not in ("keys", "presses")}
    single = [_Statement(source.module, source.function, {**rest, "keys": key}) for key in each]
    return single * presses or [source]


def _longest_call(source: list["_Statement"]) -> tuple[FunctionCall, int]:
    """The call that the first statements make, as many of them as possible, and how many these are."""
    for count in range(len(source), 1, -1):
        try:
            return _merge_statements(source[:count]), count
        except ReplyParseError:
            continue
    return _merge_statements(source[:1]), 1


def unfinished_code_error() -> ReplyParseError:
    """What code without its end is refused with."""
    return ReplyParseError("unfinished_call", "The code is cut, or a quote or a bracket is out of place.")


@dataclass(frozen=True)
class _Statement:
    """One call: its function, and its arguments by name."""

    module: str
    function: str
    arguments: dict[str, LiteralValue]


def is_code(text: str) -> bool:
    """Whether a text is code as a whole, be it of calls or not."""
    return _parse_source(text) is not None


def _parse_source(code: str) -> list[ast.stmt] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash too many is not worth a warning
            return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def _statements(code: str) -> list[_Statement]:
    """The calls of a code. Raises ReplyParseError for anything that is none."""
    body = _parse_source(code)
    if body is None:
        raise unfinished_code_error()
    nodes = [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if len(nodes) > _MAX_STATEMENTS:
        raise several_actions_error(f"its code has {len(nodes)} statements")
    source = [_statement(node) for node in nodes]
    if not source:
        raise ReplyParseError("no_action", "The code holds no call.")
    return source


def _statement(node: ast.stmt) -> _Statement:
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        raise ReplyParseError("unknown_action", "The code is more than plain calls; it is read, and never run.")
    call = node.value
    module, function = _module_and_function(call.func)
    if module not in _MODULES:
        raise ReplyParseError("unknown_action", f"“{f'{module}.{function}'[:80]}” is no action.")
    names = _POSITIONS.get(function, ("x", "y"))
    values = [_literal_value(argument) for argument in call.args]
    if function == "hotkey":
        values = [[item for value in values for item in (value if isinstance(value, list) else [value])]]
        names = ("keys",) if call.args else ()
        values = values if call.args else []
    if len(values) > len(names):
        raise ReplyParseError("bad_arguments", f"{function} takes {len(names)} arguments at most.")
    arguments = dict(zip(names, values, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise ReplyParseError("bad_arguments", f"{function} has an argument twice, or arguments without a name.")
        arguments[keyword.arg] = _literal_value(keyword.value)
    return _Statement(module, function, {name: value for name, value in arguments.items() if name not in _IGNORED})


def _module_and_function(node: ast.expr) -> tuple[str, str]:
    """(module, function) of what is called."""
    if isinstance(node, ast.Name):
        return "", node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id, node.attr
    raise ReplyParseError("unknown_action", "What is called is no plain function.")


def _literal_value(node: ast.expr) -> LiteralValue:
    """A literal. Raises ReplyParseError for all else."""
    if isinstance(node, ast.List | ast.Tuple):
        items = [_literal_value(item) for item in node.elts[:200]]
        if not any(isinstance(item, list) for item in items):
            return [item for item in items if not isinstance(item, list)]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = node.operand.value if isinstance(node.operand, ast.Constant) else None
        if isinstance(number, int | float) and not isinstance(number, bool):
            return -number
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float):
        return node.value
    raise ReplyParseError("bad_value", "An argument is no plain text, number or list of them.")


def _merge_statements(source: list[_Statement]) -> FunctionCall:
    """The one call that statements mean. Raises ReplyParseError."""
    keys, inner = _split_held_keys(source)
    call = _call_without_keys(inner)
    if not keys:
        return call
    held = {"keys": " ".join("plus" if key == "+" else key for key in keys)}
    arguments = dict(call.arguments)
    if call.name in _BUTTON_OF:
        button, clicks = _BUTTON_OF[call.name]
        return FunctionCall("mouse_click", {**arguments, "button": button, "clicks": str(clicks), **held})
    if call.name in ("mouse_click", "drag_path"):
        return FunctionCall(call.name, {**arguments, **held})
    if call.name == "drag":
        points = f"{arguments.pop('start_point')}; {arguments.pop('end_point')}"
        return FunctionCall("drag_path", {"points": points, **arguments, **held})
    if call.name == "scroll":
        way, amount = arguments.pop("direction"), int(arguments.pop("amount"))
        axis, sign = SCROLL_AXES[way]
        return FunctionCall("scroll_by", {**arguments, axis: str(sign * amount), "unit": "notches", **held})
    raise ReplyParseError("several_actions", f"The code holds {len(source)} actions; one is expected.")


def _split_held_keys(source: list[_Statement]) -> tuple[list[str], list[_Statement]]:
    """The keys that are held around one act, and the act; all of it where none are."""
    keys: list[str] = []
    while len(keys) < len(source) and source[len(keys)].function == "keyDown":
        keys.append(_key_name(source[len(keys)]))
    count = len(keys)
    ends = [_key_name(one) for one in source[len(source) - count :] if one.function == "keyUp"]
    if not count or len(source) <= 2 * count or ends != keys[::-1]:
        return [], source
    return keys, source[count : len(source) - count]


def _key_name(source: _Statement) -> str:
    return _argument_text(source.arguments.get("key", ""))


def _drag_path_call(source: list[_Statement]) -> FunctionCall | None:
    """A drag along several points: `moveTo`, `mouseDown`, `moveTo` …, `mouseUp`."""
    names = [one.function for one in source]
    if len(source) < 4 or names[:2] != ["moveTo", "mouseDown"] or names[-1] != "mouseUp":
        return None
    moves, buttons = [source[0], *source[2:-1]], (source[1].arguments, source[-1].arguments)
    if any(one.function != "moveTo" for one in moves) or any({"x", "y"} & raw.keys() for raw in buttons):
        return None
    button, released = (_argument_text(raw.get("button", "left")) for raw in buttons)
    if button != released:
        return None
    return FunctionCall("drag_path", {"points": "; ".join(map(_point_argument, moves)), "button": button})


def _call_without_keys(source: list[_Statement]) -> FunctionCall:
    if path := _drag_path_call(source):
        return path
    if len(source) == 2 and source[0].function == "moveTo":
        first, second = source
        if second.function == "dragTo":
            button = {"button": str(second.arguments.get("button", "left"))}
            return FunctionCall(
                "drag", {"start_point": _point_argument(first), "end_point": _point_argument(second), **button}
            )
        if not {"x", "y"} & second.arguments.keys() and (second.function in _CLICKS or "scroll" in second.function):
            return _single_call(_Statement(second.module, second.function, {**second.arguments, **first.arguments}))
    if len(source) > 1:
        raise ReplyParseError("several_actions", f"The code holds {len(source)} actions; one is expected.")
    return _single_call(source[0])


def _single_call(source: _Statement) -> FunctionCall:
    function, arguments = source.function, dict(source.arguments)
    if source.module == "tools":
        return FunctionCall(function, {name: _argument_text(value) for name, value in arguments.items()})
    if function in _CLICKS:
        return _click_call(source)
    if function == "dragTo":
        return FunctionCall(
            "drag_path", {"points": _point_argument(source), "button": _argument_text(arguments.get("button", "left"))}
        )
    if function in ("scroll", "hscroll", "vscroll"):
        return _scroll_call(source)
    if function in ("hotkey", "press"):
        return _hotkey_call(source)
    if function == "swipe":
        ends = {"start_point": arguments.get("from_coord"), "end_point": arguments.get("to_coord")}
        return FunctionCall("swipe", {name: _argument_text(value) for name, value in ends.items() if value is not None})
    if function == "terminate":
        return _terminate_call(arguments)
    if function not in _FUNCTION_NAMES:
        raise ReplyParseError("unknown_action", f"“{function[:80]}” is no action.")
    at = {"point": _point_argument(source)} if "x" in arguments and "y" in arguments else {}
    rest = {
        _ARGUMENT_NAMES.get(name, name): _argument_text(value)
        for name, value in arguments.items()
        if name not in ("x", "y")
    }
    return FunctionCall(_FUNCTION_NAMES[function], {**at, **rest})


def _point_argument(source: _Statement) -> str:
    x, y = source.arguments.get("x"), source.arguments.get("y")
    if x is None or y is None:
        raise ReplyParseError("bad_arguments", f"{source.function} needs x and y.")
    return f"{_argument_text(x)} {_argument_text(y)}"


def _click_call(source: _Statement) -> FunctionCall:
    arguments = {name: value for name, value in source.arguments.items() if name not in ("x", "y", "clicks", "button")}
    name = _CLICKS[source.function]
    button, clicks = _BUTTON_OF[name]
    if name == "click":
        button, clicks = _button_and_clicks(source)
    if ({"x", "y"} & source.arguments.keys()) and (name := _BY_CLICKS.get((clicks, button), "")):
        return FunctionCall(
            name, {"point": _point_argument(source), **{key: _argument_text(value) for key, value in arguments.items()}}
        )
    at = {"point": _point_argument(source)} if {"x", "y"} & source.arguments.keys() else {}
    more = {key: _argument_text(value) for key, value in arguments.items()}
    return FunctionCall("mouse_click", {**at, "button": button, "clicks": str(clicks), **more})


def _button_and_clicks(source: _Statement) -> tuple[str, int]:
    """The button of a click and how often it is pressed. Raises ReplyParseError."""
    clicks, button = source.arguments.get("clicks", 1), _argument_text(source.arguments.get("button", "left")).lower()
    if not isinstance(clicks, int) or not 1 <= clicks <= 3 or button not in ("left", "middle", "right"):
        raise ReplyParseError(
            "bad_value", f"No action is {_argument_text(clicks)[:20]} clicks with the button {button[:20]}."
        )
    return button, clicks


def _scroll_call(source: _Statement) -> FunctionCall:
    arguments = source.arguments
    clicks = arguments.get("clicks", 0)
    if not isinstance(clicks, int) or not clicks:
        raise ReplyParseError("bad_value", f"{source.function} needs a whole number of clicks, not 0.")
    ways = ("right", "left") if source.function == "hscroll" else ("up", "down")
    at = {"point": _point_argument(source)} if "x" in arguments or "y" in arguments else {}
    return FunctionCall("scroll", {**at, "direction": ways[clicks < 0], "amount": str(abs(clicks))})


def _hotkey_call(source: _Statement) -> FunctionCall:
    arguments = dict(source.arguments)
    raw = arguments.pop("keys", arguments.pop("key", None))
    keys = raw if isinstance(raw, list) else [] if raw is None else [raw]
    if source.function == "press" and (len(keys) > 1 or arguments.pop("presses", 1) != 1):
        raise ReplyParseError("several_actions", "press with several keys means one after the other: several actions.")
    if arguments or not keys:
        raise ReplyParseError("bad_arguments", f"{source.function} takes keys and nothing else.")
    return FunctionCall("hotkey", {"key": " ".join("plus" if key == "+" else _argument_text(key) for key in keys)})


def _terminate_call(arguments: dict[str, LiteralValue]) -> FunctionCall:
    """A success is the end, a failure says that the task cannot be done. Raises ReplyParseError for another status."""
    answer = {"content": _argument_text(arguments["answer"])} if "answer" in arguments else {}
    status = _argument_text(arguments.get("status", "success")).strip().lower()
    if status not in FUNCTION_BY_STATUS:
        raise ReplyParseError("bad_value", f"The status is success or failure, not “{status[:40]}”.")
    return FunctionCall(FUNCTION_BY_STATUS[status], answer)


def _argument_text(value: LiteralValue) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
