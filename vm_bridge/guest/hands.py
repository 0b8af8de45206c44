"""Pointer and keys, moved by PyAutoGUI; its gaps are filled by each system's own (`xhands`, `win32.hands`)."""

from collections.abc import Callable, Mapping
from typing import Any

import pyautogui

BUTTONS = {"click": ("left", 1), "double_click": ("left", 2), "triple_click": ("left", 3)}
BUTTONS |= {"right_click": ("right", 1), "middle_click": ("middle", 1)}
DRAG_STEPS = 8
TAKEN = 0.25
"""Longest wait within one act until the programs have taken a part of it (seconds)."""
CONTROLS = {"\n": "enter", "\r": "enter", "\t": "tab", "\b": "backspace"}

Action = dict[str, Any]


class Hands:
    """Does the pointer and key actions. `rest` waits until every program has taken what it was sent, at most so many
    seconds."""

    keys: Mapping[str, tuple[str, ...]]
    """Keys PyAutoGUI names otherwise, or presses wrongly."""

    def __init__(self, rest: Callable[[float], None]) -> None:
        pyautogui.PAUSE = 0
        pyautogui.FAILSAFE = False
        pyautogui.MINIMUM_DURATION = pyautogui.MINIMUM_SLEEP = 0
        self._rest = rest

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

    def _press_keys(self, action: Action) -> None:
        names = [name for key in action["keys"] for name in self._names(key)]
        for name in names:
            self._down(name)
        for name in reversed(names):
            self._up(name)

    def _press(self, action: Action) -> None:
        for name in self._names(action["key"]):
            self._down(name)

    def _release(self, action: Action) -> None:
        for name in self._names(action["key"]):
            self._up(name)

    def _names(self, key: str) -> tuple[str, ...]:
        """A key as PyAutoGUI names it."""
        return self.keys.get(key, (key,))

    def _down(self, name: str) -> None:
        pyautogui.keyDown(name)

    def _up(self, name: str) -> None:
        pyautogui.keyUp(name)

    def _go(self, point: dict[str, int] | None) -> None:
        """To a point, or stay."""
        if point is not None:
            pyautogui.moveTo(*_point(point))


def _point(point: dict[str, int]) -> tuple[int, int]:
    return point["x"], point["y"]
