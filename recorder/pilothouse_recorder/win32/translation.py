"""Translates low-level hook records to inputs: button, key and text. Makes no Windows calls."""

import struct
from collections.abc import Callable
from typing import Any

from ..clocks import Instant
from ..desktop import HOTKEYS, Hotkey, Input
from ..events import Event, EventKind
from ..keysyms import KEYSYMS, SPACING_MARKS, DeadKeys, keysym_of_text
from .calls import HookRecord
from .keys import CAPS_LOCK, GENERIC, LEFT_CONTROL, MODIFIERS, NAMES, NUM_LOCK, PACKET, RIGHT_ALT

KEYBOARD = struct.Struct("<IIIIQ")
"""KBDLLHOOKSTRUCT of 64-bit Windows: key, scan code, flags, time, extra."""
MOUSE = struct.Struct("<iiIII4xQ")
"""MSLLHOOKSTRUCT: x, y, data, flags, time, extra."""
KEY_DOWN, KEY_UP = (0x100, 0x104), (0x101, 0x105)
MOVE, WHEEL, SIDEWAYS_WHEEL = 0x200, 0x20A, 0x20E
BUTTONS_DOWN, BUTTONS_UP = {0x201: 1, 0x204: 3, 0x207: 2}, {0x202: 1, 0x205: 3, 0x208: 2}
EXTRA_DOWN, EXTRA_UP = 0x20B, 0x20C
EXTRA_BUTTONS = {1: 8, 2: 9}
"""Back and forward, numbered as on X11."""
NOTCH = 120
"""One wheel notch (WHEEL_DELTA). High-resolution wheels report fractions of it."""
HELD, ON = 0x80, 0x01

KeyText = Callable[[int, int, bytes], tuple[str, bool]]
"""Same as `WindowsCalls.key_text`."""


