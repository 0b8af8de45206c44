"""The functions GUI models call, and the action each means, read from every grammar.

Grammars of one family differ in the names of point arguments, in how a point is written and in the grid. Reading
takes any of them; `protocol.dialects.action_writers` says what is written.

Codes of unreadable calls: `unknown_action`, `bad_arguments` (missing, unknown, twice), `bad_value`, `bad_point`,
`wrong_space` (a point that cannot be of the grid: shares of the screen, or pixels for thousandths), `off_screen`,
`bad_screen`, `unknown_key`, `several_actions` (a call that means two).
"""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from protocol.actions.inputs import MAX_NOTCHES
from protocol.actions.keys import find_key, parse_hotkey
from protocol.actions.types import (
    Action,
    CallTool,
    CallUser,
    ChooseFiles,
    Click,
    ClosePage,
    DoubleClick,
    DownloadFile,
    Drag,
    DragPath,
    EditFile,
    Finish,
    Infeasible,
    ListFiles,
    LongPress,
    MiddleClick,
    MouseClick,
    MouseDown,
    MouseUp,
    MoveTo,
    Navigate,
    NavigateBack,
    OpenApp,
    Point,
    Press,
    PressBack,
    PressHome,
    PressKeys,
    ReadFile,
    Release,
    RightClick,
    RunCode,
    RunCommand,
    Screenshot,
    Scroll,
    ScrollBy,
    Swipe,
    SwitchPage,
    TripleClick,
    TypeTerminal,
    TypeText,
    Wait,
    WriteFile,
    Zoom,
)
from protocol.dialects.coordinates import CoordinateGrid, grid_to_pixel, thousandths_grid
from protocol.dialects.dialect import ScreenSize
from protocol.dialects.function_calls import FunctionCall, ReplyParseError

_POINT_NAMES = ("point", "start_box", "start_point")
_END_NAMES = ("end_point", "end_box")
_NOT_POINT = re.compile(r"</?point>|<\|box_(?:start|end)\|>|</?bbox>|[()\[\]（）]")
_NUMBER = re.compile(r"-?(?:\d{1,9}(?:\.\d{0,20})?|\.\d{1,20})")
_KEY_LIST = re.compile(r"\[\s*(['\"])[\w+ -]+\1(?:\s*,\s*\1[\w+ -]+\1)*\s*\]")
"""Keys as a list of texts."""
STRIPPED_TOKENS_HINT = (
    " Where the server strips special tokens, points that are made of them are lost: "
    "have it send them (skip_special_tokens: false)."
)
"""How the message of a `bad_point` ends that names no number at all."""
_SECONDS = re.compile(r"(\d{1,6}(?:\.\d{1,20})?(?:e-\d{1,3})?)\s*s?")


def parse_point(text: str) -> tuple[Fraction, Fraction]:
    """The grid coordinates a text names: two numbers, or the centre of a box of four.

    Raises ReplyParseError: `bad_point` where it names none, `wrong_space` where it names a share of the screen.
    """
    words = re.split(r"[\s,，;]+", _NOT_POINT.sub(" ", text).strip())
    if len(words) not in (2, 4) or not all(map(_NUMBER.fullmatch, words)):
        hint = "" if any(character.isdigit() for character in text) else STRIPPED_TOKENS_HINT
        raise ReplyParseError(
            "bad_point", f"“{text[:80]}” is no point: two numbers, or the four of a box, are expected.{hint}"
        )
    numbers = [Fraction(int(word) if word.isdecimal() else word) for word in words]
    if "." in text and any("." in word for word in words) and all(0 <= number <= 1 for number in numbers):
        raise ReplyParseError(
            "wrong_space",
            f"“{text[:80]}” names shares of the screen from 0 to 1, which no dialect here has: whole pixels or "
            "thousandths are expected.",
        )
    if len(numbers) == 2:
        return numbers[0], numbers[1]
    return (numbers[0] + numbers[2]) / 2, (numbers[1] + numbers[3]) / 2


