"""Pointer and keys of an X server: what PyAutoGUI cannot type there is typed by `x11_keyboard`."""

from collections.abc import Callable

import pyautogui
from Xlib import X, display
from Xlib.ext import xtest

from vm_bridge.guest.common.input import CONTROLS, Action, InputController
from vm_bridge.guest.linux.x11_keyboard import X11Keyboard

SIDE_BUTTON = {"back": 8, "forward": 9}


class X11InputController(InputController):
    """See `InputController`."""

    keys = {"super": ("win",), "menu": ("apps",), "<": ("shift", ",")}

    def __init__(self, wait_processed: Callable[[float], None]) -> None:
        super().__init__(wait_processed)
        # It would ask GNOME's settings whether the buttons are swapped.
        pyautogui.platformModule._mouse_is_swapped_setting = False
        self._display = display.Display()
        self._keyboard = X11Keyboard(self._display, wait_processed)
        self._exact = self._exact_characters()

    def do(self, action: Action) -> None:
        if self._keyboard.follow_layout():
            self._rename_keys()
            self._exact = self._exact_characters()
        super().do(action)

    def _rename_keys(self) -> None:
        """PyAutoGUI reads once which key has which character."""
        table = pyautogui.platformModule.keyboardMapping
        for name in [name for name, code in table.items() if len(name) == 1 and code]:
            table[name] = self._display.keysym_to_keycode(ord(name)) or table[name]

    def _exact_characters(self) -> dict[str, bool]:
        return {character: self._is_exact(character) for character in map(chr, range(0x20, 0x7F))}

    def _side_click(self, button: str) -> None:
        """PyAutoGUI names none of the buttons at a mouse's side."""
        for event in (X.ButtonPress, X.ButtonRelease):
            xtest.fake_input(self._display, event, SIDE_BUTTON[button])
        self._display.sync()

    def _turn_wheel(self, axis: str, notches: int) -> None:
        (pyautogui.vscroll if axis == "y" else pyautogui.hscroll)(notches)

    def _scroll(self, action: Action) -> None:
        self._move_pointer(action["point"])
        turn = pyautogui.vscroll if action["direction"] in ("up", "down") else pyautogui.hscroll
        turn(action["amount"] if action["direction"] in ("up", "right") else -action["amount"])

    def _type_text(self, action: Action) -> None:
        with self._keyboard.without_modifiers():
            self._type_characters(action["text"].replace("\r\n", "\n"))

    def _type_characters(self, text: str) -> None:
        while text:
            ready = self._keyboard.map_keys("".join("a" if self._typed_by_pyautogui(c) else c for c in text))
            for character in text[:ready]:
                self._type(character)
            text = text[ready:]

    def _type(self, character: str) -> None:
        if self._typed_by_pyautogui(character):
            pyautogui.press(CONTROLS.get(character, character))
        else:
            self._keyboard.press(character)

    def _typed_by_pyautogui(self, character: str) -> bool:
        return character in CONTROLS or self._exact.get(character, False)

    def _is_exact(self, character: str) -> bool:
        """Whether PyAutoGUI's own table leads to the key that gives this character (for `<` it does not)."""
        code = pyautogui.platformModule.keyboardMapping.get(character)
        return bool(code) and self._keyboard.produces(code, pyautogui.isShiftCharacter(character), character)
