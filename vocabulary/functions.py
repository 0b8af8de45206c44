"""The functions GUI models call, and the action each means, read from every grammar.

Grammars of one family differ in the names of point arguments, in how a point is written and in the grid. Reading
takes any of them; `vocabulary.styles` says what is written.

Codes of unreadable calls: `unknown_action`, `bad_arguments` (missing, unknown, twice), `bad_value`, `bad_point`,
`wrong_space` (a point that cannot be of the grid: shares of the screen, or pixels for thousandths), `off_screen`,
`bad_screen`, `unknown_key`, `several_actions` (a call that means two).
"""

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from pydantic import JsonValue, TypeAdapter, ValidationError

from vocabulary.actions import (
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
from vocabulary.calls import Call, Unreadable
from vocabulary.dialect import Screen
from vocabulary.grids import Grid, thousandths, to_screen
from vocabulary.inputs import MAX_NOTCHES
from vocabulary.keys import key_named, keys_named

_POINT_NAMES = ("point", "start_box", "start_point")
_END_NAMES = ("end_point", "end_box")
_NOT_POINT = re.compile(r"</?point>|<\|box_(?:start|end)\|>|</?bbox>|[()\[\]（）]")
_NUMBER = re.compile(r"-?(?:\d{1,9}(?:\.\d{0,20})?|\.\d{1,20})")
_LISTED = re.compile(r"\[\s*(['\"])[\w+ -]+\1(?:\s*,\s*\1[\w+ -]+\1)*\s*\]")
"""Keys as a list of texts."""
_STRIPPED = (
    " Where the server strips special tokens, points that are made of them are lost: "
    "have it send them (skip_special_tokens: false)."
)
_SECONDS = re.compile(r"(\d{1,6}(?:\.\d{1,20})?(?:e-\d{1,3})?)\s*s?")


def point_of(text: str) -> tuple[Fraction, Fraction]:
    """The grid coordinates a text names: two numbers, or the centre of a box of four.

    Raises Unreadable: `bad_point` where it names none, `wrong_space` where it names a share of the screen.
    """
    words = re.split(r"[\s,，;]+", _NOT_POINT.sub(" ", text).strip())
    if len(words) not in (2, 4) or not all(map(_NUMBER.fullmatch, words)):
        hint = "" if any(character.isdigit() for character in text) else _STRIPPED
        raise Unreadable(
            "bad_point", f"“{text[:80]}” is no point: two numbers, or the four of a box, are expected.{hint}"
        )
    numbers = [Fraction(word) for word in words]
    if "." in text and any("." in word for word in words) and all(0 <= number <= 1 for number in numbers):
        raise Unreadable(
            "wrong_space",
            f"“{text[:80]}” names shares of the screen from 0 to 1, which no dialect here has: whole pixels or "
            "thousandths are expected.",
        )
    return (numbers[0] + numbers[-2]) / 2, (numbers[1] + numbers[-1]) / 2


class Arguments:
    """The arguments of one call, taken one by one; what is left over at the end is refused."""

    def __init__(self, call: Call, screen: Screen, grid: Grid) -> None:
        self._function = call.name
        self._left = dict(call.arguments)
        self._screen = screen
        self._grid = grid

    def take(self, *names: str) -> str | None:
        """The value of the first of these names that is given."""
        return next((self._left.pop(name) for name in names if name in self._left), None)

    def need(self, *names: str) -> str:
        """The same, refused where none is given."""
        value = self.take(*names)
        if value is None:
            raise Unreadable("bad_arguments", f"{self._function} needs the argument {names[0]}.")
        return value

    def point(self, *names: str) -> Point | None:
        """A pixel, where one is given."""
        text = self.take(*names)
        return None if text is None else self._pixel(text)

    def need_point(self, *names: str) -> Point:
        """A pixel, refused where none is given."""
        return self._pixel(self.need(*names))

    def points(self) -> tuple[Point, ...]:
        """Several pixels with `;` between them."""
        return tuple(self._pixel(text) for text in self.need("points").split(";"))

    def held(self) -> tuple[str, ...]:
        """The keys that are down during an act."""
        text = self.take("keys")
        return _keys_of(text) if text and text.strip() else ()

    def seconds(self, default: float) -> float:
        """A duration; the function's own where none is given."""
        text = (self.take("time", "seconds", "duration", "timeout") or "").strip()
        if not text:
            return default
        seconds = _SECONDS.fullmatch(text)
        if seconds is None:
            raise Unreadable("bad_value", f"“{text[:80]}” is no number of seconds.")
        return float(seconds[1])

    def close(self) -> None:
        """Refuse what is left."""
        if self._left:
            raise Unreadable("bad_arguments", f"{self._function} takes no argument {next(iter(self._left))}.")

    def _pixel(self, text: str) -> Point:
        x, y = point_of(text)
        try:
            size = self._grid(self._screen)
        except ValueError as error:
            raise Unreadable("bad_screen", str(error)) from None
        pixel = to_screen(x, y, self._screen, size)
        if pixel is None:
            raise self._outside(x, y, size)
        return pixel

    def _outside(self, x: Fraction, y: Fraction, size: tuple[int, int]) -> Unreadable:
        """Why a point is no place of the grid: pixels where thousandths are due, or off the screen in either."""
        point, (columns, rows) = f"({float(x):g}, {float(y):g})", size
        if self._grid is thousandths and 0 <= x <= self._screen.width and 0 <= y <= self._screen.height:
            return Unreadable(
                "wrong_space",
                f"{point} looks like pixels of the screen; this dialect names points from 0 to 1000. "
                "A model that names pixels needs a dialect of pixels (ui_tars_1_5, opencua).",
            )
        return Unreadable("off_screen", f"{point} lies outside the screen, {columns} by {rows} here.")


def read_action(call: Call, screen: Screen, grid: Grid) -> Action:
    """The action a call means. Raises Unreadable."""
    reader = READERS.get(call.name)
    if reader is None:
        raise Unreadable("unknown_action", f"“{call.name[:80]}” is no action.")
    arguments = Arguments(call, screen, grid)
    try:
        action = reader(arguments)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise Unreadable("bad_value", f"{call.name}: {where}: {first['msg']}.") from None
    arguments.close()
    return action


def _at(action: Callable[..., Action]) -> Callable[[Arguments], Action]:
    def read(arguments: Arguments) -> Action:
        pixel = arguments.need_point(*_POINT_NAMES)
        return action(x=pixel.x, y=pixel.y)

    return read


def _drag(arguments: Arguments) -> Action:
    start, end = arguments.need_point(*_POINT_NAMES), arguments.need_point(*_END_NAMES)
    return Drag(start=start, end=end, button=_choice(arguments.take("button") or "left"))


def _select(arguments: Arguments) -> Action:
    start, end = arguments.need_point(*_POINT_NAMES), arguments.point(*_END_NAMES)
    return Click(x=start.x, y=start.y) if end is None else Drag(start=start, end=end)


def _scroll(arguments: Arguments) -> Action:
    point, end = arguments.point(*_POINT_NAMES), arguments.point(*_END_NAMES)
    if point is not None and end is not None:
        return Swipe(start=point, end=end)
    direction = _choice(arguments.need("direction"))
    amount = arguments.take("amount")
    return Scroll(point=point, direction=direction, **({} if amount is None else {"amount": _notches(amount)}))


def _notches(amount: str) -> str:
    """A wheel's notches, as many as one action can hold; models that mean "to the end" name thousands."""
    text = amount.strip()
    return str(MAX_NOTCHES) if text.isdecimal() and len(text) < 10 and int(text) > MAX_NOTCHES else text


def _mouse_click(arguments: Arguments) -> Action:
    return MouseClick(
        point=arguments.point(*_POINT_NAMES),
        button=_choice(arguments.take("button") or "left"),
        clicks=_whole(arguments.take("clicks") or "1"),
        keys=arguments.held(),
    )


def _drag_path(arguments: Arguments) -> Action:
    points, button = arguments.points(), _choice(arguments.take("button") or "left")
    return DragPath(points=points, button=button, keys=arguments.held())


def _scroll_by(arguments: Arguments) -> Action:
    return ScrollBy(
        point=arguments.point(*_POINT_NAMES),
        dx=_whole(arguments.take("dx") or "0"),
        dy=_whole(arguments.take("dy") or "0"),
        unit=_choice(arguments.take("unit") or "pixels"),
        keys=arguments.held(),
    )


def _whole(text: str) -> Any:
    """A whole number, which the action's own type checks."""
    return text.strip()


def _type(arguments: Arguments) -> Action:
    if arguments.take(*_POINT_NAMES) is not None:
        raise Unreadable("several_actions", "type at a point means a click and then typing: two actions.")
    return TypeText(text=arguments.need("content", "text"))


def _hotkey(arguments: Arguments) -> Action:
    return PressKeys(keys=_keys_of(arguments.need("key", "keys")))


def _keys_of(text: str) -> tuple[str, ...]:
    if _LISTED.fullmatch(text):
        text = " ".join(part.strip(" '\"") for part in text[1:-1].split(","))
    try:
        return keys_named(text)
    except ValueError as error:
        raise Unreadable("unknown_key", f"{error}.") from None


def _key(arguments: Arguments) -> str:
    text = arguments.need("key")
    key = key_named(text)
    if key is None:
        raise Unreadable("unknown_key", f"unknown key {text[:80]!r}.")
    return key


def _mouse(action: Callable[..., Action]) -> Callable[[Arguments], Action]:
    return lambda a: action(point=a.point(*_POINT_NAMES), button=_choice(a.take("button") or "left"))


def _choice(value: str) -> Any:
    """A word of a fixed set, which the action's own type checks."""
    return value.strip().lower()


def _command(arguments: Arguments) -> Action:
    return RunCommand(
        command=arguments.need("content", "command"), timeout=arguments.seconds(RunCommand(command="").timeout)
    )


def _code(arguments: Arguments) -> Action:
    return RunCode(code=arguments.need("content", "code"), timeout=arguments.seconds(RunCode(code="").timeout))


def _terminal(arguments: Arguments) -> Action:
    return TypeTerminal(text=arguments.need("content", "text"), session=arguments.take("session") or "main")


def _edit(arguments: Arguments) -> Action:
    return EditFile(path=arguments.need("path"), old=arguments.need("old"), new=arguments.need("new"))


def _names(text: str) -> tuple[str, ...]:
    """Names with `|` between them, which no name holds."""
    return tuple(name.strip() for name in text.split("|")) if text.strip() else ()


_JSON_OBJECT: TypeAdapter[dict[str, JsonValue]] = TypeAdapter(dict[str, JsonValue])


def _call_tool(arguments: Arguments) -> Action:
    return CallTool(
        name=arguments.need("name"), arguments=_JSON_OBJECT.validate_json(arguments.take("arguments") or "{}")
    )


READERS: dict[str, Callable[[Arguments], Action]] = {
    "click": _at(Click),
    "left_single": _at(Click),
    "left_double": _at(DoubleClick),
    "double_click": _at(DoubleClick),
    "triple_click": _at(TripleClick),
    "right_single": _at(RightClick),
    "right_click": _at(RightClick),
    "middle_click": _at(MiddleClick),
    "move_to": _at(MoveTo),
    "hover": _at(MoveTo),
    "mouse_down": _mouse(MouseDown),
    "mouse_up": _mouse(MouseUp),
    "mouse_click": _mouse_click,
    "drag": _drag,
    "drag_path": _drag_path,
    "scroll_by": _scroll_by,
    "select": _select,
    "scroll": _scroll,
    "swipe": lambda a: Swipe(start=a.need_point(*_POINT_NAMES), end=a.need_point(*_END_NAMES)),
    "type": _type,
    "hotkey": _hotkey,
    "press": lambda a: Press(key=_key(a)),
    "release": lambda a: Release(key=_key(a)),
    "wait": lambda a: Wait(seconds=a.seconds(Wait().seconds)),
    "navigate": lambda a: Navigate(url=a.need("content", "url")),
    "navigate_back": lambda a: NavigateBack(),
    "switch_page": lambda a: SwitchPage(page=a.need("page", "content")),
    "close_page": lambda a: ClosePage(page=a.take("page", "content") or None),
    "choose_files": lambda a: ChooseFiles(files=_names(a.take("files", "content") or "")),
    "long_press": lambda a: _long_press(a.need_point(*_POINT_NAMES), a),
    "open_app": lambda a: OpenApp(name=a.need("app_name", "name")),
    "press_home": lambda a: PressHome(),
    "press_back": lambda a: PressBack(),
    "run_command": _command,
    "type_terminal": _terminal,
    "list_files": lambda a: ListFiles(path=a.take("path") or "."),
    "read_file": lambda a: ReadFile(path=a.need("path")),
    "write_file": lambda a: WriteFile(path=a.need("path"), text=a.need("content", "text")),
    "edit_file": _edit,
    "download_file": lambda a: DownloadFile(path=a.need("path")),
    "run_code": _code,
    "call_tool": _call_tool,
    "screenshot": lambda a: Screenshot(),
    "zoom": lambda a: Zoom(start=a.need_point(*_POINT_NAMES), end=a.need_point(*_END_NAMES)),
    "finished": lambda a: Finish(answer=a.take("content") or ""),
    "call_user": lambda a: CallUser(message=a.take("content", "message") or ""),
    "infeasible": lambda a: Infeasible(reason=a.take("content", "reason", "message") or ""),
}
"""What each function means, in any of the grammars; arguments are taken by name."""


def _long_press(point: Point, arguments: Arguments) -> Action:
    return LongPress(x=point.x, y=point.y, seconds=arguments.seconds(1.0))
