"""Pointer and keys, moved by PyAutoGUI; its gaps are filled by `keyboard`."""

from collections.abc import Callable
from typing import Any

import pyautogui
from Xlib import display

from vm_bridge.guest.keyboard import Keyboard

BUTTONS = {"click": ("left", 1), "double_click": ("left", 2), "triple_click": ("left", 3)}
BUTTONS |= {"right_click": ("right", 1), "middle_click": ("middle", 1)}
DRAG_STEPS = 8
TAKEN = 0.25
"""Longest wait within one act until the programs have taken a part of it (seconds)."""
KEYS = {"super": ("win",), "menu": ("apps",), "<": ("shift", ",")}
"""Keys PyAutoGUI names otherwise, or presses wrongly."""
CONTROLS = {"\n": "enter", "\r": "enter", "\t": "tab", "\b": "backspace"}

Action = dict[str, Any]


class Hands:
    """Does the pointer and key actions. `rest` waits until every program has taken what it was sent, at most so many
    seconds."""

    def __init__(self, rest: Callable[[float], None]) -> None:
        pyautogui.PAUSE = 0
        pyautogui.FAILSAFE = False
        pyautogui.MINIMUM_DURATION = pyautogui.MINIMUM_SLEEP = 0
        # It would ask GNOME's settings whether the buttons are swapped.
        pyautogui.platformModule._mouse_is_swapped_setting = False
        self._rest = rest
        self._keyboard = Keyboard(display.Display(), rest)
        self._exact = {character: self._is_exact(character) for character in map(chr, range(0x20, 0x7F))}

    def do(self, action: Action) -> None:
        """Do one action of pointer or keys."""
        if action["kind"] in BUTTONS:
            self._click(action, *BUTTONS[action["kind"]])
        else:
            getattr(self, f"_{action['kind']}")(action)

    def _click(self, action: Action, button: str, clicks: int) -> None:
        """The window manager looks at the first click; a second one on its heels may be lost on the way."""
        pyautogui.click(action["x"], action["y"], button=button)
        for _ in range(clicks - 1):
            self._rest(TAKEN)
            pyautogui.click(action["x"], action["y"], button=button)

    def _move_to(self, action: Action) -> None:
        pyautogui.moveTo(action["x"], action["y"])

    def _mouse_down(self, action: Action) -> None:
        self._go(action["point"])
        pyautogui.mouseDown(button=action["button"])

    def _mouse_up(self, action: Action) -> None:
        self._go(action["point"])
        pyautogui.mouseUp(button=action["button"])

    def _drag(self, action: Action) -> None:
        """Programs begin a drag on motion and drop where they last saw it: they are given time to see it."""
        (x, y), (to_x, to_y) = _point(action["start"]), _point(action["end"])
        pyautogui.moveTo(x, y)
        pyautogui.mouseDown(button=action["button"])
        self._rest(TAKEN)
        for step in range(1, DRAG_STEPS + 1):
            pyautogui.moveTo(x + (to_x - x) * step // DRAG_STEPS, y + (to_y - y) * step // DRAG_STEPS)
            if step in (1, DRAG_STEPS):
                self._rest(TAKEN)
        pyautogui.mouseUp(button=action["button"])

    def _scroll(self, action: Action) -> None:
        self._go(action["point"])
        turn = pyautogui.vscroll if action["direction"] in ("up", "down") else pyautogui.hscroll
        turn(action["amount"] if action["direction"] in ("up", "right") else -action["amount"])

    def _type_text(self, action: Action) -> None:
        text = action["text"].replace("\r\n", "\n")
        while text:
            ready = self._keyboard.lend("".join("a" if self._by_pyautogui(c) else c for c in text))
            for character in text[:ready]:
                self._type(character)
            text = text[ready:]

    def _press_keys(self, action: Action) -> None:
        pyautogui.hotkey(*(name for key in action["keys"] for name in KEYS.get(key, (key,))), interval=0)

    def _press(self, action: Action) -> None:
        for name in KEYS.get(action["key"], (action["key"],)):
            pyautogui.keyDown(name)

    def _release(self, action: Action) -> None:
        for name in KEYS.get(action["key"], (action["key"],)):
            pyautogui.keyUp(name)

    def _go(self, point: dict[str, int] | None) -> None:
        """To a point, or stay."""
        if point is not None:
            pyautogui.moveTo(*_point(point))

    def _type(self, character: str) -> None:
        if self._by_pyautogui(character):
            pyautogui.press(CONTROLS.get(character, character))
        else:
            self._keyboard.press(character)

    def _by_pyautogui(self, character: str) -> bool:
        return character in CONTROLS or self._exact.get(character, False)

    def _is_exact(self, character: str) -> bool:
        """Whether PyAutoGUI's own table leads to the key that gives this character (for `<` it does not)."""
        code = pyautogui.platformModule.keyboardMapping.get(character)
        return bool(code) and self._keyboard.means(code, pyautogui.isShiftCharacter(character), character)


def _point(point: dict[str, int]) -> tuple[int, int]:
    return point["x"], point["y"]
