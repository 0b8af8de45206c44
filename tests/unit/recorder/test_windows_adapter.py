"""The adapter for Windows, with recorded structures of its hooks in place of Windows."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import pytest

from recorder.pilothouse_recorder.clocks import MS, SECOND, WRAP, Instant, now_ns
from recorder.pilothouse_recorder.desktop import Input
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.exclusions import ExclusionRules, is_excluded
from recorder.pilothouse_recorder.own_window import WINDOW_PID
from recorder.pilothouse_recorder.win32.calls import OBJECT_SHOW, ElementRecord, HookRecord, Rectangle, WindowRecord
from recorder.pilothouse_recorder.win32.desktop import WindowsDesktop
from recorder.pilothouse_recorder.win32.translation import InputTranslator
from tests.waiting import wait_until

DOWN, UP, SYSTEM_DOWN = 0x100, 0x101, 0x104
SHIFT, CONTROL, ALT_GR, WINDOWS, PACKET = 0xA0, 0xA2, 0xA5, 0x5B, 0xE7
LAYOUT = {"Q": "q", "E": "e", "F": "f", "1": "1"}
SHIFTED = {"Q": "Q", "E": "E", "F": "F", "1": "!"}
ACUTE, NOT_DEAD = 0xDE, False
LATER = 2**62
"""A receipt that narrows no time."""


def key(message: int, code: int, tick: int = 0, scan: int = 0, received: int = LATER) -> HookRecord:
    """A KBDLLHOOKSTRUCT as 64-bit Windows lays it out."""
    return HookRecord(message, struct.pack("<IIIIQ", code, scan, 0, tick, 0), received)


def mouse(message: int, x: int, y: int, data: int = 0, tick: int = 0, received: int = LATER) -> HookRecord:
    """An MSLLHOOKSTRUCT as 64-bit Windows lays it out."""
    return HookRecord(message, struct.pack("<iiIIIIQ", x, y, data, 0, tick, 0, 0), received)


def key_text(code: int, scan: int, state: bytes) -> tuple[str, bool]:
    """A German keyboard's few keys: AltGr writes a euro sign with E, and one key is a dead acute accent."""
    if code == ACUTE:
        return "´", True
    char = chr(code)
    if state[0x11] and state[0x12]:
        return ("€" if char == "E" else ""), NOT_DEAD
    if state[0x11]:
        return chr(code & 0x1F), NOT_DEAD
    upper = bool(state[0x10] & 0x80) != bool(state[0x14] & 1 and char.isalpha())
    return (SHIFTED if upper else LAYOUT).get(char, ""), NOT_DEAD


def translator(locks: frozenset[int] = frozenset()) -> InputTranslator:
    return InputTranslator(key_text, lambda x, y: (x, y), lambda tick: Instant(tick * MS, 8 * MS), locks)


def events(*records: HookRecord, locks: frozenset[int] = frozenset()) -> list[Event]:
    one = translator(locks)
    return [found.event for record in records for found in one.translate(record) if found.event is not None]


def texts(*records: HookRecord, locks: frozenset[int] = frozenset()) -> str:
    return "".join(one.data.get("text", "") for one in events(*records, locks=locks))


def press(*codes: int) -> list[HookRecord]:
    return [*(key(DOWN, code) for code in codes), *(key(UP, code) for code in reversed(codes))]


def test_keys_are_named_as_in_the_vocabulary_and_write_what_the_layout_says() -> None:
    found = events(*press(ord("Q")), key(DOWN, 0x25, 7), key(SYSTEM_DOWN, 0x73))
    assert [(one.kind, one.data["key"], one.data.get("text")) for one in found] == [
        ("key.down", "q", "q"),
        ("key.up", "q", None),
        ("key.down", "left", ""),
        ("key.down", "f4", ""),
    ]
    assert (found[0].data["keysym"], found[2].data["keysym"], found[2].t_ns) == (ord("q"), 0xFF51, 7 * MS)


def test_shift_caps_lock_alt_gr_and_dead_keys_choose_the_character() -> None:
    assert texts(*press(SHIFT, ord("Q")), *press(SHIFT, ord("1"))) == "Q!"
    assert texts(*press(0x14), *press(ord("Q")), *press(0x14), *press(ord("Q"))) == "Qq"
    assert texts(*press(ord("Q")), locks=frozenset({0x14})) == "Q"
    (euro,) = [one for one in events(*press(CONTROL, ALT_GR, ord("E"))) if one.data.get("text")]
    assert (euro.data["text"], euro.data["modifiers"], euro.data["key"]) == ("€", [], "e")
    assert texts(*press(ACUTE), *press(ord("E"))) == "é"
    assert texts(key(DOWN, PACKET, scan=ord("日"))) == "日"


def test_the_receipt_narrows_the_time_of_an_input() -> None:
    (pressed,) = events(key(DOWN, ord("Q"), tick=100, received=96 * MS))
    assert (pressed.t_ns, pressed.t_error_ns) == (94 * MS, 2 * MS)
    (odd,) = events(key(DOWN, ord("Q"), tick=100, received=50 * MS))
    assert (odd.t_ns, odd.t_error_ns) == (100 * MS, 8 * MS)


