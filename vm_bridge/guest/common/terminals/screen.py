"""A terminal's screen: a program's output rendered as a person sees it, with some scrollback."""

from collections import deque
from collections.abc import Mapping
from typing import Any

import pyte
from pyte import modes
from pyte.screens import Char

SCROLLBACK = 2_000
"""Maximum scrollback lines."""
MAX_COLUMNS, MAX_ROWS = 500, 200
ALTERNATE = {47, 1047, 1049}
"""Private modes in which a full-screen program uses the alternate screen."""
FG = {name: code for code, name in {**pyte.graphics.FG_ANSI, **pyte.graphics.FG_AIXTERM}.items()}
BG = {name: code for code, name in {**pyte.graphics.BG_ANSI, **pyte.graphics.BG_AIXTERM}.items()}
BLANK = Char(" ")

Line = dict[int, Char]


class TerminalScreen(pyte.Screen):
    """A screen with scrollback, and with the primary screen while a program uses the alternate one.

    The library supports neither, and fails on some sequences that programs really send.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.scrollback: deque[Line] = deque(maxlen=SCROLLBACK)
        self.primary_lines: dict[int, Line] | None = None
        """The primary screen's lines while a program uses the alternate screen."""
        self._primary_cursor = (0, 0)
        super().__init__(columns, rows)

    def index(self) -> None:
        top, bottom = self.margins or pyte.screens.Margins(0, self.lines - 1)
        if self.cursor.y == bottom and top == 0 and self.primary_lines is None:
            self.scrollback.append(dict(self.buffer[0]))
        super().index()

    def erase_in_display(self, how: int = 0, *args: Any, **kwargs: Any) -> None:
        if how == 3:
            self.scrollback.clear()
        super().erase_in_display(how, *args, **kwargs)

    def set_mode(self, *wanted: int, **kwargs: Any) -> None:
        if kwargs.get("private") and ALTERNATE & set(wanted) and self.primary_lines is None:
            self.primary_lines = {y: dict(line) for y, line in self.buffer.items()}
            self._primary_cursor = self.cursor.x, self.cursor.y
            self.buffer.clear()
        super().set_mode(*wanted, **kwargs)

    def reset_mode(self, *wanted: int, **kwargs: Any) -> None:
        super().reset_mode(*wanted, **kwargs)
        if kwargs.get("private") and ALTERNATE & set(wanted) and self.primary_lines is not None:
            lines, self.primary_lines = self.primary_lines, None
            self.cursor.x, self.cursor.y = self._primary_cursor
            self.buffer.clear()
            for y, line in lines.items():
                self.buffer[y].update(line)
            self.ensure_hbounds()
            self.ensure_vbounds()

    def select_graphic_rendition(self, *attributes: int, **kwargs: Any) -> None:
        if not kwargs.get("private"):  # a keyboard setting that only looks like a colour
            super().select_graphic_rendition(*attributes)

    def report_device_status(self, mode: int, **kwargs: Any) -> None:
        if not kwargs.get("private"):
            super().report_device_status(mode)


def screen_text(screen: TerminalScreen, *, most: int) -> str:
    """The screen as text, after as much scrollback as fits, at most `most` characters."""
    visible = [_line_text(screen.buffer[y], screen.columns) for y in range(screen.lines)]
    while visible and not visible[-1] and len(visible) > screen.cursor.y + 1:
        visible.pop()
    left = most - sum(len(line) + 1 for line in visible)
    earlier: list[str] = []
    for line in reversed(() if screen.primary_lines else screen.scrollback):
        text = _line_text(line, screen.columns)
        left -= len(text) + 1
        if left < 0:
            break
        earlier.append(text)
    return "\n".join([*reversed(earlier), *visible])[-most:]


def render_screen(screen: TerminalScreen) -> bytes:
    """The bytes that make another terminal show the same, with colours."""
    visible = _render_lines(screen.buffer, screen)
    if screen.primary_lines is not None:
        visible = f"{_render_lines(screen.primary_lines, screen)}\x1b[?1049h\x1b[H{visible}"
    scrollback = "".join(f"{_render_line(line, screen.columns)}\r\n" for line in screen.scrollback)
    place = f"\x1b[{screen.cursor.y + 1};{screen.cursor.x + 1}H"
    cursor = "\x1b[?25h" if modes.DECTCEM in screen.mode else "\x1b[?25l"
    return f"\x1bc{scrollback}{visible}\x1b[0m{place}{cursor}".encode()


def _render_lines(lines: Mapping[int, Line], screen: TerminalScreen) -> str:
    return "\r\n".join(_render_line(lines.get(y, {}), screen.columns) for y in range(screen.lines))


def _line_text(line: Line, columns: int) -> str:
    return "".join(line[x].data if x in line else " " for x in range(columns)).rstrip()


def _render_line(line: Line, columns: int) -> str:
    width = max((x + 1 for x, char in line.items() if x < columns and char != BLANK), default=0)
    drawn, style = [], ""
    for char in (line.get(x, BLANK) for x in range(width)):
        if (wanted := _style(char)) != style:
            drawn.append(f"\x1b[0{wanted}m")
            style = wanted
        drawn.append(char.data)
    return "".join(drawn) + ("\x1b[0m" if style else "")


def _style(char: Char) -> str:
    """The SGR parameters of a character."""
    marks = (
        ("1", char.bold),
        ("3", char.italics),
        ("4", char.underscore),
        ("7", char.reverse),
        ("9", char.strikethrough),
    )
    flags = "".join(f";{code}" for code, on in marks if on)
    return flags + _colour(char.fg, FG) + _colour(char.bg, BG)


def _colour(name: str, codes: dict[str, int]) -> str:
    if name == "default":
        return ""
    if name in codes:
        return f";{codes[name]}"
    red, green, blue = (int(name[i : i + 2], 16) for i in (0, 2, 4))
    return f";{38 if codes is FG else 48};2;{red};{green};{blue}"