class ArgumentReader:
    """The arguments of one call, taken one by one; what is left over at the end is refused."""

    def __init__(self, call: FunctionCall, screen: ScreenSize, grid: CoordinateGrid) -> None:
        self._function = call.name
        self._remaining = dict(call.arguments)
        self._screen = screen
        self._grid = grid

    def take(self, *names: str) -> str | None:
        """The value of the first of these names that is given."""
        return next((self._remaining.pop(name) for name in names if name in self._remaining), None)

    def require(self, *names: str) -> str:
        """The same, refused where none is given."""
        value = self.take(*names)
        if value is None:
            raise ReplyParseError("bad_arguments", f"{self._function} needs the argument {names[0]}.")
        return value

    def point(self, *names: str) -> Point | None:
        """A pixel, where one is given."""
        text = self.take(*names)
        return None if text is None else self._pixel(text)

    def require_point(self, *names: str) -> Point:
        """A pixel, refused where none is given."""
        return self._pixel(self.require(*names))

    def points(self) -> tuple[Point, ...]:
        """Several pixels with `;` between them."""
        return tuple(self._pixel(text) for text in self.require("points").split(";"))

    def held(self) -> tuple[str, ...]:
        """The keys that are down during an act."""
        text = self.take("keys")
        return _parse_keys(text) if text and text.strip() else ()

    def seconds(self, default: float) -> float:
        """A duration; the function's own where none is given."""
        text = (self.take("time", "seconds", "duration", "timeout") or "").strip()
        if not text:
            return default
        seconds = _SECONDS.fullmatch(text)
        if seconds is None:
            raise ReplyParseError("bad_value", f"“{text[:80]}” is no number of seconds.")
        return float(seconds[1])

    def reject_unused(self) -> None:
        """Refuse what is left."""
        if self._remaining:
            raise ReplyParseError("bad_arguments", f"{self._function} takes no argument {next(iter(self._remaining))}.")

    def _pixel(self, text: str) -> Point:
        x, y = parse_point(text)
        try:
            size = self._grid(self._screen)
        except ValueError as error:
            raise ReplyParseError("bad_screen", str(error)) from None
        pixel = grid_to_pixel(x, y, self._screen, size)
        if pixel is None:
            raise self._outside(x, y, size)
        return pixel

    def _outside(self, x: Fraction, y: Fraction, size: tuple[int, int]) -> ReplyParseError:
        """Why a point is no place of the grid: pixels where thousandths are due, or off the screen in either."""
        point, (columns, rows) = f"({float(x):g}, {float(y):g})", size
        if self._grid is thousandths_grid and 0 <= x <= self._screen.width and 0 <= y <= self._screen.height:
            return ReplyParseError(
                "wrong_space",
                f"{point} looks like pixels of the screen; this dialect names points from 0 to 1000. "
                "A model that names pixels needs a dialect of pixels (ui_tars_1_5, opencua).",
            )
        return ReplyParseError("off_screen", f"{point} lies outside the screen, {columns} by {rows} here.")


def call_to_action(call: FunctionCall, screen: ScreenSize, grid: CoordinateGrid) -> Action:
    """The action a call means. Raises ReplyParseError."""
    reader = ACTION_READERS.get(call.name)
    if reader is None:
        raise ReplyParseError("unknown_action", f"“{call.name[:80]}” is no action.")
    arguments = ArgumentReader(call, screen, grid)
    try:
        action = reader(arguments)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ReplyParseError("bad_value", f"{call.name}: {where}: {first['msg']}.") from None
    arguments.reject_unused()
    return action


def call_to_actions(call: FunctionCall, screen: ScreenSize, grid: CoordinateGrid) -> tuple[Action, ...]:
    """The actions a call means, where a reply may hold several: typing at a point is a click and typing. Raises
    ReplyParseError."""
    point = {name: value for name, value in call.arguments.items() if name in _POINT_NAMES}
    if call.name != "type" or not point:
        return (call_to_action(call, screen, grid),)
    text = {name: value for name, value in call.arguments.items() if name not in point}
    parts = (FunctionCall("click", point), FunctionCall("type", text))
    return tuple(call_to_action(part, screen, grid) for part in parts)