def test_a_command_writes_nothing_of_its_control_character() -> None:
    found = events(*press(CONTROL, ord("Q")))
    assert (found[1].data["key"], found[1].data["text"], found[1].data["modifiers"]) == ("q", "q", ["ctrl"])


def test_hotkeys_need_all_their_keys() -> None:
    one = translator()
    assert [found.hotkey for record in press(CONTROL, SHIFT, ord("F")) for found in one.translate(record)] == [None] * 6
    found = [each.hotkey for record in press(CONTROL, SHIFT, WINDOWS, ord("F")) for each in one.translate(record)]
    assert found == [None, None, None, "forget", None, None, None, None]


def test_buttons_have_the_numbers_of_x11() -> None:
    messages = [(0x201, 0), (0x202, 0), (0x204, 0), (0x207, 0), (0x20B, 1 << 16), (0x20C, 2 << 16), (0x200, 0)]
    found = events(*(mouse(message, 3, 4, data) for message, data in messages))
    assert [(one.kind, one.data.get("button")) for one in found] == [
        ("pointer.down", 1),
        ("pointer.up", 1),
        ("pointer.down", 3),
        ("pointer.down", 2),
        ("pointer.down", 8),
        ("pointer.up", 9),
        ("pointer.move", None),
    ]
    assert (found[0].data["x"], found[0].data["y"]) == (3, 4)
    assert not events(mouse(0x2FF, 0, 0))


def test_a_wheel_turns_by_whole_notches() -> None:
    down = 0x10000 - 120
    found = events(
        mouse(0x20A, 0, 0, 240 << 16), mouse(0x20A, 0, 0, down << 16), mouse(0x20E, 0, 0, 120 << 16),
        *[mouse(0x20A, 0, 0, 40 << 16)] * 5,
    )  # fmt: skip
    assert [(one.data["dx"], one.data["dy"]) for one in found] == [(0, -1), (0, -1), (0, 1), (1, 0), (0, -1)]


@dataclass
class FakeWindows:
    """Windows with two monitors: the second stands to the left of the first and is scaled to 150 %."""

    rectangle: Rectangle = (-2560, -200, 1920, 1240)
    tops: list[WindowRecord] = field(default_factory=list)
    records: list[HookRecord] = field(default_factory=list)
    shown: list[tuple[int, int]] = field(default_factory=list)
    tick: int = 1_000
    front: int = 0
    alive: bool = True
    focused: ElementRecord | None = None
    asked: list[tuple[int, int]] = field(default_factory=list)

    def take_hook_records(self) -> list[HookRecord]:
        taken, self.records = self.records, []
        return taken

    def hooks_alive(self) -> bool:
        return self.alive

    def take_window_events(self) -> list[tuple[int, int]]:
        taken, self.shown = self.shown, []
        return taken

    def tick_count(self) -> int:
        return self.tick

    def toggled(self, key: int) -> bool:
        return False

    def key_text(self, key: int, scan: int, state: bytes) -> tuple[str, bool]:
        return key_text(key, scan, state)

    def screen(self) -> Rectangle:
        return self.rectangle

    def windows(self) -> Sequence[WindowRecord]:
        return self.tops

    def foreground(self) -> int:
        return self.front

    def copy_screen(self, screen: Rectangle) -> memoryview | None:
        left, top, right, bottom = screen
        return memoryview(bytes(4 * (right - left) * (bottom - top)))

    def suspended_ns(self) -> int:
        return 5

    def element_at(self, x: int, y: int) -> ElementRecord | None:
        self.asked.append((x, y))
        return ElementRecord(50_000, "Save", is_password=False, rectangle=(x - 10, y - 5, x + 10, y + 5))

    def focused_element(self) -> ElementRecord | None:
        return self.focused

    def close(self) -> None: ...


EDITOR = WindowRecord(1, 10, "Notepad.exe", "Notepad", "notes.txt", visible=True, rectangle=(0, 0, 800, 600))
VAULT = WindowRecord(2, 20, "KeePassXC.exe", "Qt5QWindow", "Vault", visible=True, rectangle=(-2000, 0, -1000, 500))
Open = Callable[[FakeWindows], WindowsDesktop]


@pytest.fixture
def opened() -> Open:
    return WindowsDesktop


def taken(desktop: WindowsDesktop) -> list[Input]:
    return desktop.take_inputs()


def test_points_of_a_monitor_left_of_the_first_are_pixels_of_the_picture(opened: Open) -> None:
    system = FakeWindows(records=[mouse(0x200, -2560, -200), mouse(0x200, 0, 0), mouse(0x200, 1919, 1239)])
    desktop = opened(system)
    points = [(one.event.data["x"], one.event.data["y"]) for one in taken(desktop) if one.event is not None]
    assert points == [(0, 0), (2560, 200), (4479, 1439)]
    picture = desktop.grab()
    assert picture is not None
    assert (picture.width, picture.height) == desktop.size == (4480, 1440)
    system.rectangle = (0, 0, 1920, 1080)
    desktop.sync()
    assert desktop.size == (1920, 1080)
    desktop.close()


