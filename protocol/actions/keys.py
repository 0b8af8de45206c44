"""Key names: one canonical spelling shared by all layers, and its aliases.

The guest presses these names, the front-end captures these names (it gets them as constants with the generated types),
dialects read every model's spelling into them. A canonical key is a name of `NAMED_KEYS` or one printable ASCII
character other than the space, letters in lower case (an upper-case letter is `shift` and the letter). Keys are those
of a US keyboard; anything else is text and goes by `type_text`.
"""

import re
import string

MODIFIERS = ("ctrl", "shift", "alt", "super")

NAMED_KEYS = (
    *MODIFIERS,
    "enter",
    "esc",
    "tab",
    "space",
    "backspace",
    "delete",
    "insert",
    "up",
    "down",
    "left",
    "right",
    "home",
    "end",
    "pageup",
    "pagedown",
    "capslock",
    "numlock",
    "scrolllock",
    "printscreen",
    "pause",
    "menu",
    *(f"f{number}" for number in range(1, 13)),
)

PRINTABLE_KEYS = tuple(sorted(set(string.printable) - set(string.whitespace) - set(string.ascii_uppercase)))

KEYS = frozenset(NAMED_KEYS + PRINTABLE_KEYS)
"""Every canonical name."""

_SPELLINGS: dict[str, str] = {
    "ctrl": "control ctl ctrll ctrlr controll controlr ctrlleft ctrlright controlleft controlright",
    "shift": "shiftl shiftr shiftleft shiftright",
    "alt": "altl altr altleft altright altgr option opt optionleft optionright",
    "super": "superl superr cmd command cmdleft cmdright meta metal metar metaleft metaright "
    "win winleft winright windows windowskey os osleft osright",
    "enter": "return ret kpenter numpadenter",
    "esc": "escape",
    "space": "spacebar",
    "backspace": "back bksp",
    "delete": "del forwarddelete",
    "insert": "ins",
    "up": "arrowup uparrow",
    "down": "arrowdown downarrow",
    "left": "arrowleft leftarrow",
    "right": "arrowright rightarrow",
    "pageup": "pgup prior",
    "pagedown": "pgdn pgdown next",
    "capslock": "caps",
    "printscreen": "print prtsc prtscr prtscn prntscrn",
    "pause": "break",
    "menu": "contextmenu apps",
    "-": "minus hyphen dash",
    "+": "plus",
    "=": "equal equals",
    ",": "comma",
    ".": "period dot fullstop",
    "/": "slash",
    "\\": "backslash",
    ";": "semicolon",
    ":": "colon",
    "'": "quote apostrophe",
    "`": "backquote backtick grave",
    "[": "bracketleft leftbracket",
    "]": "bracketright rightbracket",
    "*": "asterisk multiply",
}

_NUMPAD_KEYS = {"add": "+", "plus": "+", "subtract": "-", "minus": "-", "multiply": "*", "divide": "/", "decimal": "."}
"""The other keys of a number pad."""

KEY_ALIASES: dict[str, str] = {
    **{spelling: key for key, spellings in _SPELLINGS.items() for spelling in spellings.split()},
    **{f"key{letter}": letter for letter in string.ascii_lowercase},
    **{f"digit{digit}": digit for digit in string.digits},
    **{f"{pad}{digit}": digit for pad in ("kp", "numpad", "num") for digit in string.digits},
    **{f"{pad}{name}": key for pad in ("kp", "numpad") for name, key in _NUMPAD_KEYS.items()},
}
"""Other spellings of a key, in lower case without spaces, hyphens and underscores."""

_TWO_WORDS = re.compile(
    r"\b(?:(?:page|arrow) +(?:up|down|left|right)|(?:up|down|left|right) +arrow"
    r"|(?:caps|num|scroll) +lock|print +screen)\b",
    re.IGNORECASE,
)
_PLUS = re.compile(r"(?<=.)\+(?=.)")
_OTHER = re.compile(r"(?<=.)[-,](?=.)")
_WORD_BREAK = re.compile(r"(?<=\w)[ _-]+(?=\w)")


def find_key(spelling: str) -> str | None:
    """The canonical key a spelling means, None where it means none."""
    if spelling == " ":
        return "space"
    name = spelling.strip().lower()
    if name in KEYS:
        return name
    name = _WORD_BREAK.sub("", name)
    return KEY_ALIASES.get(name) or (name if name in NAMED_KEYS else None)


def require_key(spelling: str) -> str:
    """The canonical key a spelling means. Raises ValueError where it means none."""
    key = find_key(spelling)
    if key is None:
        raise ValueError(f"unknown key {spelling[:40]!r}")
    return key


def parse_hotkey(hotkey: str) -> tuple[str, ...]:
    """The keys of a hotkey written with spaces, `+`, `-` or commas between them ("ctrl c", "Ctrl+Page Down").

    Raises ValueError naming the first part that is no key.
    """
    if hotkey and not hotkey.strip():
        return ("space",)
    words = _TWO_WORDS.sub(lambda name: name[0].replace(" ", ""), hotkey).split()
    chords = [word for index, word in enumerate(words) if word != "+" or index in (0, len(words) - 1)]
    return tuple(key for chord in chords for key in _parse_chord(chord))


def format_hotkey(keys: tuple[str, ...]) -> str:
    """Keys as a hotkey that `parse_hotkey` reads back: spaces between them, and no bare `+`."""
    return " ".join("plus" if key == "+" else key for key in keys)


def _parse_chord(word: str) -> list[str]:
    """The keys of a hotkey without spaces; a separator at its end is a key itself ("ctrl++")."""
    if key := find_key(word):
        return [key]
    parts = (part for chord in _PLUS.split(word) for part in ([chord] if find_key(chord) else _OTHER.split(chord)))
    return [require_key(part) for part in parts]