def limit_instant(instant: Instant, received_ns: int) -> Instant:
    """Limit a time to the receipt. The tick count steps by 16 ms; the receipt narrows that."""
    first, last = instant.t_ns - instant.error_ns, min(instant.t_ns + instant.error_ns, received_ns)
    if first > last:
        return instant  # the clocks contradict each other
    return Instant((first + last) // 2, (last - first + 1) // 2)


class InputTranslator:
    """Translates records and tracks held keys.

    Args:
        key_text: Returns the text that a key writes.
        pixel: The pixel of a point of the desktop.
        at: The monotonic time of a tick count.
        locks: The lock keys that are on.
    """

    def __init__(
        self,
        key_text: KeyText,
        pixel: Callable[[int, int], tuple[int, int]],
        at: Callable[[int], Instant],
        locks: frozenset[int] = frozenset(),
    ) -> None:
        self._key_text, self._pixel, self._at = key_text, pixel, at
        self._held: set[int] = set()
        self._locks = set(locks)
        self._dead_keys = DeadKeys()
        self._point = (0, 0)
        self._turned = {WHEEL: 0, SIDEWAYS_WHEEL: 0}

    def translate(self, record: HookRecord) -> list[Input]:
        """The inputs of one record. Messages that are not input give none; a wheel turned far gives several."""
        if record.message in KEY_DOWN or record.message in KEY_UP:
            return self._translate_key(record)
        x, y, data, _, tick, _ = MOUSE.unpack_from(record.structure)
        self._point = self._pixel(x, y)
        instant = limit_instant(self._at(tick), record.received_ns)
        if record.message in self._turned:
            return self._translate_wheel(record.message, data, instant)
        kind: EventKind = "pointer.move"
        button = 0
        if record.message in BUTTONS_DOWN or record.message == EXTRA_DOWN:
            kind, button = "pointer.down", BUTTONS_DOWN.get(record.message) or EXTRA_BUTTONS.get(data >> 16, 0)
        elif record.message in BUTTONS_UP or record.message == EXTRA_UP:
            kind, button = "pointer.up", BUTTONS_UP.get(record.message) or EXTRA_BUTTONS.get(data >> 16, 0)
        elif record.message != MOVE:
            return []
        return [self._input(kind, instant, {"button": button} if button else {})]

    def _translate_wheel(self, message: int, data: int, instant: Instant) -> list[Input]:
        """One scroll per whole notch; the remainder waits for the next record."""
        amount = data >> 16
        turned = self._turned[message] + (amount - 0x10000 if amount & 0x8000 else amount)
        notches = int(turned / NOTCH)
        self._turned[message] = turned - notches * NOTCH
        sign = 1 if notches > 0 else -1
        step = {"dx": 0, "dy": -sign} if message == WHEEL else {"dx": sign, "dy": 0}
        return [self._input("scroll", instant, step) for _ in range(abs(notches))]

    def _translate_key(self, record: HookRecord) -> list[Input]:
        key, scan, _, tick, _ = KEYBOARD.unpack_from(record.structure)
        pressed = record.message in KEY_DOWN
        if pressed and key in (CAPS_LOCK, NUM_LOCK) and key not in self._held:
            self._locks ^= {key}
        if pressed:
            self._held.add(key)
        else:
            self._held.discard(key)
        text = self._text(key, scan) if pressed else ""
        plain = self._plain(key, scan)
        name = NAMES.get(key) or plain
        modifiers = self._modifiers
        data: dict[str, Any] = {
            "keycode": key,
            "keysym": KEYSYMS.get(name) or keysym_of_text(text or plain),
            "key": name,
        }
        if pressed:
            data["text"] = text
        if text and self._has_alt_gr:
            modifiers = [one for one in modifiers if one not in ("ctrl", "alt")]  # they chose the character
        hotkey = HOTKEYS.get(name) if pressed and {"ctrl", "shift", "super"} <= set(modifiers) else None
        instant = limit_instant(self._at(tick), record.received_ns)
        return [self._input("key.down" if pressed else "key.up", instant, data, modifiers, hotkey)]

    def _text(self, key: int, scan: int) -> str:
        """The text of a press. A dead key gives none and waits for the next press."""
        if key in NAMES:
            return ""
        if key == PACKET:
            return self._dead_keys.join(chr(scan))  # a program sent this character
        kept = self._held if self._has_alt_gr else self._held - {*MODIFIERS["ctrl"], *MODIFIERS["alt"]}
        text, dead = self._key_text(key, scan, self._state(kept, self._locks))
        if dead:
            self._dead_keys.hold(SPACING_MARKS.get(text, ""))
            return ""
        return self._dead_keys.join(text if text.isprintable() else "")

    def _plain(self, key: int, scan: int) -> str:
        if key in NAMES or key == PACKET:
            return ""
        text, _ = self._key_text(key, scan, self._state(set(), {NUM_LOCK} & self._locks))
        return text if text.isprintable() else ""

    @staticmethod
    def _state(held: set[int], locks: set[int]) -> bytes:
        state = bytearray(256)
        for key in held:
            state[key] |= HELD
            state[GENERIC.get(key, key)] |= HELD
        for key in locks:
            state[key] |= ON
        return bytes(state)

    @property
    def _has_alt_gr(self) -> bool:
        return {LEFT_CONTROL, RIGHT_ALT} <= self._held

    @property
    def _modifiers(self) -> list[str]:
        return [name for name, keys in MODIFIERS.items() if self._held.intersection(keys)]

    def _input(
        self,
        kind: EventKind,
        instant: Instant,
        data: dict[str, Any],
        modifiers: list[str] | None = None,
        hotkey: Hotkey | None = None,
    ) -> Input:
        x, y = self._point
        own = {"x": x, "y": y, "modifiers": self._modifiers if modifiers is None else modifiers}
        return Input(Event(kind, instant.t_ns, "hook", instant.error_ns, {**own, **data}), hotkey)