def _point_action(action: Callable[..., Action]) -> Callable[[ArgumentReader], Action]:
    def read(arguments: ArgumentReader) -> Action:
        pixel = arguments.require_point(*_POINT_NAMES)
        return action(x=pixel.x, y=pixel.y)

    return read


def _drag(arguments: ArgumentReader) -> Action:
    start, end = arguments.require_point(*_POINT_NAMES), arguments.require_point(*_END_NAMES)
    return Drag(start=start, end=end, button=_enum_value(arguments.take("button") or "left"))


def _select(arguments: ArgumentReader) -> Action:
    start, end = arguments.require_point(*_POINT_NAMES), arguments.point(*_END_NAMES)
    return Click(x=start.x, y=start.y) if end is None else Drag(start=start, end=end)


def _scroll(arguments: ArgumentReader) -> Action:
    point, end = arguments.point(*_POINT_NAMES), arguments.point(*_END_NAMES)
    if point is not None and end is not None:
        return Swipe(start=point, end=end)
    direction = _enum_value(arguments.require("direction"))
    amount = arguments.take("amount")
    return Scroll(point=point, direction=direction, **({} if amount is None else {"amount": _notches(amount)}))


def _notches(amount: str) -> str:
    """A wheel's notches, as many as one action can hold; models that mean "to the end" name thousands."""
    text = amount.strip()
    return str(MAX_NOTCHES) if text.isdecimal() and len(text) < 10 and int(text) > MAX_NOTCHES else text


def _mouse_click(arguments: ArgumentReader) -> Action:
    return MouseClick(
        point=arguments.point(*_POINT_NAMES),
        button=_enum_value(arguments.take("button") or "left"),
        clicks=_integer(arguments.take("clicks") or "1"),
        keys=arguments.held(),
    )


def _drag_path(arguments: ArgumentReader) -> Action:
    points, button = arguments.points(), _enum_value(arguments.take("button") or "left")
    return DragPath(points=points, button=button, keys=arguments.held())


def _scroll_by(arguments: ArgumentReader) -> Action:
    return ScrollBy(
        point=arguments.point(*_POINT_NAMES),
        dx=_integer(arguments.take("dx") or "0"),
        dy=_integer(arguments.take("dy") or "0"),
        unit=_enum_value(arguments.take("unit") or "pixels"),
        keys=arguments.held(),
    )


def _integer(text: str) -> Any:
    """A whole number, which the action's own type checks."""
    return text.strip()


def _type(arguments: ArgumentReader) -> Action:
    if arguments.take(*_POINT_NAMES) is not None:
        raise ReplyParseError("several_actions", "type at a point means a click and then typing: two actions.")
    return TypeText(text=arguments.require("content", "text"))


def _hotkey(arguments: ArgumentReader) -> Action:
    return PressKeys(keys=_parse_keys(arguments.require("key", "keys")))


def _parse_keys(text: str) -> tuple[str, ...]:
    if _KEY_LIST.fullmatch(text):
        text = " ".join(part.strip(" '\"") for part in text[1:-1].split(","))
    try:
        return parse_hotkey(text)
    except ValueError as error:
        raise ReplyParseError("unknown_key", f"{error}.") from None


def _key(arguments: ArgumentReader) -> str:
    text = arguments.require("key")
    key = find_key(text)
    if key is None:
        raise ReplyParseError("unknown_key", f"unknown key {text[:80]!r}.")
    return key


def _button_action(action: Callable[..., Action]) -> Callable[[ArgumentReader], Action]:
    return lambda a: action(point=a.point(*_POINT_NAMES), button=_enum_value(a.take("button") or "left"))


def _enum_value(value: str) -> Any:
    """A word of a fixed set, which the action's own type checks."""
    return value.strip().lower()


