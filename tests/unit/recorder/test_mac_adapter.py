"""The adapter for macOS, with recorded values in place of macOS."""

import plistlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from recorder.pilothouse_recorder.clocks import MS, SECOND
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.events import Event
from recorder.pilothouse_recorder.exclusions import ExclusionRules, is_excluded
from recorder.pilothouse_recorder.layout import Layout, Monitor
from recorder.pilothouse_recorder.macos.calls import DisplayPicture, ElementRecord, TapRecord
from recorder.pilothouse_recorder.macos.desktop import AccessibilityFinder, MacDesktop
from recorder.pilothouse_recorder.macos.pictures import compose
from recorder.pilothouse_recorder.macos.translation import InputTranslator, event_time
from recorder.pilothouse_recorder.own_window import WINDOW_PID

KEY_DOWN, KEY_UP, FLAGS = 10, 11, 12
SHIFT, CONTROL, OPTION, COMMAND = 0x20000, 0x40000, 0x80000, 0x100000
NOW = 50 * SECOND
APPLE_TICKS = (125, 3)
RETINA, PLAIN = Monitor(0, 0, 1440, 900, 2.0), Monitor(-1920, -100, 1920, 1080, 1.0)


def record(kind: int, **fields: Any) -> TapRecord:
    return TapRecord(**{"type": kind, "timestamp": NOW, "received_ns": NOW, "flags": 0, "x": 1.0, "y": 2.0, **fields})


def events(*records: TapRecord) -> list[Event]:
    translator = InputTranslator(lambda x, y: (int(x), int(y)), lambda one: event_time(one, 1, 1))
    return [found.event for one in records for found in translator.translate(one) if found.event is not None]


def test_keys_are_named_as_in_the_vocabulary() -> None:
    found = events(
        record(KEY_DOWN, keycode=0, text="a"),
        record(KEY_UP, keycode=0, text="a"),
        record(KEY_DOWN, keycode=123, text="\uf702"),
        record(KEY_DOWN, keycode=36, text="\r"),
        record(FLAGS, keycode=56, flags=SHIFT),
        record(FLAGS, keycode=56),
        record(KEY_DOWN, keycode=1, text="s", flags=COMMAND),
        record(KEY_DOWN, keycode=8, text="\x03", flags=CONTROL),
    )
    assert [(one.kind, one.data["key"], one.data.get("text")) for one in found] == [
        ("key.down", "a", "a"),
        ("key.up", "a", None),
        ("key.down", "left", ""),
        ("key.down", "enter", ""),
        ("key.down", "shift", ""),
        ("key.up", "shift", None),
        ("key.down", "s", "s"),
        ("key.down", "c", ""),
    ]
    assert (found[2].data["keysym"], found[6].data["modifiers"]) == (0xFF51, ["super"])


def test_option_chooses_a_character_and_is_no_command_then() -> None:
    (typed,) = events(record(KEY_DOWN, keycode=14, text="€", flags=OPTION))
    assert (typed.data["text"], typed.data["modifiers"]) == ("€", [])
    (command,) = events(record(KEY_DOWN, keycode=14, text="e", flags=OPTION | COMMAND))
    assert command.data["modifiers"] == ["alt", "super"]


def test_hotkeys_need_all_their_keys() -> None:
    translator = InputTranslator(lambda x, y: (0, 0), lambda one: event_time(one, 1, 1))
    held = record(KEY_DOWN, keycode=3, text="f", flags=CONTROL | SHIFT | COMMAND)
    assert [one.hotkey for one in translator.translate(held)] == ["forget"]
    assert [one.hotkey for one in translator.translate(record(KEY_DOWN, keycode=3, text="f", flags=COMMAND))] == [None]


def test_buttons_and_wheels_are_those_of_x11() -> None:
    found = events(
        record(1), record(2), record(3, button=1), record(25, button=2), record(26, button=4), record(6),
        record(22, lines=2, columns=-1), record(22, lines=-500), record(99),
    )  # fmt: skip
    assert [(one.kind, one.data.get("button")) for one in found[:6]] == [
        ("pointer.down", 1),
        ("pointer.up", 1),
        ("pointer.down", 3),
        ("pointer.down", 2),
        ("pointer.up", 9),
        ("pointer.move", None),
    ]
    assert [(one.data["dx"], one.data["dy"]) for one in found[6:9]] == [(0, -1), (0, -1), (1, 0)]
    assert [(one.data["dx"], one.data["dy"]) for one in found[9:]] == [(0, 1)] * 20


