"""Windows virtual-key codes, and their names in Pilothouse's actions."""

SHIFT_KEYS, CONTROL_KEYS, ALT_KEYS, SUPER_KEYS = (
    (0x10, 0xA0, 0xA1),
    (0x11, 0xA2, 0xA3),
    (0x12, 0xA4, 0xA5),
    (0x5B, 0x5C),
)
CAPS_LOCK, NUM_LOCK, PACKET = 0x14, 0x90, 0xE7
LEFT_CONTROL, RIGHT_ALT = 0xA2, 0xA5
"""Held together they mean AltGr, which Windows reports as both."""
MODIFIERS = {"ctrl": CONTROL_KEYS, "shift": SHIFT_KEYS, "alt": ALT_KEYS, "super": SUPER_KEYS}
GENERIC = {0xA0: 0x10, 0xA1: 0x10, 0xA2: 0x11, 0xA3: 0x11, 0xA4: 0x12, 0xA5: 0x12}
"""The generic key that a keyboard layout expects for the left or right one."""
NAMES = {
    0x08: "backspace",
    0x09: "tab",
    0x0D: "enter",
    0x13: "pause",
    0x14: "capslock",
    0x1B: "esc",
    0x21: "pageup",
    0x22: "pagedown",
    0x23: "end",
    0x24: "home",
    0x25: "left",
    0x26: "up",
    0x27: "right",
    0x28: "down",
    0x2C: "printscreen",
    0x2D: "insert",
    0x2E: "delete",
    0x5D: "menu",
    0x90: "numlock",
    0x91: "scrolllock",
    **{code: name for name, codes in MODIFIERS.items() for code in codes},
    **{0x70 + number: f"f{number + 1}" for number in range(12)},
}
