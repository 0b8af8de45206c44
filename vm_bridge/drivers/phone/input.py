"""Touch, keys and shell actions on a phone, through its own commands."""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from protocol.actions.types import (
    Click,
    Drag,
    LongPress,
    OpenApp,
    Point,
    PressBack,
    PressHome,
    PressKeys,
    Scroll,
    Swipe,
    TypeText,
)
from vm_bridge.drivers.phone.adb import Device
from vm_bridge.errors import ActionFailed

TouchAction = Click | LongPress | Swipe | Drag | Scroll | PressHome | PressBack
InputAction = TouchAction | TypeText | PressKeys | OpenApp
"""Actions on the screen and the keys."""
SWIPE_MS, DRAG_MS, SCROLL_MS = 300, 1000, 500
NOTCH_SHARE = 0.1
"""Part of the screen that one wheel notch scrolls."""
MAX_SCROLL_SHARE = 0.7
"""Maximum distance of one swipe, as a part of the screen."""
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
"""Input method for text that Android's own command cannot type."""
TEXT_CHUNK = 500
"""Maximum characters typed by one command."""
_KEYS = {
    "ctrl": "CTRL_LEFT",
    "shift": "SHIFT_LEFT",
    "alt": "ALT_LEFT",
    "super": "META_LEFT",
    "enter": "ENTER",
    "esc": "ESCAPE",
    "tab": "TAB",
    "space": "SPACE",
    "backspace": "DEL",
    "delete": "FORWARD_DEL",
    "up": "DPAD_UP",
    "down": "DPAD_DOWN",
    "left": "DPAD_LEFT",
    "right": "DPAD_RIGHT",
    "home": "MOVE_HOME",
    "end": "MOVE_END",
    "pageup": "PAGE_UP",
    "pagedown": "PAGE_DOWN",
    "menu": "MENU",
}
"""Keys that Android names differently."""
_TYPED_KEYS = {"\n": "ENTER", "\t": "TAB"}


class PhoneInput:
    """Input on one device. `names` maps people's names of apps to packages."""

    def __init__(self, device: Device, names: Mapping[str, str]) -> None:
        self._device = device
        self._names = {name.casefold(): package for name, package in names.items()}

    async def do(self, action: InputAction, size: tuple[int, int]) -> None:
        """Do it on a screen of this size. Raises ActionFailed, AdbRequestFailed."""
        match action:
            case TypeText():
                await self._type(action.text)
            case OpenApp():
                await self._open(action.name)
            case PressKeys():
                await self._input(*key_arguments(action.keys))
            case _:
                await self._input(*touch_arguments(action, size))

    async def _type(self, text: str) -> None:
        if not text.isascii():
            await self._type_anything(text)
            return
        for words in text_arguments(text):
            await self._input(*words)

    async def _type_anything(self, text: str) -> None:
        """Type with a special input method, which is selected meanwhile."""
        if ADB_KEYBOARD not in (await self._device.checked_output("ime", "list", "-s")).split():
            raise ActionFailed("cannot_type", f"text beyond ASCII needs the input method {ADB_KEYBOARD} on the phone")
        chosen = await self._device.checked_output("settings", "get", "secure", "default_input_method")
        await self._device.checked_output("ime", "enable", ADB_KEYBOARD)
        await self._device.checked_output("ime", "set", ADB_KEYBOARD)
        try:
            for part in re.split(r"([\n\t])", text):
                if part in _TYPED_KEYS:
                    await self._input("keyevent", _TYPED_KEYS[part])
                for start in range(0, len(part), TEXT_CHUNK):
                    encoded = base64.b64encode(part[start : start + TEXT_CHUNK].encode()).decode()
                    await self._device.checked_output("am", "broadcast", "-a", "ADB_INPUT_B64", "--es", "msg", encoded)
        finally:
            await self._device.checked_output("ime", "set", chosen)

    async def _open(self, name: str) -> None:
        listed = (await self._device.checked_output("pm", "list", "packages")).split()
        packages = [line.removeprefix("package:") for line in listed]
        package = find_package(name, packages, self._names)
        if package is None:
            raise ActionFailed("no_such_app", f"there is no app {name!r}")
        ran = await self._device.run("monkey", "-p", package, "-c", "android.intent.category.LAUNCHER", "1")
        if ran.code != 0:
            raise ActionFailed("cannot_open", f"{package} does not open: {ran.text.strip()}")

    async def _input(self, *words: str) -> None:
        ran = await self._device.run("input", *words)
        if ran.code != 0:
            raise ActionFailed("input_failed", ran.text.strip())