@pytest.mark.parametrize(
    ("timestamp", "t_ns", "error_ns"),
    [
        (NOW - 3 * MS, NOW - 3 * MS, MS),  # nanoseconds
        ((NOW - 3 * MS) * 3 // 125, NOW - 3 * MS, MS),  # ticks of Apple silicon
        (NOW + MS // 2, NOW, MS),
        (0, NOW, 100 * MS),
    ],
)
def test_an_event_has_its_own_time_in_whichever_unit(timestamp: int, t_ns: int, error_ns: int) -> None:
    found = event_time(record(1, timestamp=timestamp), *APPLE_TICKS)
    assert abs(found.t_ns - t_ns) <= 42
    assert found.error_ns == error_ns


def test_two_displays_of_different_scale_are_one_picture_in_the_finer_scale() -> None:
    layout = Layout([RETINA, PLAIN])
    assert layout.size == (6720, 2160)
    assert layout.pixel(0, 0) == (3840, 200)
    assert layout.pixel(-1920, -100) == (0, 0)
    assert layout.pixel(1440, 5000) == (6719, 2159)
    assert layout.bounds(-1920, -100, 100, 50) == (0, 0, 200, 100)
    x, y = layout.point(*layout.pixel(700.0, 400.0))
    assert (abs(x - 700) < 0.5, abs(y - 400) < 0.5) == (True, True)


def test_pictures_stand_where_their_displays_stand() -> None:
    layout = Layout([Monitor(0, 0, 2, 1, 2.0), Monitor(2, 0, 1, 1, 1.0)])
    red, blue = b"\0\0\xff\xff", b"\xff\0\0\xff"
    fine = DisplayPicture((red * 4 + b"\0" * 8) * 2, 4, 2, stride=24)
    coarse = DisplayPicture(blue, 1, 1, stride=4)
    pixels = compose(layout, [fine, coarse])
    assert pixels == (red * 4 + blue * 2) * 2
    alone = Layout([Monitor(0, 0, 2, 1, 2.0)])
    assert compose(alone, [DisplayPicture(red * 8, 4, 2, stride=16)]) == red * 8


def window(number: int, owner: str, title: str = "", **more: Any) -> dict[str, Any]:
    bounds = {"X": 0.0, "Y": 0.0, "Width": 400.0, "Height": 300.0}
    own = {"kCGWindowNumber": number, "kCGWindowOwnerPID": 10 * number, "kCGWindowOwnerName": owner}
    shown = {"kCGWindowName": title, "kCGWindowLayer": 0, "kCGWindowAlpha": 1.0, "kCGWindowIsOnscreen": True}
    return {**own, **shown, "kCGWindowBounds": bounds, **more}


@dataclass
class FakeMac:
    """macOS with one display."""

    tops: list[dict[str, Any]] = field(default_factory=list)
    missing: Sequence[str] = ()
    records: list[TapRecord] = field(default_factory=list)
    switched_off: int = 0
    secure: bool = False
    element: ElementRecord | None = None

    def missing_permissions(self) -> Sequence[str]:
        return self.missing

    def start(self) -> None: ...

    def take_events(self) -> list[TapRecord]:
        taken, self.records = self.records, []
        return taken

    def tap_alive(self) -> bool:
        return False

    def interruptions(self) -> int:
        return self.switched_off

    def ticks_to_ns(self) -> tuple[int, int]:
        return APPLE_TICKS

    def windows(self) -> bytes:
        return plistlib.dumps(self.tops, fmt=plistlib.FMT_BINARY)

    def displays(self) -> Sequence[Monitor]:
        return [RETINA]

    def capture(self, display: int) -> DisplayPicture | None:
        return None

    def secure_input(self) -> bool:
        return self.secure

    def element_at(self, x: float, y: float) -> ElementRecord | None:
        return self.element

    def focused_element(self) -> ElementRecord | None:
        return None

    def suspended_ns(self) -> int:
        return 0

    def close(self) -> None: ...


def test_missing_permissions_are_named_as_the_system_names_them() -> None:
    with pytest.raises(RecorderError) as caught:
        MacDesktop(FakeMac(missing=["screen_recording", "accessibility"]))
    assert caught.value.code == "permission_missing"
    assert "Screen & System Audio Recording, Accessibility" in str(caught.value)


def test_windows_are_read_from_the_property_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WINDOW_PID, "30")
    system = FakeMac(tops=[window(1, "Safari", "News"), window(2, "1Password")])
    desktop = MacDesktop(system)
    assert desktop.application == "safari"
    assert is_excluded(desktop.windows, ExclusionRules())
    changes = desktop.changes
    system.tops = [window(3, "Python"), window(1, "Safari", "My Bank")]
    desktop.sync()
    assert desktop.changes == changes + 1
    assert not is_excluded(desktop.windows, ExclusionRules())
    assert is_excluded(desktop.windows, ExclusionRules(titles=("*my bank*",)))
    assert (desktop.is_own_at(10, 10), desktop.is_own_at(2000, 10)) == (True, False)
    system.records = [record(10, target_pid=30), record(10, target_pid=10), record(10), record(5, target_pid=30)]
    assert [one.own for one in desktop.take_inputs()] == [True, False, True, False]
    desktop.close()


def test_secure_input_is_a_password_and_an_interrupted_tap_is_not_watched() -> None:
    system = FakeMac()
    desktop = MacDesktop(system)
    assert (desktop.asks_for_password(), desktop.flashes, desktop.grab()) == (False, 0, None)
    system.secure, system.switched_off = True, 1
    assert (desktop.asks_for_password(), desktop.flashes) == (True, 1)
    with pytest.raises(RecorderError, match="no input"):
        desktop.take_inputs()
    desktop.close()


def test_the_text_of_a_password_field_is_no_name() -> None:
    secret = ElementRecord("AXTextField", "AXSecureTextField", "hunter2", (10.0, 20.0, 30.0, 5.0))
    finder = AccessibilityFinder(FakeMac(element=secret), lambda: Layout([RETINA]))
    found = finder.element_at(20, 40, 10, 2**62)
    assert found is not None
    assert (found.role, found.name, found.bounds) == ("password", "", (20, 40, 60, 10))
