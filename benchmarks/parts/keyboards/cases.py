"""What is pressed, on which layout, and what a machine with a US keyboard must get of it.

Keys have the names of `KeyboardEvent.code`; those joined by `+` go down in order and up in reverse. `hold:` keeps a key
down until it repeats. The expected text is written as in `frontend/src/features/annotate/testing/keyboard-cases.ts`.
"""

from typing import NamedTuple

KEYCODES = {
    **{f"Digit{digit}": 10 + place for place, digit in enumerate("1234567890")},
    **{f"Key{letter}": 24 + place for place, letter in enumerate("QWERTYUIOP")},
    **{f"Key{letter}": 38 + place for place, letter in enumerate("ASDFGHJKL")},
    **{f"Key{letter}": 52 + place for place, letter in enumerate("ZXCVBNM")},
    **{"Escape": 9, "Minus": 20, "Equal": 21, "Backspace": 22, "Tab": 23, "BracketLeft": 34, "BracketRight": 35},
    **{"Enter": 36, "ControlLeft": 37, "Semicolon": 47, "Quote": 48, "Backquote": 49, "ShiftLeft": 50},
    **{"Backslash": 51, "Comma": 59, "Period": 60, "Slash": 61, "ShiftRight": 62, "NumpadMultiply": 63, "AltLeft": 64},
    **{"Space": 65, "CapsLock": 66, "Numpad7": 79, "NumpadAdd": 86, "IntlBackslash": 94, "NumpadEnter": 104},
    **{"PrintScreen": 107, "AltRight": 108, "ArrowLeft": 113, "ArrowRight": 114, "MetaLeft": 133},
}
"""X keycodes of a PC keyboard (evdev)."""


class KeyboardCase(NamedTuple):
    """One thing to type. `layout` is as `setxkbmap` takes it: a layout, or `layout:variant`."""

    name: str
    layout: str
    pressed: str
    expected: str
    clipboard: str | None = None


