"""Runs the guest's program as under Windows: with PyAutoGUI's own Windows half, whose calls to user32 are written down.

`python windows.py PROGRAM ASKED` prints what the program answered and then the calls, a JSON object each. The keyboard
is American, the screen 1280 by 800. KEY_STATES in the environment says what user32 says of virtual keys.
"""

import contextlib
import ctypes
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import types
from collections.abc import Callable
from typing import Any

from PIL import Image, ImageGrab

LOADED = (Image, ImageGrab, subprocess, tempfile, os)
"""They would look for Windows' own modules if they were loaded after the system has its new name."""
SHIFTED = dict(zip('~!@#$%^&*()_+{}|:"<>?', "`1234567890-=[]\\;',./", strict=True))
VIRTUAL = dict(zip(";=,-./`[\\]' ", (186, 187, 188, 189, 190, 191, 192, 219, 220, 221, 222, 32), strict=True))
METRICS = {0: 1280, 1: 800}


class User32:
    """Takes every call; answers the few whose answer counts."""

    def __init__(self) -> None:
        self.calls: list[list[Any]] = []
        self._at = (0, 0)
        self._key_states: dict[str, int] = json.loads(os.environ.get("KEY_STATES", "{}"))

    def __getattr__(self, name: str) -> Callable[..., int]:
        def called(*given: Any) -> int:
            plain = [getattr(each, "value", each) for each in given]
            if name == "VkKeyScanA":
                return _virtual(plain[0])
            if name in ("GetAsyncKeyState", "GetKeyState"):
                return int(self._key_states.get(str(plain[0]), 0))
            if name == "GetSystemMetrics":
                return METRICS.get(plain[0], 0)
            if name == "GetCursorPos":
                given[0]._obj.x, given[0]._obj.y = self._at
            elif name != "SetProcessDPIAware":
                self.calls.append([name, *plain])
            if name == "SetCursorPos":
                self._at = (plain[0], plain[1])
            return 1

        return called


def _virtual(character: str) -> int:
    """Virtual key and, above it, whether shift goes with it; -1 for what no key gives."""
    if character in SHIFTED or character.isupper():
        return 0x100 | _virtual(SHIFTED.get(character, character.lower()))
    return VIRTUAL.get(character, ord(character.upper()) if character.isalnum() else -1)


class Clipboard(types.ModuleType):
    """Pyperclip with a clipboard of its own: a text file."""

    def copy(self, text: str) -> None:
        with open(os.environ["CLIPBOARD"], "w", encoding="utf-8", newline="") as file:
            file.write(text)

    def paste(self) -> str:
        with open(os.environ["CLIPBOARD"], encoding="utf-8", newline="") as file:
            return file.read()


def main(program: str, asked: str) -> None:
    user32 = User32()
    ctypes.windll = types.SimpleNamespace(user32=user32)  # type: ignore[attr-defined]
    sys.modules["pyperclip"] = Clipboard("pyperclip")
    sys.platform = "win32"
    sys.argv = [program, asked]
    answered = io.StringIO()
    with contextlib.redirect_stdout(answered):
        runpy.run_path(program, run_name="__main__")
    print(answered.getvalue().splitlines()[-1])
    print(json.dumps(user32.calls))


if __name__ == "__main__":
    main(*sys.argv[1:])
