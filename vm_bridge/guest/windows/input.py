"""Pointer and keys of Windows: PyAutoGUI's table of keys, and what its own presses get wrong."""

import contextlib
import ctypes
from collections.abc import Callable, Iterable, Iterator
from ctypes import wintypes

import pyautogui

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.input import CONTROLS, Action, InputController
from vm_bridge.guest.windows.win32 import last_error, load_library

NOTCH, WHEEL, SIDEWAYS = 120, 0x0800, 0x1000
"""Units of one notch of the wheel, and the words for the wheel and the one that turns to the side."""
SIDE_DOWN, SIDE_UP, SIDE_BUTTON = 0x0080, 0x0100, {"back": 1, "forward": 2}
EXTENDED, UP, UNICODE = 1, 2, 4
KEYBOARD = 1
EXTENDED_KEYS = ("insert", "delete", "home", "end", "pageup", "pagedown", "up", "down", "left", "right", "win", "apps")
"""Keys that the number pad has too: Windows takes them for that one's unless it is told, and then shift does not
select."""
MODIFIER_KEYS = {1: 0x10, 2: 0x11, 4: 0x12}
"""Shift, control and alt, by the bit that says that a character needs them."""
HELD_KEYS = (0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0x5B, 0x5C)
"""Shift, control, alt and the Windows key, left and right: what may be held while text is typed."""
CAPS_LOCK = 0x14
NEVER_BLINK = 0xFFFFFFFF
MAP_KEY_TO_CHARACTER, DEAD = 2, 0x80000000
"""To ask which character a key gives, and the mark of one that waits for the next key."""


class _Key(ctypes.Structure):
    _fields_ = [
        ("key", wintypes.WORD),
        ("scan", wintypes.WORD),
        ("flags", wintypes.DWORD),
        ("time", wintypes.DWORD),
        ("extra", ctypes.c_size_t),
    ]


class _Any(ctypes.Union):
    # The largest of the three kinds of input is the pointer's.
    _fields_ = [("key", _Key), ("pointer", ctypes.c_byte * (24 + ctypes.sizeof(ctypes.c_void_p)))]


class _Input(ctypes.Structure):
    _fields_ = [("kind", wintypes.DWORD), ("any", _Any)]


class WindowsInputController(InputController):
    """See `InputController`."""

    keys = {"super": ("win",), "menu": ("apps",)}

    def __init__(self, wait_processed: Callable[[float], None]) -> None:
        super().__init__(wait_processed)
        self._user32 = load_library("user32")
        # In programs that begin from now on; a caret that blinks would keep every picture from coming to rest.
        self._user32.SetCaretBlinkTime(NEVER_BLINK)
        self._table: dict[str, int | None] = pyautogui.platformModule.keyboardMapping

    def _click(self, action: Action, button: str, clicks: int) -> None:
        """Windows keeps every click in its order, and takes two for one act where they are close in time."""
        pyautogui.click(action["x"], action["y"], clicks=clicks, button=button)

    def _scroll(self, action: Action) -> None:
        self._move_pointer(action["point"])
        notches = action["amount"] if action["direction"] in ("up", "right") else -action["amount"]
        self._turn_wheel("y" if action["direction"] in ("up", "down") else "x", notches)

    def _turn_wheel(self, axis: str, notches: int) -> None:
        self._user32.mouse_event(WHEEL if axis == "y" else SIDEWAYS, 0, 0, ctypes.c_int(NOTCH * notches), 0)

    def _side_click(self, button: str) -> None:
        for word in (SIDE_DOWN, SIDE_UP):
            self._user32.mouse_event(word, 0, 0, SIDE_BUTTON[button], 0)

    def _type_text(self, action: Action) -> None:
        """By its key where the keyboard has the character, else as what it is."""
        with self._without_modifiers():
            for character in action["text"].replace("\r\n", "\n"):
                name = CONTROLS.get(character, character)
                if name != character or self._is_exact(character):
                    self._down(name)
                    self._up(name)
                else:
                    self._send(character)

    @contextlib.contextmanager
    def _without_modifiers(self) -> Iterator[None]:
        """Modifiers that somebody holds are up meanwhile, and Caps Lock is off; both are as before after it."""
        held = [key for key in HELD_KEYS if self._user32.GetAsyncKeyState(key) & 0x8000]
        caps_lock = (CAPS_LOCK,) if self._user32.GetKeyState(CAPS_LOCK) & 1 else ()
        for key in held:
            self._user32.keybd_event(key, 0, UP, 0)
        self._strike_all(caps_lock)
        try:
            yield
        finally:
            self._strike_all(caps_lock)
            for key in held:
                self._user32.keybd_event(key, 0, 0, 0)

    def _strike_all(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._user32.keybd_event(key, 0, 0, 0)
            self._user32.keybd_event(key, 0, UP, 0)

    def _is_exact(self, character: str) -> bool:
        """Whether one key, with shift or without, gives it at once."""
        code = self._table.get(character)
        if code is None or not 0 < code < 0x200:
            return False
        return not self._user32.MapVirtualKeyW(code & 0xFF, MAP_KEY_TO_CHARACTER) & DEAD

    def _down(self, name: str) -> None:
        self._strike(name, 0)

    def _up(self, name: str) -> None:
        self._strike(name, UP)

    def _strike(self, name: str, flags: int) -> None:
        """PyAutoGUI would hold shift for `<` on keyboards that have it without."""
        code = self._table.get(name)
        if code is None or code < 0:
            return self._send(name) if flags != UP else None
        modifiers = [key for bit, key in MODIFIER_KEYS.items() if code >> 8 & bit]
        for key in modifiers:
            self._user32.keybd_event(key, 0, 0, 0)
        extended = EXTENDED if name in EXTENDED_KEYS else 0
        self._user32.keybd_event(code & 0xFF, self._user32.MapVirtualKeyW(code & 0xFF, 0), flags | extended, 0)
        for key in reversed(modifiers):
            self._user32.keybd_event(key, 0, UP, 0)
        return None

    def _send(self, text: str) -> None:
        """Characters as such, in whatever program has the keys. Raises ActionFailed where it takes none from us."""
        units = memoryview(text.encode("utf-16-le")).cast("H")
        strikes = [(unit, flags) for unit in units for flags in (UNICODE, UNICODE | UP)]
        inputs = (_Input * len(strikes))()
        for one, (unit, flags) in zip(inputs, strikes, strict=True):
            one.kind, one.any.key = KEYBOARD, _Key(0, unit, flags, 0, 0)
        if self._user32.SendInput(len(inputs), inputs, ctypes.sizeof(_Input)) != len(inputs):
            raise ActionFailed("cannot_type", f"nothing was typed: {last_error().strerror}")
