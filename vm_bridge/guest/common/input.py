"""Pointer and keys through PyAutoGUI. Each system fills its gaps (`linux.x11_input`, `windows.input`)."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyautogui

BUTTONS = {"click": ("left", 1), "double_click": ("left", 2), "triple_click": ("left", 3)}
BUTTONS |= {"right_click": ("right", 1), "middle_click": ("middle", 1)}
SIDE_BUTTONS = ("back", "forward")
PIXELS_PER_NOTCH, MAX_NOTCHES = 100, 100
"""The protocol's scroll units, whose code a guest does not have."""
DRAG_STEPS = 8
PROCESSED_SECONDS = 0.25
"""Maximum wait within one action until the programs have processed a part of it (seconds)."""
CONTROLS = {"\n": "enter", "\r": "enter", "\t": "tab", "\b": "backspace"}

Action = dict[str, Any]


class InputController:
    """Executes pointer and key actions. `wait_processed` waits until every program has processed its input, with a time
    limit in seconds."""

    keys: Mapping[str, tuple[str, ...]]
    """Keys that PyAutoGUI names differently, or presses wrongly."""

    def __init__(self, wait_processed: Callable[[float], None]) -> None:
        pyautogui.PAUSE = 0
        pyautogui.FAILSAFE = False
        pyautogui.MINIMUM_DURATION = pyautogui.MINIMUM_SLEEP = 0
        self._wait_processed = wait_processed

    def do(self, action: Action) -> None:
        """Do one action of pointer or keys."""
        if action["kind"] in BUTTONS:
            self._click(action, *BUTTONS[action["kind"]])
        else:
            getattr(self, f"_{action['kind']}")(action)

    def _click(self, action: Action, button: str, clicks: int) -> None:
        """The window manager intercepts the first click; an immediate second one may be lost."""
        pyautogui.click(action["x"], action["y"], button=button)
        for _ in range(clicks - 1):
            self._wait_processed(PROCESSED_SECONDS)
            pyautogui.click(action["x"], action["y"], button=button)

    def _mouse_click(self, action: Action) -> None:
        self._move_pointer(action["point"])
        x, y = pyautogui.position()
        with self._keys_down(action["keys"]):
            if action["button"] in SIDE_BUTTONS:
                for _ in range(action["clicks"]):
                    self._side_click(action["button"])
            else:
                self._click({"x": x, "y": y}, action["button"], action["clicks"])

    def _side_click(self, button: str) -> None:
        """Press and release the button `back` or `forward`."""
        raise NotImplementedError

    def _scroll_by(self, action: Action) -> None:
        """Scroll by whole notches of the wheel."""
        self._move_pointer(action["point"])
        dx, dy = scroll_notches(action)
        with self._keys_down(action["keys"]):
            if dy:
                self._turn_wheel("y", -dy)
            if dx:
                self._turn_wheel("x", dx)

    def _turn_wheel(self, axis: str, notches: int) -> None:
        """Turn a wheel where the pointer is; positive is up and right."""
        raise NotImplementedError

    @contextlib.contextmanager
    def _keys_down(self, keys: Sequence[str]) -> Iterator[None]:
        """Hold keys during an action, and release them even after an error."""
        names = [name for key in keys for name in self._names(key)]
        try:
            for name in names:
                self._down(name)
            yield
        finally:
            for name in reversed(names):
                self._up(name)

    def _move_to(self, action: Action) -> None:
        pyautogui.moveTo(action["x"], action["y"])

    def _mouse_down(self, action: Action) -> None:
        self._move_pointer(action["point"])
        pyautogui.mouseDown(button=action["button"])

    def _mouse_up(self, action: Action) -> None:
        self._move_pointer(action["point"])
        pyautogui.mouseUp(button=action["button"])

    def _drag(self, action: Action) -> None:
        """Programs start a drag on motion and drop at the last position they saw, so they get time to see it."""
        self._drag_along([_point(action["start"]), _point(action["end"])], action["button"])

    def _drag_path(self, action: Action) -> None:
        points = [_point(point) for point in action["points"]]
        with self._keys_down(action["keys"]):
            self._drag_along(points if len(points) > 1 else [pyautogui.position(), *points], action["button"])

    def _drag_along(self, points: Sequence[tuple[int, int]], button: str) -> None:
        (x, y), *others = points
        pyautogui.moveTo(x, y)
        pyautogui.mouseDown(button=button)
        try:
            self._wait_processed(PROCESSED_SECONDS)
            for to_x, to_y in others:
                for step in range(1, DRAG_STEPS + 1):
                    pyautogui.moveTo(x + (to_x - x) * step // DRAG_STEPS, y + (to_y - y) * step // DRAG_STEPS)
                    if step in (1, DRAG_STEPS):
                        self._wait_processed(PROCESSED_SECONDS)
                x, y = to_x, to_y
        finally:
            pyautogui.mouseUp(button=button)

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
        """PyAutoGUI's names of a key."""
        return self.keys.get(key, (key,))

    def _down(self, name: str) -> None:
        pyautogui.keyDown(name)

    def _up(self, name: str) -> None:
        pyautogui.keyUp(name)

    def _move_pointer(self, point: dict[str, int] | None) -> None:
        """Move to a point; None stays."""
        if point is not None:
            pyautogui.moveTo(*_point(point))


def scroll_notches(action: Action) -> tuple[int, int]:
    """Wheel notches of a scroll, to the right and down: pixels rounded to the nearest notch."""
    if action["unit"] == "notches":
        return action["dx"], action["dy"]
    return _notches(action["dx"]), _notches(action["dy"])


def _notches(pixels: int) -> int:
    if not pixels:
        return 0
    count = min(max(1, round(abs(pixels) / PIXELS_PER_NOTCH)), MAX_NOTCHES)
    return count if pixels > 0 else -count


def _point(point: dict[str, int]) -> tuple[int, int]:
    return point["x"], point["y"]
