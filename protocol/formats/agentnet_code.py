"""AgentNet's code: calls of pyautogui with coordinates as shares of the screen, written and taken apart, and never run.

A `dragTo` or a click that names no point of its own begins where the actions before left the pointer."""

import ast
import math
import warnings
from collections.abc import Iterator, Sequence

from protocol.actions.types import Action, Drag, DragPath, MouseClick, Point, ScrollBy, action_points
from protocol.dialects.action_readers import call_to_action
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.function_calls import ReplyParseError
from protocol.dialects.python_calls import parse_python_call
from protocol.formats.records import RowError

COORDINATE_SCALE = 10_000
"""Four decimals."""
COORDINATES = ("x", "y", "from_coord", "to_coord")


class _CoordinateScaler(ast.NodeTransformer):
    """Named coordinates in parts of `COORDINATE_SCALE` as shares of the screen; nothing else is touched."""

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        if node.arg in COORDINATES:
            node.value = _NumberScaler().visit(node.value)
        return node


class _NumberScaler(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            return ast.Constant(round(node.value / COORDINATE_SCALE, 4))
        return node


def scale_coordinates(code: str) -> str:
    """Code with its coordinates as shares of the screen. Raises SyntaxError."""
    return ast.unparse(ast.fix_missing_locations(_CoordinateScaler().visit(ast.parse(code))))


MAX_SCROLL_NOTCHES = 100
"""Of the wheel in one scroll. Recorders count in units of their own; what is more goes as far as one scroll can."""
MAX_PRESSES = 1_000
"""Of keys in one call."""
CLICKS = ("click", "leftClick", "rightClick", "middleClick", "doubleClick", "tripleClick", "triple_click")
SCROLLS = ("scroll", "hscroll", "vscroll")
TEXTS = frozenset(
    (
        *("write", "typewrite", "press", "hotkey", "keyDown", "keyUp", "sleep", "wait", "navigate", "answer"),
        *("call_user", "terminate", "open_app", "select_option", "clear"),
    )
)
"""Functions whose positional arguments are no coordinates."""


def parse_actions(code: str, screen: ScreenSize, pointer: Point | None) -> Iterator[Action]:
    """The acts of a step's code, in order; `pointer` is where the acts before left it. Raises RowError."""
    try:
        calls = list(_parse_calls(code))
        if whole := _merge_calls(calls, screen):
            yield whole
            return
        while calls:
            call = calls.pop(0)
            if _name(call) == "moveTo" and calls and _uses_pointer_position(calls[0]):
                action = _read(screen, COORDINATE_SCALE, COORDINATE_SCALE, call, calls.pop(0))
            elif _name(call) == "dragTo":
                action = _drag_from_pointer(call, screen, pointer)
            elif _name(call) in CLICKS and _uses_pointer_position(call) and pointer is not None:
                call.keywords += [ast.keyword("x", ast.Constant(pointer.x)), ast.keyword("y", ast.Constant(pointer.y))]
                action = _read(screen, screen.width, screen.height, call)
            else:
                action = _read(screen, COORDINATE_SCALE, COORDINATE_SCALE, call)
            for point in action_points(action):
                pointer = point
            yield action
    except ReplyParseError as parse_error:
        raise RowError("code_unreadable", str(parse_error)) from None


def _merge_calls(calls: Sequence[ast.Call], screen: ScreenSize) -> Action | None:
    """The one act that several calls are: one with keys held, or a drag along a path; None where they are more."""
    if len(calls) < 3 or _name(calls[0]) not in ("keyDown", "moveTo"):
        return None
    try:
        action = _read(screen, COORDINATE_SCALE, COORDINATE_SCALE, *calls)
    except ReplyParseError:
        return None
    return action if isinstance(action, MouseClick | DragPath | ScrollBy) else None


def _read(screen: ScreenSize, columns: int, rows: int, *calls: ast.Call) -> Action:
    text = "\n".join(ast.unparse(ast.fix_missing_locations(call)) for call in calls)
    return call_to_action(parse_python_call(text), screen, lambda _screen: (columns, rows))


def _drag_from_pointer(call: ast.Call, screen: ScreenSize, pointer: Point | None) -> Action:
    """A drag from where the pointer is, whether an act before says where that is or not."""
    if pointer is None:
        return _read(screen, COORDINATE_SCALE, COORDINATE_SCALE, call)
    start = ast.Call(ast.Name("moveTo"), [], [ast.keyword("x", ast.Constant(0)), ast.keyword("y", ast.Constant(0))])
    drag = _read(screen, COORDINATE_SCALE, COORDINATE_SCALE, start, call)
    return drag.model_copy(update={"start": pointer}) if isinstance(drag, Drag) else drag


def _parse_calls(code: str) -> Iterator[ast.Call]:
    """The calls of a code, each one act, with coordinates in parts of `COORDINATE_SCALE`. Raises ReplyParseError."""
    statements = [node for node in _parse_module(code).body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if not statements:
        raise ReplyParseError("no_action", "the code does nothing.")
    for node in statements:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            raise ReplyParseError("unknown_action", "the code is more than plain calls; it is read, and never run.")
        call = node.value
        if not _is_tool_call(call):
            _scale(call)
        if _name(call) == "press":
            yield from _split_presses(call)
        elif _name(call) not in SCROLLS or _clamp_scroll(call):
            yield call


def _parse_module(code: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash too many is not worth a warning
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        raise ReplyParseError("unfinished_call", "the code is no Python.") from None


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_tool_call(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "tools"


def _uses_pointer_position(call: ast.Call) -> bool:
    """Whether it takes place where the pointer is brought before it."""
    name = _name(call)
    if name == "dragTo":
        return True
    if any(keyword.arg in COORDINATES for keyword in call.keywords):
        return False
    return (name in CLICKS and not call.args) or (name in SCROLLS and len(call.args) < 2)


def _scale(call: ast.Call) -> None:
    """Let shares of the screen, by name or by position, be parts of `COORDINATE_SCALE`."""
    name = _name(call)
    for keyword in call.keywords:
        if keyword.arg in COORDINATES:
            keyword.value = _scale_number(keyword.value)
    if name in TEXTS:
        return
    first = 1 if name in SCROLLS else 0
    point = call.args[first] if len(call.args) > first else None
    if name != "swipe" and isinstance(point, ast.Tuple | ast.List):
        call.args[first : first + 1] = point.elts
    call.args[first : first + 2] = map(_scale_number, call.args[first : first + 2])
    if name in ("moveTo", "dragTo"):  # then come a duration, a tween and a button
        call.keywords += [ast.keyword("button", button) for button in call.args[4:5]]
        del call.args[2:]


def _scale_number(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Tuple | ast.List):
        return ast.List([_scale_number(each) for each in node.elts])
    number = _number(node)
    return node if number is None else ast.Constant(round(number * COORDINATE_SCALE))


def _number(node: ast.expr | None) -> float | None:
    """A finite number that is written here, if one is."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        sign, node = (-1 if isinstance(node.op, ast.USub) else 1), node.operand
    value = node.value if isinstance(node, ast.Constant) else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return sign * float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    """An argument by its name or its place."""
    named = next((keyword.value for keyword in call.keywords if keyword.arg == name), None)
    return named or next(iter(call.args[place : place + 1]), None)


def _clamp_scroll(call: ast.Call) -> bool:
    """Let the amount be whole and within what one scroll can do; whether anything is scrolled at all."""
    amount = _number(_argument(call, "clicks", 0))
    if amount is None:
        return True  # it is refused where it is read
    notches = min(math.ceil(abs(amount)), MAX_SCROLL_NOTCHES)
    point = call.args[1:] if call.args else []
    rest = [keyword for keyword in call.keywords if keyword.arg != "clicks"]
    call.args, call.keywords = [ast.Constant(notches if amount > 0 else -notches), *point], rest
    return notches > 0


def _split_presses(call: ast.Call) -> Iterator[ast.Call]:
    """A press of several keys, or of one several times, as one call a key. Raises ReplyParseError."""
    keys = _argument(call, "keys", 0) or _argument(call, "key", 0)
    presses = _number(_argument(call, "presses", 1) or ast.Constant(1))
    if keys is None or presses is None or presses != int(presses):
        raise ReplyParseError("bad_arguments", "press takes keys, and how often as a whole number.")
    each = keys.elts if isinstance(keys, ast.List | ast.Tuple) else [keys]
    if not 1 <= len(each) * presses <= MAX_PRESSES:
        raise ReplyParseError("bad_value", f"press takes 1 to {MAX_PRESSES} keys at a time.")
    for _ in range(int(presses)):
        yield from (ast.Call(call.func, [key], []) for key in each)
