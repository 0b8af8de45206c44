"""What a key means: its keysym from the keyboard mapping, its character, and its name (X11 protocol, section 5)."""

import unicodedata
from collections.abc import Sequence

SHIFT, LOCK, CONTROL, ALT, NUM_LOCK, SUPER, LEVEL3 = 0x01, 0x02, 0x04, 0x08, 0x10, 0x40, 0x80
GROUP2 = 0x2000
"""Bits of an event's state in all common layouts."""
UNICODE_KEYSYMS = 0x01000000
EURO = 0x20AC
KEYPAD = {0xFFAA + place: char for place, char in enumerate("*+,-./0123456789")} | {0xFFBD: "="}
DEAD_KEYS = {
    0xFE50: "̀",
    0xFE51: "́",
    0xFE52: "̂",
    0xFE53: "̃",
    0xFE54: "̄",
    0xFE55: "̆",
    0xFE56: "̇",
    0xFE57: "̈",
    0xFE58: "̊",
    0xFE5A: "̌",
    0xFE5B: "̧",
    0xFE5C: "̨",
}
"""Dead keys and their combining characters."""
NAMES = {
    0xFF08: "backspace",
    0xFF09: "tab",
    0xFE20: "tab",
    0xFF0D: "enter",
    0xFF8D: "enter",
    0xFF13: "pause",
    0xFF14: "scrolllock",
    0xFF1B: "esc",
    0xFF50: "home",
    0xFF51: "left",
    0xFF52: "up",
    0xFF53: "right",
    0xFF54: "down",
    0xFF55: "pageup",
    0xFF56: "pagedown",
    0xFF57: "end",
    0xFF61: "printscreen",
    0xFF63: "insert",
    0xFF67: "menu",
    0xFF7F: "numlock",
    0xFF95: "home",
    0xFF96: "left",
    0xFF97: "up",
    0xFF98: "right",
    0xFF99: "down",
    0xFF9A: "pageup",
    0xFF9B: "pagedown",
    0xFF9C: "end",
    0xFF9E: "insert",
    0xFF9F: "delete",
    0xFFE1: "shift",
    0xFFE2: "shift",
    0xFFE3: "ctrl",
    0xFFE4: "ctrl",
    0xFFE5: "capslock",
    0xFFE7: "alt",
    0xFFE8: "alt",
    0xFFE9: "alt",
    0xFFEA: "alt",
    0xFFEB: "super",
    0xFFEC: "super",
    0xFFFF: "delete",
    **{0xFFBE + number: f"f{number + 1}" for number in range(12)},
}
"""Keysyms of keys that write nothing, and their names in Pilothouse's actions."""


KEYSYMS = {name: keysym for keysym, name in reversed(NAMES.items())}
"""The keysym of each name. Systems without keysyms of their own store these."""
SPACING_MARKS = {
    "`": "̀", "´": "́", "^": "̂", "~": "̃", "¯": "̄", "˘": "̆",
    "˙": "̇", "¨": "̈", "°": "̊", "˚": "̊", "ˇ": "̌", "¸": "̧",
}  # fmt: skip
"""The spacing form of a dead key on Windows and macOS, and its combining character."""


def keysym_of_text(text: str) -> int:
    """The keysym of a character; 0 if it is not a single character."""
    if len(text) != 1:
        return 0
    code = ord(text)
    return code if 0x20 <= code <= 0x7E or 0xA0 <= code <= 0xFF else UNICODE_KEYSYMS + code


def keysym_of(mapping: Sequence[int], state: int) -> int:
    """The keysym of a key pressed under these modifiers; 0 where it has none.

    Args:
        mapping: The key's row of the keyboard mapping: two levels of two groups, then levels 3 and 4.
        state: The event's modifiers.
    """

    def column(place: int) -> int:
        return mapping[place] if place < len(mapping) else 0

    first = 4 if state & LEVEL3 and (column(4) or column(5)) else 2 if state & GROUP2 and column(2) else 0
    low, high = column(first), column(first + 1) or column(first)
    shifted = bool(state & SHIFT)
    if high in KEYPAD and low not in KEYPAD:
        shifted ^= bool(state & NUM_LOCK)
    elif state & LOCK and (char := character(low)) and char.upper() != char:
        shifted = not shifted
    return high if shifted else low


def character(keysym: int) -> str:
    """The character that a keysym writes; empty where it writes none."""
    if 0x20 <= keysym <= 0x7E or 0xA0 <= keysym <= 0xFF or keysym == EURO:
        return chr(keysym)
    if UNICODE_KEYSYMS + 0x100 <= keysym <= UNICODE_KEYSYMS + 0x10FFFF:
        return chr(keysym - UNICODE_KEYSYMS)
    return KEYPAD.get(keysym, "")


class DeadKeys:
    """Combines a dead key with the letter after it."""

    def __init__(self) -> None:
        self._pending = ""

    def text_of(self, keysym: int) -> str:
        """The text that this key press writes, given the presses before it."""
        if keysym in DEAD_KEYS:
            self.hold(DEAD_KEYS[keysym])
            return ""
        return self.join(character(keysym))

    def hold(self, mark: str) -> None:
        """A dead key with this combining character was pressed."""
        self._pending = mark

    def join(self, text: str) -> str:
        """A text combined with the dead key before it."""
        if text and self._pending:
            text, self._pending = unicodedata.normalize("NFC", text + self._pending), ""
        return text
