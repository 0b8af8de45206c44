"""What Windows' agent does with keys that are held while it types, over a keyboard of the tests."""

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

SHIFT, LEFT_SHIFT, LEFT_CONTROL, CAPS_LOCK, UP = 0x10, 0xA0, 0xA2, 0x14, 2


class Keyboard:
    """A US keyboard of Windows: which keys are down, and what a program reads."""

    def __init__(self) -> None:
        self.down: set[int] = set()
        self.caps_lock = False
        self.read = ""

    def GetAsyncKeyState(self, key: int) -> int:
        return 0x8000 if key in self.down else 0

    def GetKeyState(self, key: int) -> int:
        return int(key == CAPS_LOCK and self.caps_lock)

    def MapVirtualKeyW(self, key: int, kind: int) -> int:
        return 0

    def keybd_event(self, key: int, scan: int, flags: int, extra: int) -> None:
        if flags & UP:
            return self.down.discard(key)
        self.down.add(key)
        if key == CAPS_LOCK:
            self.caps_lock = not self.caps_lock
        elif key == 0x0D:
            self.read += "\n"
        elif chr(key).isalpha() and key < 0x60:
            shifted = bool(self.down & {SHIFT, LEFT_SHIFT})
            letter = chr(key) if shifted != self.caps_lock else chr(key).lower()
            self.read += f"[{letter}]" if LEFT_CONTROL in self.down else letter
        return None


@pytest.fixture
def gui() -> Iterator[ModuleType]:
    table = {letter: ord(letter.upper()) for letter in "abc"} | {letter: ord(letter) | 0x100 for letter in "ABC"}
    gui = ModuleType("pyautogui")
    gui.__dict__["platformModule"] = SimpleNamespace(keyboardMapping=table | {"enter": 0x0D})
    with patch.dict(sys.modules, {"pyautogui": gui}):
        for name in ("vm_bridge.guest.common.input", "vm_bridge.guest.windows.input"):
            sys.modules.pop(name, None)
        yield gui
        for name in ("vm_bridge.guest.common.input", "vm_bridge.guest.windows.input"):
            sys.modules.pop(name, None)


@pytest.mark.parametrize("held", [LEFT_SHIFT, LEFT_CONTROL, None])
@pytest.mark.parametrize("caps_lock", [True, False])
def test_text_arrives_exactly_whatever_is_held(gui: ModuleType, held: int | None, caps_lock: bool) -> None:
    from vm_bridge.guest.windows.input import WindowsInputController

    keyboard: Any = Keyboard()
    controller = WindowsInputController.__new__(WindowsInputController)
    controller.__dict__.update(_user32=keyboard, _table=gui.platformModule.keyboardMapping)
    keyboard.down, keyboard.caps_lock = {held} - {None}, caps_lock
    controller._type_text({"text": "aBc\r\nCa"})
    assert keyboard.read == "aBc\nCa"
    assert (keyboard.down, keyboard.caps_lock) == ({held} - {None}, caps_lock), "as before"
