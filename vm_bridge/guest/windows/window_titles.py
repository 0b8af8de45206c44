"""The titles of the windows on Windows' desktop."""

import ctypes
from ctypes import wintypes

from vm_bridge.guest.windows.win32 import load_library

MAX_TITLES, MAX_TITLE_LENGTH = 50, 300


def window_titles() -> list[str]:
    """Titles of visible windows, the front one first."""
    user32 = load_library("user32")
    titles: list[str] = []
    text = ctypes.create_unicode_buffer(MAX_TITLE_LENGTH + 1)

    def take(window: int, _: int) -> bool:
        handle = wintypes.HWND(window)
        if user32.IsWindowVisible(handle) and user32.GetWindowTextW(handle, text, len(text)):
            titles.append(text.value)
        return len(titles) < MAX_TITLES

    callback = ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.HWND, wintypes.LPARAM)(take)  # type: ignore[attr-defined, unused-ignore]
    user32.EnumWindows(callback, wintypes.LPARAM(0))
    return titles