CASES = (
    KeyboardCase("a letter and a capital", "us", "KeyA ShiftLeft+KeyA", "aA"),
    KeyboardCase("signs", "us", "ShiftLeft+Digit1 Slash ShiftLeft+Comma ShiftLeft+Minus", "!/<_"),
    KeyboardCase("a space and Enter", "us", "Space Enter", "<space><enter>"),
    KeyboardCase("a held letter", "us", "hold:KeyA", "a"),
    KeyboardCase("Caps Lock", "us", "CapsLock KeyA ShiftLeft+KeyB CapsLock KeyC", "Abc"),
    KeyboardCase("Ctrl with Caps Lock", "us", "CapsLock ControlLeft+KeyC CapsLock", "<ctrl+c>"),
    KeyboardCase("Ctrl+Shift+Y", "us", "ControlLeft+ShiftLeft+KeyY", "<ctrl+shift+y>"),
    KeyboardCase("Alt with a letter", "us", "AltLeft+KeyF", "<alt+f>"),
    KeyboardCase("Alt after Shift", "us", "ShiftLeft+AltLeft+KeyX", "<alt+shift+x>"),
    KeyboardCase("Meta alone", "us", "MetaLeft", "<super>"),
    KeyboardCase("Meta with a letter, then a letter", "us", "MetaLeft+KeyL KeyA", "<super+l>a"),
    KeyboardCase("the number pad", "us", "NumpadAdd NumpadMultiply NumpadEnter", "+*<enter>"),
    KeyboardCase("Shift with an arrow", "us", "ShiftLeft+ArrowRight", "<shift+right>"),
    KeyboardCase("the Print Screen key", "us", "PrintScreen", "<printscreen>"),
    KeyboardCase("Ctrl+V", "us", "ControlLeft+KeyV", "ü@b", "ü@b"),
    KeyboardCase("Ctrl+V with an empty clipboard", "us", "ControlLeft+KeyV", "<ctrl+v>", ""),
    KeyboardCase("Ctrl+V, then a letter under Ctrl", "us", "ControlLeft+KeyV ControlLeft+KeyB", "ab<ctrl+b>", "ab"),
    KeyboardCase("Ctrl+Shift+V", "us", "ControlLeft+ShiftLeft+KeyV", "<ctrl+shift+v>", "ab"),
    KeyboardCase("umlauts", "de:nodeadkeys", "Semicolon ShiftLeft+Quote Minus", "öÄß"),
    KeyboardCase("an umlaut with Caps Lock", "de:nodeadkeys", "CapsLock Semicolon CapsLock", "Ö"),
    KeyboardCase("Y and Z change places", "de:nodeadkeys", "KeyY KeyZ", "zy"),
    KeyboardCase("signs with Shift", "de:nodeadkeys", "ShiftLeft+Digit7 ShiftLeft+Digit2 BracketRight", '/"+'),
    KeyboardCase("the key beside Shift", "de:nodeadkeys", "IntlBackslash ShiftLeft+IntlBackslash", "<>"),
    KeyboardCase("AltGr+Q", "de:nodeadkeys", "AltRight+KeyQ", "@"),
    KeyboardCase("AltGr+8 and AltGr+9", "de:nodeadkeys", "AltRight+Digit8 AltRight+Digit9", "[]"),
    KeyboardCase("AltGr+E, then a letter", "de:nodeadkeys", "AltRight+KeyE KeyA", "€a"),
    KeyboardCase("AltGr alone", "de:nodeadkeys", "AltRight", ""),
    KeyboardCase("AltGr under Shift", "de:nodeadkeys", "ShiftLeft+AltRight+KeyS", "ẞ"),
    KeyboardCase("Ctrl with an umlaut", "de:nodeadkeys", "ControlLeft+Semicolon", "<ctrl+;>"),
    KeyboardCase("Ctrl+Plus", "de:nodeadkeys", "ControlLeft+BracketRight", "<ctrl+shift+=>"),
    KeyboardCase("Ctrl+Z by what is printed", "de:nodeadkeys", "ControlLeft+KeyY", "<ctrl+z>"),
    KeyboardCase("a dead acute", "de", "Equal KeyE", "é"),
    KeyboardCase("a dead circumflex and a capital", "de", "Backquote ShiftLeft+KeyA", "Â"),
    KeyboardCase("a dead key and a space", "de", "Equal Space", "'"),
    KeyboardCase("a dead key, a letter, and letters after it", "de", "Equal KeyE KeyA KeyB", "éab"),
    KeyboardCase("a dead tilde", "pt", "Backslash KeyA", "ã"),
    KeyboardCase("a cedilla and an acute", "pt", "Semicolon BracketRight KeyO", "çó"),
    KeyboardCase("AltGr+2", "pt", "AltRight+Digit2", "@"),
    KeyboardCase("a dead quote", "us:intl", "Quote KeyE", "é"),
    KeyboardCase("the digit row", "fr", "Digit1 ShiftLeft+Digit1 Digit2 KeyQ", "&1éa"),
    KeyboardCase("AltGr+0", "fr", "AltRight+Digit0", "@"),
    KeyboardCase("a dead circumflex", "fr", "BracketLeft KeyE", "ê"),
    KeyboardCase("ñ and an inverted question mark", "es", "Semicolon ShiftLeft+Equal", "ñ¿"),
    KeyboardCase("AltGr+A and AltGr+Shift+L", "pl", "AltRight+KeyA ShiftLeft+AltRight+KeyL", "ąŁ"),
    KeyboardCase("Cyrillic letters", "ru", "KeyG ShiftLeft+KeyH", "пР"),
    KeyboardCase("Ctrl+C by its place", "ru", "ControlLeft+KeyC", "<ctrl+c>"),
    KeyboardCase("Hebrew letters", "il", "KeyA KeyK", "של"),
    KeyboardCase("Greek with an accent", "gr", "Semicolon KeyA", "ά"),
)
