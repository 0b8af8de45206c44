"""The tray icon's picture for Windows, and the menu bar of macOS with a stand-in for AppKit."""

import struct
from collections.abc import Callable

import pytest

from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.macos.tray_icon import SIGNS, MacTrayIcon
from recorder.pilothouse_recorder.tray_icon import IconState, Look, MenuEntry, number_entries
from recorder.pilothouse_recorder.win32.icon_image import COLORS, SIZE, make_icon

TASKS = (MenuEntry("table", "start:table"), MenuEntry("flight", "start:flight"))
IDLE = Look(
    "idle",
    "Nothing is recorded",
    (MenuEntry("Nothing is recorded"), MenuEntry("Start", entries=TASKS), MenuEntry(""), MenuEntry("Quit", "quit")),
)


def test_what_is_below_an_entry_is_numbered_before_the_next_one() -> None:
    labels = {number: entry.label for number, entry in number_entries(IDLE.entries).items()}
    assert labels == {0: "menu", 1: "Nothing is recorded", 2: "Start", 3: "table", 4: "flight", 5: "", 6: "Quit"}


@pytest.mark.parametrize("state", COLORS)
def test_the_picture_is_an_icon_of_windows(state: IconState) -> None:
    picture = make_icon(state)
    size, width, height, planes, bits = struct.unpack_from("<IiiHH", picture)
    assert (size, width, height, planes, bits) == (40, SIZE, 2 * SIZE, 1, 32)
    assert len(picture) == 40 + SIZE * SIZE * 4 + SIZE * 4, "rows of the mask are padded to 32 bits"
    pixels = [picture[40 + 4 * place : 44 + 4 * place] for place in range(SIZE * SIZE)]
    assert set(pixels) == {bytes((*COLORS[state], 255)), bytes(4)}
    rows = [pixels[SIZE * y : SIZE * (y + 1)] for y in range(SIZE)]
    assert rows == rows[::-1]
    assert all(row == row[::-1] for row in rows)


def test_states_differ_by_shape() -> None:
    shapes = {state: bytes(make_icon(state)[43 : 40 + SIZE * SIZE * 4 : 4]) for state in COLORS}
    assert len(set(shapes.values())) == len(COLORS)


class FakeMenuBar:
    """Notes what it shows."""

    def __init__(self, choose: Callable[[int], None], *, is_there: bool = True) -> None:
        self.choose, self.is_there = choose, is_there
        self.titles: list[tuple[str, str]] = []
        self.menus: dict[int, list[tuple[object, ...]]] = {}
        self.shown = 0
        self.closed = False

    def set_title(self, title: str, help_text: str) -> None:
        self.titles.append((title, help_text))

    def make_menu(self) -> int:
        number = len(self.menus) + 1
        self.menus[number] = []
        return number

    def add_separator(self, menu: int) -> None:
        self.menus[menu].append(())

    def add_item(self, menu: int, label: str, number: int, *, enabled: bool, below: int = 0) -> None:
        self.menus[menu].append((label, number, enabled, self.menus.get(below)))

    def set_menu(self, menu: int) -> None:
        self.shown = menu

    def process(self, seconds: float) -> None:
        self.choose(4)

    def close(self) -> None:
        self.closed = True


def test_the_menu_bar_of_macos_shows_what_is_recorded_and_tells_what_was_chosen() -> None:
    bars: list[FakeMenuBar] = []
    chosen: list[str] = []

    def open_bar(choose: Callable[[int], None]) -> FakeMenuBar:
        bars.append(FakeMenuBar(choose))
        return bars[0]

    icon = MacTrayIcon("Recorder", IDLE, chosen.append, open_bar)
    bar = bars[0]
    assert bar.titles == [(SIGNS["idle"], "Recorder: Nothing is recorded")]
    assert bar.menus[bar.shown] == [
        ("Nothing is recorded", 1, False, None),
        ("Start", 2, True, [("table", 3, True, None), ("flight", 4, True, None)]),
        (),
        ("Quit", 6, True, None),
    ]
    icon.process(0)
    bar.choose(1)  # says something, does nothing
    assert chosen == ["start:flight"]
    icon.show(IDLE)
    assert len(bar.titles) == 1, "the same look changes nothing"
    icon.show(Look("recording", "Recording", (MenuEntry("Pause", "pause"),)))
    assert (bar.titles[-1][0], bar.menus[bar.shown]) == (SIGNS["recording"], [("Pause", 1, True, None)])
    icon.close()
    assert bar.closed


def test_a_full_menu_bar_is_told() -> None:
    with pytest.raises(RecorderError) as caught:
        MacTrayIcon("Recorder", IDLE, print, lambda choose: FakeMenuBar(choose, is_there=False))
    assert caught.value.code == "no_tray"
