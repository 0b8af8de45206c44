"""Translates the X server's input to events of the session."""

from collections.abc import Callable, Sequence
from typing import Any

from ..clocks import Instant
from ..desktop import HOTKEYS, Hotkey
from ..events import Event, EventKind
from ..keysyms import ALT, CONTROL, GROUP2, NAMES, SHIFT, SUPER, DeadKeys, character, keysym_of
from .inputs import RawInput

KEY_PRESS, KEY_RELEASE, BUTTON_PRESS, BUTTON_RELEASE, MOTION = range(2, 7)
WHEEL = {4: (0, -1), 5: (0, 1), 6: (-1, 0), 7: (1, 0)}
"""Buttons that stand for wheel notches: to the right and down."""
MODIFIERS = {"ctrl": CONTROL, "shift": SHIFT, "alt": ALT, "super": SUPER}
HOTKEY_STATE = CONTROL | SHIFT | SUPER


def hotkey_of(one: RawInput, mapping: Sequence[int]) -> Hotkey | None:
    """The recorder's hotkey that a key press triggers, if any."""
    if one.type != KEY_PRESS or one.state & HOTKEY_STATE != HOTKEY_STATE:
        return None
    return HOTKEYS.get(character(keysym_of(mapping, 0)))


class InputInterpreter:
    """Translates input to a button, key or text."""

    def __init__(self, mapping_of: Callable[[int], Sequence[int]]) -> None:
        self._mapping_of = mapping_of
        self._dead_keys = DeadKeys()

    def interpret(self, one: RawInput, instant: Instant) -> Event | None:
        """The event, or None for the release of a wheel notch, which carries no information."""
        kind: EventKind
        data: dict[str, Any] = {"x": one.x, "y": one.y, "modifiers": _modifiers(one.state)}
        if one.type in (KEY_PRESS, KEY_RELEASE):
            kind = "key.down" if one.type == KEY_PRESS else "key.up"
            data |= self._key(one)
        elif one.type == MOTION:
            kind = "pointer.move"
        elif one.detail in WHEEL:
            if one.type == BUTTON_RELEASE:
                return None
            kind = "scroll"
            data["dx"], data["dy"] = WHEEL[one.detail]
        else:
            kind = "pointer.down" if one.type == BUTTON_PRESS else "pointer.up"
            data["button"] = one.detail
        return Event(kind, instant.t_ns, "x_server", instant.error_ns, data)

    def _key(self, one: RawInput) -> dict[str, Any]:
        mapping = self._mapping_of(one.detail)
        keysym, plain = keysym_of(mapping, one.state), keysym_of(mapping, one.state & GROUP2)
        data = {"keycode": one.detail, "keysym": keysym, "key": NAMES.get(keysym) or character(plain)}
        if one.type == KEY_PRESS:
            data["text"] = self._dead_keys.text_of(keysym)
        return data


def _modifiers(state: int) -> list[str]:
    return [name for name, bit in MODIFIERS.items() if state & bit]
