"""The keys of `protocol.actions.keys` as CDP key events, for a US keyboard."""

import string
from typing import Any

MODIFIERS = {"alt": 1, "ctrl": 2, "super": 4, "shift": 8}
SHIFTED = dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True))
"""The key under each character that is typed with Shift."""
_NAMED = {
    "ctrl": ("Control", "ControlLeft", 17),
    "shift": ("Shift", "ShiftLeft", 16),
    "alt": ("Alt", "AltLeft", 18),
    "super": ("Meta", "MetaLeft", 91),
    "enter": ("Enter", "Enter", 13),
    "esc": ("Escape", "Escape", 27),
    "tab": ("Tab", "Tab", 9),
    "space": (" ", "Space", 32),
    "backspace": ("Backspace", "Backspace", 8),
    "delete": ("Delete", "Delete", 46),
    "insert": ("Insert", "Insert", 45),
    "up": ("ArrowUp", "ArrowUp", 38),
    "down": ("ArrowDown", "ArrowDown", 40),
    "left": ("ArrowLeft", "ArrowLeft", 37),
    "right": ("ArrowRight", "ArrowRight", 39),
    "home": ("Home", "Home", 36),
    "end": ("End", "End", 35),
    "pageup": ("PageUp", "PageUp", 33),
    "pagedown": ("PageDown", "PageDown", 34),
    "capslock": ("CapsLock", "CapsLock", 20),
    "numlock": ("NumLock", "NumLock", 144),
    "scrolllock": ("ScrollLock", "ScrollLock", 145),
    "printscreen": ("PrintScreen", "PrintScreen", 44),
    "pause": ("Pause", "Pause", 19),
    "menu": ("ContextMenu", "ContextMenu", 93),
    **{f"f{number}": (f"F{number}", f"F{number}", 111 + number) for number in range(1, 13)},
}
"""Name, code and key number of each non-character key."""
_PLACES = {
    "`": ("Backquote", 192),
    "-": ("Minus", 189),
    "=": ("Equal", 187),
    "[": ("BracketLeft", 219),
    "]": ("BracketRight", 221),
    "\\": ("Backslash", 220),
    ";": ("Semicolon", 186),
    "'": ("Quote", 222),
    ",": ("Comma", 188),
    ".": ("Period", 190),
    "/": ("Slash", 191),
    **{digit: (f"Digit{digit}", ord(digit)) for digit in string.digits},
    **{letter: (f"Key{letter.upper()}", ord(letter.upper())) for letter in string.ascii_lowercase},
}
_SHIFT = {base: shifted for shifted, base in SHIFTED.items()}
_TEXTS = {"enter": "\r", "space": " "}


def key_event(key: str, modifiers: int) -> dict[str, Any]:
    """The event fields of a key with its canonical name, under these modifiers."""
    if key in _NAMED:
        name, code, number = _NAMED[key]
        text = _TEXTS.get(key, "")
    else:
        code, number = _PLACES[SHIFTED.get(key, key)]
        name = text = _with_shift(key) if modifiers & MODIFIERS["shift"] else key
    payload: dict[str, Any] = {"key": name, "code": code, "windowsVirtualKeyCode": number}
    if key in MODIFIERS:
        payload["location"] = 1
    if text and not modifiers & ~MODIFIERS["shift"]:
        payload["text"] = text
    return payload


def _with_shift(key: str) -> str:
    return key.upper() if key.isalpha() else _SHIFT.get(key, key)
