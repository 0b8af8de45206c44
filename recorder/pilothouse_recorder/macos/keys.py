"""macOS key codes, and their names in Pilothouse's actions."""

SHIFT, CONTROL, ALT, COMMAND, CAPS_LOCK = 0x20000, 0x40000, 0x80000, 0x100000, 0x10000
"""Bits of an event's flags."""
MODIFIERS = {"ctrl": CONTROL, "shift": SHIFT, "alt": ALT, "super": COMMAND}
MODIFIER_KEYS = {
    56: SHIFT,
    60: SHIFT,
    59: CONTROL,
    62: CONTROL,
    58: ALT,
    61: ALT,
    55: COMMAND,
    54: COMMAND,
    57: CAPS_LOCK,
}
"""Keys that change the flags, and the bit of each."""
NAMES = {
    36: "enter",
    76: "enter",
    48: "tab",
    51: "backspace",
    53: "esc",
    57: "capslock",
    114: "insert",
    115: "home",
    116: "pageup",
    117: "delete",
    119: "end",
    121: "pagedown",
    123: "left",
    124: "right",
    125: "down",
    126: "up",
    **dict.fromkeys((56, 60), "shift"),
    **dict.fromkeys((59, 62), "ctrl"),
    **dict.fromkeys((58, 61), "alt"),
    **dict.fromkeys((54, 55), "super"),
    **{code: f"f{place + 1}" for place, code in enumerate((122, 120, 99, 118, 96, 97, 98, 100, 101, 109, 103, 111))},
}
CHARACTERS = {
    **dict(zip(range(10), "asdfhgzxcv", strict=True)),
    **dict(zip(range(11, 20), "bqweryt12", strict=True)),
    **dict(zip(range(20, 36), "3465=97-80]ou[ip", strict=True)),
    **dict(zip(range(37, 48), "lj'k;\\,/nm.", strict=True)),
    49: " ",
    50: "`",
}
"""Text of each key without modifiers on the ANSI keyboard. Used if an event has no text."""