def touch_arguments(action: TouchAction, size: tuple[int, int]) -> tuple[str, ...]:
    """Arguments of `input` for a touch or a phone key."""
    match action:
        case Click():
            return _command_arguments("tap", action.x, action.y)
        case LongPress():
            return _command_arguments("swipe", action.x, action.y, action.x, action.y, round(action.seconds * 1000))
        case Swipe():
            return _slide(action.start, action.end, SWIPE_MS)
        case Drag():
            return _slide(action.start, action.end, DRAG_MS)
        case Scroll():
            return _slide(*scroll_path(action, size), SCROLL_MS)
        case PressHome():
            return _command_arguments("keyevent", "HOME")
        case PressBack():
            return _command_arguments("keyevent", "BACK")
    assert_never(action)


def scroll_path(action: Scroll, size: tuple[int, int]) -> tuple[Point, Point]:
    """The swipe that brings content in the scroll's direction into view."""
    width, height = size
    at = action.point or Point(x=width // 2, y=height // 2)
    half = min(action.amount * NOTCH_SHARE, MAX_SCROLL_SHARE) / 2
    match action.direction:
        case "up" | "down":
            top, bottom = _span(at.y, half, height)
            ends = Point(x=at.x, y=bottom), Point(x=at.x, y=top)
            return ends if action.direction == "down" else (ends[1], ends[0])
        case "left" | "right":
            left, right = _span(at.x, half, width)
            ends = Point(x=right, y=at.y), Point(x=left, y=at.y)
            return ends if action.direction == "right" else (ends[1], ends[0])
    assert_never(action.direction)


def text_arguments(text: str) -> Iterable[tuple[str, ...]]:
    """Arguments of `input` for the commands that type ASCII."""
    for part in re.split(r"([\n\t])", text):
        if part in _TYPED_KEYS:
            yield "keyevent", _TYPED_KEYS[part]
            continue
        # Android reads "%s" as a space, so a literal one is typed in two pieces.
        for piece in re.split(r"(?<=%)(?=s)", part):
            for start in range(0, len(piece), TEXT_CHUNK):
                yield "text", piece[start : start + TEXT_CHUNK].replace(" ", "%s")


def key_arguments(keys: Sequence[str]) -> tuple[str, ...]:
    """Arguments of `input` that press keys together. Raises ActionFailed for keys that a phone does not have."""
    if len(keys) == 1 and len(keys[0]) == 1 and not keys[0].isalnum():
        return "text", keys[0]
    names = tuple(_KEYS.get(key, key.upper()) for key in keys)
    unknown = [key for key, name in zip(keys, names, strict=True) if not name.replace("_", "").isalnum()]
    if unknown:
        raise ActionFailed("no_such_key", f"a phone has no key {unknown[0]}")
    return ("keyevent", *names) if len(names) == 1 else ("keycombination", *names)


def find_package(name: str, packages: Sequence[str], names: Mapping[str, str]) -> str | None:
    """The installed package with a name: its own, people's name for it, or the only one with such a part."""
    if name in packages:
        return name
    wanted = name.strip().casefold()
    if names.get(wanted) in packages:
        return names[wanted]
    parted = [package for package in packages if wanted.replace(" ", "") in package.casefold().split(".")]
    return parted[0] if len(parted) == 1 else None


def _slide(start: Point, end: Point, milliseconds: int) -> tuple[str, ...]:
    return _command_arguments("swipe", start.x, start.y, end.x, end.y, milliseconds)


def _span(at: int, half: float, length: int) -> tuple[int, int]:
    """Both ends of a swipe around a position, well within the screen."""
    edge = round(length * (1 - MAX_SCROLL_SHARE) / 3)
    return max(edge, at - round(half * length)), min(length - 1 - edge, at + round(half * length))


def _command_arguments(*words: str | int) -> tuple[str, ...]:
    return tuple(map(str, words))