def test_the_tick_count_wraps_and_times_go_on(opened: Open) -> None:
    system = FakeWindows(tick=WRAP - 20)
    desktop = opened(system)
    system.records = [mouse(0x200, 0, 0, tick=(WRAP - 20 + step) % WRAP) for step in (0, 15, 31, 47)]
    times = [one.event.t_ns for one in taken(desktop) if one.event is not None]
    assert [later - earlier for earlier, later in pairwise(times)] == [15 * MS, 16 * MS, 16 * MS]
    assert desktop.time_error_ns >= 8 * MS
    desktop.close()


def test_the_step_of_the_tick_count_narrows_the_error(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    system, true_ns = FakeWindows(), [50 * SECOND]

    def now() -> int:
        true_ns[0] += MS // 4
        return true_ns[0]

    monkeypatch.setattr("recorder.pilothouse_recorder.win32.desktop.now_ns", now)
    for step_ms, error_ns in ((16, 10 * MS), (1, 2 * MS)):
        monkeypatch.setattr(system, "tick_count", lambda step=step_ms: true_ns[0] // (step * MS) * step)
        desktop = opened(system)
        assert desktop.time_error_ns <= error_ns
        desktop.close()


def test_an_excluded_window_counts_on_every_monitor_without_the_focus(opened: Open) -> None:
    system = FakeWindows(tops=[EDITOR, VAULT], front=1)
    desktop = opened(system)
    assert desktop.application == "notepad"
    assert is_excluded(desktop.windows, ExclusionRules())
    system.tops = [EDITOR, replace(VAULT, visible=False)]
    desktop.sync()
    assert not is_excluded(desktop.windows, ExclusionRules())
    prompt = WindowRecord(3, 30, "CredentialUIBroker.exe", "Credential Dialog Xaml Host", "", True, (0, 0, 9, 9))
    system.tops = [EDITOR, prompt]
    desktop.sync()
    assert is_excluded(desktop.windows, ExclusionRules())
    desktop.close()


def test_a_window_that_came_and_went_between_two_looks_is_a_flash(opened: Open) -> None:
    system = FakeWindows(tops=[EDITOR], shown=[(OBJECT_SHOW, 1)])
    desktop = opened(system)
    assert (desktop.changes, desktop.flashes) == (1, 0)
    system.shown = [(OBJECT_SHOW, 2)]
    desktop.sync()
    assert (desktop.changes, desktop.flashes) == (2, 1)
    desktop.close()


def test_the_recorders_own_window_is_known_by_its_process(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WINDOW_PID, "40")
    own = WindowRecord(4, 40, "python.exe", "TkTopLevel", "Recorder", visible=True, rectangle=(100, 100, 200, 200))
    system = FakeWindows(tops=[own, EDITOR], front=1)
    desktop = opened(system)
    origin = (2560, 200)
    own_key, other_key = key(0x100, 0x41), key(0x100, 0x42)
    system.records = [replace(own_key, foreground=4), replace(other_key, foreground=1), mouse(0x200, 1, 1)]
    assert [one.own for one in desktop.take_inputs()] == [True, False, False]
    assert desktop.is_own_at(origin[0] + 150, origin[1] + 150)
    assert not desktop.is_own_at(origin[0] + 50, origin[1] + 50)
    desktop.close()


def test_elements_have_roles_and_places_of_the_picture(opened: Open) -> None:
    system = FakeWindows(tops=[EDITOR])
    desktop = opened(system)
    system.records = [mouse(0x201, 40, 50)]
    (press,) = [replace(one.event, t_ns=now_ns()) for one in taken(desktop) if one.event is not None]
    desktop.describe_element(press)
    wait_until(lambda: "element" in press.data)
    assert system.asked == [(40, 50)]
    element = press.data["element"]
    assert (element["role"], element["name"], element["bounds"]) == ("button", "Save", [2590, 245, 20, 10])
    desktop.close()


def test_a_password_field_with_the_focus_is_known(opened: Open) -> None:
    system = FakeWindows()
    desktop = opened(system)
    assert not desktop.asks_for_password()
    system.focused = ElementRecord(50_004, "Password", is_password=True, rectangle=(0, 0, 1, 1))
    wait_until(desktop.asks_for_password)
    system.focused = None
    wait_until(lambda: not desktop.asks_for_password())
    desktop.close()


def test_hooks_that_ended_are_told(opened: Open) -> None:
    system = FakeWindows(records=[mouse(0x200, 0, 0)], alive=False)
    desktop = opened(system)
    assert len(taken(desktop)) == 1
    with pytest.raises(RecorderError, match="no input"):
        taken(desktop)
    desktop.close()
