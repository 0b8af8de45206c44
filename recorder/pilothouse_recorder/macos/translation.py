"""Translates macOS event tap records to inputs: button, key and text. Makes no macOS calls."""

from collections.abc import Callable
from typing import Any

from ..clocks import MS, SECOND, Instant
from ..desktop import HOTKEYS, Input
from ..events import Event, EventKind
from ..keysyms import KEYSYMS, keysym_of_text
from .calls import TapRecord
from .keys import CHARACTERS, MODIFIER_KEYS, MODIFIERS, NAMES

BUTTON_DOWN, BUTTON_UP, MOVED = (1, 3, 25), (2, 4, 26), (5, 6, 7, 27)
KEY_DOWN, KEY_UP, FLAGS_CHANGED, WHEEL = 10, 11, 12, 22
BUTTONS = {0: 1, 1: 3, 2: 2, 3: 8, 4: 9}
"""Left, right, middle, back and forward, numbered as on X11."""
MAX_NOTCHES = 20
"""Maximum notches of one event: trackpads scroll far."""
LATEST_NS = 10 * SECOND
ERROR_NS = MS


def event_time(record: TapRecord, numerator: int, denominator: int) -> Instant:
    """When an event happened.

    Systems differ in whether the timestamp is in nanoseconds or in ticks. The reading closest before the receipt is
    used. If neither reading is before it, the receipt time is used with a wide error.
    """
    readings = (record.timestamp, record.timestamp * numerator // denominator)
    late = [record.received_ns - one for one in readings if -ERROR_NS <= record.received_ns - one <= LATEST_NS]
    if not late:
        return Instant(record.received_ns, 100 * MS)
    return Instant(record.received_ns - max(0, min(late)), ERROR_NS)


class InputTranslator:
    """Translates events to inputs.

    Args:
        pixel: The pixel of a point of the desktop.
        at: The time of an event.
    """

    def __init__(self, pixel: Callable[[float, float], tuple[int, int]], at: Callable[[TapRecord], Instant]) -> None:
        self._pixel, self._at = pixel, at

    def translate(self, record: TapRecord) -> list[Input]:
        """The inputs of one event. A wheel turned far gives several."""
        if record.type in (KEY_DOWN, KEY_UP, FLAGS_CHANGED):
            return [self._key(record)]
        if record.type == WHEEL:
            return [self._input("scroll", record, step) for step in _notches(record)]
        if record.type in MOVED:
            return [self._input("pointer.move", record, {})]
        kind: EventKind
        if record.type in BUTTON_DOWN:
            kind = "pointer.down"
        elif record.type in BUTTON_UP:
            kind = "pointer.up"
        else:
            return []
        return [self._input(kind, record, {"button": BUTTONS.get(record.button, record.button + 5)})]

    def _key(self, record: TapRecord) -> Input:
        bit = MODIFIER_KEYS.get(record.keycode, 0)
        pressed = bool(record.flags & bit) if record.type == FLAGS_CHANGED else record.type == KEY_DOWN
        named = NAMES.get(record.keycode)
        text = record.text if pressed and named is None and record.text.isprintable() else ""
        modifiers = _modifiers(record.flags)
        if text and not {"ctrl", "super"} & set(modifiers):
            modifiers = [one for one in modifiers if one != "alt"]  # Option chose the character
        character = CHARACTERS.get(record.keycode, "")
        commands = {"ctrl", "super"} & set(modifiers)
        plain = text.lower() if commands and len(text) == 1 and text.isalpha() else character or text.lower()
        name = named or plain
        data: dict[str, Any] = {
            "keycode": record.keycode,
            "keysym": KEYSYMS.get(name) or keysym_of_text(text or plain),
            "key": name,
        }
        if pressed:
            data["text"] = text
        hotkey = HOTKEYS.get(name) if pressed and {"ctrl", "shift", "super"} <= set(modifiers) else None
        own = self._input("key.down" if pressed else "key.up", record, data, modifiers)
        return Input(own.event, hotkey)

    def _input(
        self, kind: EventKind, record: TapRecord, data: dict[str, Any], modifiers: list[str] | None = None
    ) -> Input:
        x, y = self._pixel(record.x, record.y)
        instant = self._at(record)
        own = {"x": x, "y": y, "modifiers": _modifiers(record.flags) if modifiers is None else modifiers}
        return Input(Event(kind, instant.t_ns, "hook", instant.error_ns, {**own, **data}))


def _modifiers(flags: int) -> list[str]:
    return [name for name, bit in MODIFIERS.items() if flags & bit]


def _notches(record: TapRecord) -> list[dict[str, Any]]:
    up, left = record.lines, record.columns
    rows = [{"dx": 0, "dy": -1 if up > 0 else 1}] * min(abs(up), MAX_NOTCHES)
    return rows + [{"dx": -1 if left > 0 else 1, "dy": 0}] * min(abs(left), MAX_NOTCHES)