def _command(arguments: ArgumentReader) -> Action:
    return RunCommand(
        command=arguments.require("content", "command"), timeout=arguments.seconds(RunCommand(command="").timeout)
    )


def _code(arguments: ArgumentReader) -> Action:
    return RunCode(code=arguments.require("content", "code"), timeout=arguments.seconds(RunCode(code="").timeout))


def _terminal(arguments: ArgumentReader) -> Action:
    return TypeTerminal(text=arguments.require("content", "text"), session=arguments.take("session") or "main")


def _edit(arguments: ArgumentReader) -> Action:
    return EditFile(path=arguments.require("path"), old=arguments.require("old"), new=arguments.require("new"))


def _split_names(text: str) -> tuple[str, ...]:
    """Names with `|` between them, which no name holds."""
    return tuple(name.strip() for name in text.split("|")) if text.strip() else ()


_JSON_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def _call_tool(arguments: ArgumentReader) -> Action:
    return CallTool(
        name=arguments.require("name"), arguments=_JSON_OBJECT.validate_json(arguments.take("arguments") or "{}")
    )


ACTION_READERS: dict[str, Callable[[ArgumentReader], Action]] = {
    "click": _point_action(Click),
    "left_single": _point_action(Click),
    "left_double": _point_action(DoubleClick),
    "double_click": _point_action(DoubleClick),
    "triple_click": _point_action(TripleClick),
    "right_single": _point_action(RightClick),
    "right_click": _point_action(RightClick),
    "middle_click": _point_action(MiddleClick),
    "move_to": _point_action(MoveTo),
    "hover": _point_action(MoveTo),
    "mouse_down": _button_action(MouseDown),
    "mouse_up": _button_action(MouseUp),
    "mouse_click": _mouse_click,
    "drag": _drag,
    "drag_path": _drag_path,
    "scroll_by": _scroll_by,
    "select": _select,
    "scroll": _scroll,
    "swipe": lambda a: Swipe(start=a.require_point(*_POINT_NAMES), end=a.require_point(*_END_NAMES)),
    "type": _type,
    "hotkey": _hotkey,
    "press": lambda a: Press(key=_key(a)),
    "release": lambda a: Release(key=_key(a)),
    "wait": lambda a: Wait(seconds=a.seconds(Wait().seconds)),
    "navigate": lambda a: Navigate(url=a.require("content", "url")),
    "navigate_back": lambda a: NavigateBack(),
    "switch_page": lambda a: SwitchPage(page=a.require("page", "content")),
    "close_page": lambda a: ClosePage(page=a.take("page", "content") or None),
    "choose_files": lambda a: ChooseFiles(files=_split_names(a.take("files", "content") or "")),
    "long_press": lambda a: _long_press(a.require_point(*_POINT_NAMES), a),
    "open_app": lambda a: OpenApp(name=a.require("app_name", "name")),
    "press_home": lambda a: PressHome(),
    "press_back": lambda a: PressBack(),
    "run_command": _command,
    "type_terminal": _terminal,
    "list_files": lambda a: ListFiles(path=a.take("path") or "."),
    "read_file": lambda a: ReadFile(path=a.require("path")),
    "write_file": lambda a: WriteFile(path=a.require("path"), text=a.require("content", "text")),
    "edit_file": _edit,
    "download_file": lambda a: DownloadFile(path=a.require("path")),
    "run_code": _code,
    "call_tool": _call_tool,
    "screenshot": lambda a: Screenshot(),
    "zoom": lambda a: Zoom(start=a.require_point(*_POINT_NAMES), end=a.require_point(*_END_NAMES)),
    "finished": lambda a: Finish(answer=a.take("content") or ""),
    "call_user": lambda a: CallUser(message=a.take("content", "message") or ""),
    "infeasible": lambda a: Infeasible(reason=a.take("content", "reason", "message") or ""),
}
"""What each function means, in any of the grammars; arguments are taken by name."""


def _long_press(point: Point, arguments: ArgumentReader) -> Action:
    return LongPress(x=point.x, y=point.y, seconds=arguments.seconds(1.0))
