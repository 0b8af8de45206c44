"""An icon in the Windows notification area, with a menu that the system draws."""

import ctypes
import sys
from collections.abc import Iterator
from ctypes import wintypes
from itertools import count

from ..errors import RecorderError
from ..tray_icon import Choose, IconState, Look, MenuEntry, number_entries
from .icon_image import SIZE, make_icon
from .structures import LRESULT, WINDOW_PROCEDURE, NotifyIconData, WindowClass

assert sys.platform == "win32"

ADD, MODIFY, DELETE = 0, 1, 2
WITH_MESSAGE, WITH_ICON, WITH_TIP = 1, 2, 4
MESSAGE = 0x8001
"""Message that the icon sends (WM_APP + 1)."""
LEFT_UP, RIGHT_UP, KEY_SELECTED = 0x202, 0x205, 0x401
NULL_MESSAGE = 0
SEPARATOR, GRAYED, POPUP = 0x800, 1, 0x10
RETURN_CHOICE, NO_NOTICES, RIGHT_BUTTON = 0x100, 0x80, 2
ALL_INPUT, REMOVE = 0x4FF, 1
ICON_VERSION = 0x30000
CLASS_NAME = "PilothouseRecorderTray"
MAX_TIP = 127


class WindowsTrayIcon:
    """The icon, with its own hidden window. Only one thread may create and use it.

    Raises RecorderError with `no_tray` if Windows has no notification area, for example without a taskbar.
    """

    def __init__(self, title: str, look: Look, choose: Choose) -> None:
        self._user, self._shell = ctypes.WinDLL("user32", use_last_error=True), ctypes.WinDLL("shell32")
        self._kernel = ctypes.WinDLL("kernel32")
        self._declare()
        self._title, self._look, self._choose = title, look, choose
        self._icons: dict[IconState, int] = {}
        self._is_open = False
        self._taskbar_created = self._user.RegisterWindowMessageW("TaskbarCreated")
        self._procedure = WINDOW_PROCEDURE(self._on_message)
        module = self._kernel.GetModuleHandleW(None)
        self._class = WindowClass(procedure=self._procedure, instance=module, class_name=CLASS_NAME)
        self._user.RegisterClassW(ctypes.byref(self._class))
        self._window = self._user.CreateWindowExW(0, CLASS_NAME, title, 0, 0, 0, 0, 0, None, None, module, None)
        if not self._window or not self._notify(ADD):
            raise RecorderError("no_tray", "This Windows has no notification area. Use `window` or the commands.")

    def show(self, look: Look) -> None:
        """Change what the icon shows."""
        if look != self._look:
            self._look = look
            self._notify(MODIFY)

    def process(self, seconds: float) -> None:
        """Handle Windows messages for at most this time, or for as long as the person has the menu open."""
        self._user.MsgWaitForMultipleObjects(0, None, False, int(1000 * seconds), ALL_INPUT)
        message = wintypes.MSG()
        while self._user.PeekMessageW(ctypes.byref(message), None, 0, 0, REMOVE):
            self._user.TranslateMessage(ctypes.byref(message))
            self._user.DispatchMessageW(ctypes.byref(message))

    def close(self) -> None:
        """Remove the icon."""
        self._notify(DELETE)
        self._user.DestroyWindow(self._window)
        for icon in self._icons.values():
            self._user.DestroyIcon(icon)

    def _notify(self, what: int) -> bool:
        data = NotifyIconData(
            size=ctypes.sizeof(NotifyIconData),
            window=self._window,
            identifier=1,
            flags=WITH_MESSAGE | WITH_ICON | WITH_TIP,
            message=MESSAGE,
            icon=self._icon(self._look.state),
            tip=f"{self._title}: {self._look.text}"[:MAX_TIP],
        )
        return bool(self._shell.Shell_NotifyIconW(what, ctypes.byref(data)))

    def _icon(self, state: IconState) -> int:
        if state not in self._icons:
            picture = make_icon(state)
            made = self._user.CreateIconFromResourceEx(picture, len(picture), True, ICON_VERSION, SIZE, SIZE, 0)
            self._icons[state] = made or 0
        return self._icons[state]

    def _on_message(self, window: int, message: int, first: int, second: int) -> int:
        if message == MESSAGE and second & 0xFFFF in (LEFT_UP, RIGHT_UP, KEY_SELECTED) and not self._is_open:
            self._open_menu()
        elif message == self._taskbar_created:
            self._notify(ADD)  # the taskbar restarted
        else:
            return int(self._user.DefWindowProcW(window, message, first, second))
        return 0

    def _open_menu(self) -> None:
        numbered = number_entries(self._look.entries)
        menu = self._make_menu(self._look.entries, count(1))
        place = wintypes.POINT()
        self._user.GetCursorPos(ctypes.byref(place))
        self._user.SetForegroundWindow(self._window)  # else the menu stays when the person clicks elsewhere
        self._is_open = True
        flags = RETURN_CHOICE | NO_NOTICES | RIGHT_BUTTON
        number = self._user.TrackPopupMenu(menu, flags, place.x, place.y, 0, self._window, None)
        self._is_open = False
        self._user.PostMessageW(self._window, NULL_MESSAGE, 0, 0)
        self._user.DestroyMenu(menu)
        chosen = numbered.get(number) if number else None
        if chosen is not None and chosen.name:
            self._choose(chosen.name)

    def _make_menu(self, entries: tuple[MenuEntry, ...], numbers: Iterator[int]) -> int:
        """A menu whose lines have the numbers of `number_entries`."""
        menu = int(self._user.CreatePopupMenu())
        for entry in entries:
            number = next(numbers)
            label = entry.label.replace("&", "&&")  # a single one underlines the next character
            if not entry.label:
                self._user.AppendMenuW(menu, SEPARATOR, 0, None)
            elif entry.entries:
                self._user.AppendMenuW(menu, POPUP, self._make_menu(entry.entries, numbers), label)
            else:
                self._user.AppendMenuW(menu, 0 if entry.name else GRAYED, number, label)
        return menu

    def _declare(self) -> None:
        user, handle, number, flags = self._user, wintypes.HANDLE, ctypes.c_int, wintypes.UINT
        user.CreateWindowExW.restype = user.CreateIconFromResourceEx.restype = user.CreatePopupMenu.restype = handle
        user.CreateWindowExW.argtypes = [
            *(wintypes.DWORD, wintypes.LPCWSTR, wintypes.LPCWSTR, wintypes.DWORD),
            *(number, number, number, number, handle, handle, handle, wintypes.LPVOID),
        ]
        user.CreateIconFromResourceEx.argtypes = [
            *(ctypes.c_char_p, wintypes.DWORD, wintypes.BOOL, wintypes.DWORD, number, number, flags)
        ]
        user.DefWindowProcW.restype = LRESULT
        user.DefWindowProcW.argtypes = [handle, flags, wintypes.WPARAM, wintypes.LPARAM]
        user.AppendMenuW.argtypes = [handle, flags, ctypes.c_size_t, wintypes.LPCWSTR]
        user.TrackPopupMenu.argtypes = [handle, flags, number, number, number, handle, wintypes.LPVOID]
        user.PostMessageW.argtypes = [handle, flags, wintypes.WPARAM, wintypes.LPARAM]
        user.PeekMessageW.argtypes = [wintypes.LPVOID, handle, flags, flags, flags]
        for function in (user.DestroyMenu, user.DestroyWindow, user.DestroyIcon, user.SetForegroundWindow):
            function.argtypes = [handle]
        self._kernel.GetModuleHandleW.restype, self._kernel.GetModuleHandleW.argtypes = handle, [wintypes.LPCWSTR]
        self._shell.Shell_NotifyIconW.argtypes = [wintypes.DWORD, wintypes.LPVOID]
