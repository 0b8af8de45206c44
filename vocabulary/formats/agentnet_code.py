"""AgentNet's code read: calls of pyautogui with coordinates as shares of the screen, taken apart and never run.

A `dragTo` or a click that names no place of its own begins where the acts before left the pointer.
"""

import ast
import math
import warnings
from collections.abc import Iterator, Sequence

from vocabulary.actions import Action, Drag, DragPath, MouseClick, Point, ScrollBy, points_of
from vocabulary.calls import Unreadable
from vocabulary.code_calls import call_of_code
from vocabulary.dialect import Screen
from vocabulary.formats.normalised import COORDINATES, FINE
from vocabulary.formats.record import RowRefused
from vocabulary.functions import read_action

MOST_NOTCHES = 100
"""Of the wheel in one scroll. Recorders count in units of their own; what is more goes as far as one scroll can."""
MOST_PRESSES = 1_000
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


def actions_of(code: str, screen: Screen, pointer: Point | None) -> Iterator[Action]:
    """The acts of a step's code, in order; `pointer` is where the acts before left it. Raises RowRefused."""
    try:
        calls = list(_calls(code))
        if whole := _whole(calls, screen):
            yield whole
            return
        while calls:
            call = calls.pop(0)
            if _name(call) == "moveTo" and calls and _is_placeless(calls[0]):
                action = _read(screen, FINE, FINE, call, calls.pop(0))
            elif _name(call) == "dragTo":
                action = _dragged(call, screen, pointer)
            elif _name(call) in CLICKS and _is_placeless(call) and pointer is not None:
                call.keywords += [ast.keyword("x", ast.Constant(pointer.x)), ast.keyword("y", ast.Constant(pointer.y))]
                action = _read(screen, screen.width, screen.height, call)
            else:
                action = _read(screen, FINE, FINE, call)
            for point in points_of(action):
                pointer = point
            yield action
    except Unreadable as unreadable:
        raise RowRefused("code_unreadable", str(unreadable)) from None


def _whole(calls: Sequence[ast.Call], screen: Screen) -> Action | None:
    """The one act that several calls are: one with keys held, or a drag along a path; None where they are more."""
    if len(calls) < 3 or _name(calls[0]) not in ("keyDown", "moveTo"):
        return None
    try:
        action = _read(screen, FINE, FINE, *calls)
    except Unreadable:
        return None
    return action if isinstance(action, MouseClick | DragPath | ScrollBy) else None


def _read(screen: Screen, columns: int, rows: int, *calls: ast.Call) -> Action:
    text = "\n".join(ast.unparse(ast.fix_missing_locations(call)) for call in calls)
    return read_action(call_of_code(text), screen, lambda _screen: (columns, rows))


def _dragged(call: ast.Call, screen: Screen, pointer: Point | None) -> Action:
    """A drag from where the pointer is, whether an act before says where that is or not."""
    if pointer is None:
        return _read(screen, FINE, FINE, call)
    start = ast.Call(ast.Name("moveTo"), [], [ast.keyword("x", ast.Constant(0)), ast.keyword("y", ast.Constant(0))])
    drag = _read(screen, FINE, FINE, start, call)
    return drag.model_copy(update={"start": pointer}) if isinstance(drag, Drag) else drag


def _calls(code: str) -> Iterator[ast.Call]:
    """The calls of a code, each one act, with coordinates in parts of `FINE`. Raises Unreadable."""
    statements = [node for node in _parsed(code).body if not isinstance(node, ast.Import | ast.ImportFrom)]
    if not statements:
        raise Unreadable("no_action", "the code does nothing.")
    for node in statements:
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
            raise Unreadable("unknown_action", "the code is more than plain calls; it is read, and never run.")
        call = node.value
        if not _is_of_tools(call):
            _scale(call)
        if _name(call) == "press":
            yield from _presses(call)
        elif _name(call) not in SCROLLS or _scroll_fit(call):
            yield call


def _parsed(code: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash too many is not worth a warning
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        raise Unreadable("unfinished_call", "the code is no Python.") from None


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_of_tools(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "tools"


def _is_placeless(call: ast.Call) -> bool:
    """Whether it takes place where the pointer is brought before it."""
    name = _name(call)
    if name == "dragTo":
        return True
    if any(keyword.arg in COORDINATES for keyword in call.keywords):
        return False
    return (name in CLICKS and not call.args) or (name in SCROLLS and len(call.args) < 2)


def _scale(call: ast.Call) -> None:
    """Let shares of the screen, by name or by position, be parts of `FINE`."""
    name = _name(call)
    for keyword in call.keywords:
        if keyword.arg in COORDINATES:
            keyword.value = _scaled(keyword.value)
    if name in TEXTS:
        return
    first = 1 if name in SCROLLS else 0
    point = call.args[first] if len(call.args) > first else None
    if name != "swipe" and isinstance(point, ast.Tuple | ast.List):
        call.args[first : first + 1] = point.elts
    call.args[first : first + 2] = map(_scaled, call.args[first : first + 2])
    if name in ("moveTo", "dragTo"):  # then come a duration, a tween and a button
        call.keywords += [ast.keyword("button", button) for button in call.args[4:5]]
        del call.args[2:]


def _scaled(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Tuple | ast.List):
        return ast.List([_scaled(each) for each in node.elts])
    number = _number(node)
    return node if number is None else ast.Constant(round(number * FINE))


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


def _scroll_fit(call: ast.Call) -> bool:
    """Let the amount be whole and within what one scroll can do; whether anything is scrolled at all."""
    amount = _number(_argument(call, "clicks", 0))
    if amount is None:
        return True  # it is refused where it is read
    notches = min(math.ceil(abs(amount)), MOST_NOTCHES)
    point = call.args[1:] if call.args else []
    rest = [keyword for keyword in call.keywords if keyword.arg != "clicks"]
    call.args, call.keywords = [ast.Constant(notches if amount > 0 else -notches), *point], rest
    return notches > 0


def _presses(call: ast.Call) -> Iterator[ast.Call]:
    """A press of several keys, or of one several times, as one call a key. Raises Unreadable."""
    keys = _argument(call, "keys", 0) or _argument(call, "key", 0)
    presses = _number(_argument(call, "presses", 1) or ast.Constant(1))
    if keys is None or presses is None or presses != int(presses):
        raise Unreadable("bad_arguments", "press takes keys, and how often as a whole number.")
    each = keys.elts if isinstance(keys, ast.List | ast.Tuple) else [keys]
    if not 1 <= len(each) * presses <= MOST_PRESSES:
        raise Unreadable("bad_value", f"press takes 1 to {MOST_PRESSES} keys at a time.")
    for _ in range(int(presses)):
        yield from (ast.Call(call.func, [key], []) for key in each)
