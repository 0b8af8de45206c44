"""Android's key codes, and the keys of a web page that they are."""

from typing import NamedTuple

HOME, BACK, APP_SWITCH = 3, 4, 187
"""The codes that the phone itself answers to."""
IGNORED_CODES = frozenset({24, 25, 26, 82, 164, 223, 224})
"""Volume, power, menu, sleep and wake: nothing on the screen changes."""


class Key(NamedTuple):
    """A key as a page is told of it."""

    name: str
    code: str
    number: int
    """The code of the key on Windows, by which browsers know it."""
    text: str = ""


_NAMED = {
    "DPAD_UP": (19, Key("ArrowUp", "ArrowUp", 38)),
    "DPAD_DOWN": (20, Key("ArrowDown", "ArrowDown", 40)),
    "DPAD_LEFT": (21, Key("ArrowLeft", "ArrowLeft", 37)),
    "DPAD_RIGHT": (22, Key("ArrowRight", "ArrowRight", 39)),
    "DPAD_CENTER": (23, Key("Enter", "Enter", 13, "\r")),
    "ALT_LEFT": (57, Key("Alt", "AltLeft", 18)),
    "SHIFT_LEFT": (59, Key("Shift", "ShiftLeft", 16)),
    "TAB": (61, Key("Tab", "Tab", 9)),
    "SPACE": (62, Key(" ", "Space", 32, " ")),
    "ENTER": (66, Key("Enter", "Enter", 13, "\r")),
    "DEL": (67, Key("Backspace", "Backspace", 8)),
    "PAGE_UP": (92, Key("PageUp", "PageUp", 33)),
    "PAGE_DOWN": (93, Key("PageDown", "PageDown", 34)),
    "ESCAPE": (111, Key("Escape", "Escape", 27)),
    "FORWARD_DEL": (112, Key("Delete", "Delete", 46)),
    "CTRL_LEFT": (113, Key("Control", "ControlLeft", 17)),
    "META_LEFT": (117, Key("Meta", "MetaLeft", 91)),
    "MOVE_HOME": (122, Key("Home", "Home", 36)),
    "MOVE_END": (123, Key("End", "End", 35)),
}
_ANDROID_KEYS = {"HOME": HOME, "BACK": BACK, "APP_SWITCH": APP_SWITCH, "POWER": 26, "VOLUME_UP": 24, "VOLUME_DOWN": 25}
_DIGITS = {str(digit): (7 + digit, Key(str(digit), f"Digit{digit}", 48 + digit, str(digit))) for digit in range(10)}
_LETTERS = {
    letter.upper(): (29 + place, Key(letter, f"Key{letter.upper()}", 65 + place, letter))
    for place, letter in enumerate("abcdefghijklmnopqrstuvwxyz")
}
KEYS: dict[int, Key] = dict((*_NAMED.values(), *_DIGITS.values(), *_LETTERS.values()))
"""Every key a page is told of, by Android's code."""
CODES: dict[str, int] = (
    {name: code for name, (code, _) in (_NAMED | _DIGITS | _LETTERS).items()}
    | _ANDROID_KEYS
    | {
        "MENU": 82,
        "SLEEP": 223,
        "WAKEUP": 224,
    }
)
"""Android's codes by their names."""


def parse_key_code(spelling: str) -> int | None:
    """The code a person or program spelled, as a number or a name; None where it is neither."""
    if spelling.isdigit():
        return int(spelling)
    return CODES.get(spelling.upper().removeprefix("KEYCODE_"))
