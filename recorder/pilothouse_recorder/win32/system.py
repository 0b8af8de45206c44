"""Implements `calls.WindowsCalls` on Windows, by ctypes."""

import ctypes
import sys
from ctypes import wintypes
from pathlib import PureWindowsPath

from .automation import Automation
from .calls import ElementRecord, HookRecord, Rectangle, WindowRecord
from .hooks import Hooks
from .screen import ScreenCopier
from .structures import ENUM_PROCEDURE

assert sys.platform == "win32"

PER_MONITOR_AWARE = -4
"""DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2: every point and size is in physical pixels."""
SCREEN_LEFT, SCREEN_TOP, SCREEN_WIDTH, SCREEN_HEIGHT = 76, 77, 78, 79
CLOAKED = 14
QUERY_PROCESS = 0x1000
KEEP_KEYBOARD = 4
"""ToUnicodeEx flag that preserves the dead-key state of the foreground program (Windows 10, version 1607)."""
MAX_TITLE, MAX_CLASS, MAX_PATH, MAX_TEXT = 500, 256, 1024, 8
MS, HUNDRED_NS = 1_000_000, 100


class WindowsSystem:
    """Raises RecorderError with `no_input` if Windows refuses a hook."""

    def __init__(self) -> None:
        self._user, self._kernel = ctypes.WinDLL("user32"), ctypes.WinDLL("kernel32")
        self._dwm = ctypes.WinDLL("dwmapi")
        self._user.SetProcessDpiAwarenessContext.argtypes = [ctypes.c_void_p]
        self._user.SetProcessDpiAwarenessContext(ctypes.c_void_p(PER_MONITOR_AWARE))
        for name in ("IsWindowVisible", "IsIconic", "GetWindowThreadProcessId"):
            getattr(self._user, name).argtypes = [wintypes.HWND, *([ctypes.c_void_p] if name[0] == "G" else [])]
        for name in ("InternalGetWindowText", "GetClassNameW"):
            getattr(self._user, name).argtypes = [wintypes.HWND, wintypes.LPWSTR, ctypes.c_int]
        self._user.GetWindowRect.argtypes = [wintypes.HWND, ctypes.c_void_p]
        self._user.EnumWindows.argtypes = [ENUM_PROCEDURE, wintypes.LPARAM]
        self._user.GetForegroundWindow.restype = wintypes.HWND
        self._user.GetKeyboardLayout.restype, self._user.GetKeyState.restype = wintypes.HANDLE, ctypes.c_short
        self._user.ToUnicodeEx.argtypes = [
            *(wintypes.UINT, wintypes.UINT, ctypes.c_char_p, wintypes.LPWSTR, ctypes.c_int, wintypes.UINT),
            wintypes.HANDLE,
        ]
        self._dwm.DwmGetWindowAttribute.argtypes = [wintypes.HWND, wintypes.DWORD, ctypes.c_void_p, wintypes.DWORD]
        self._kernel.GetTickCount.restype, self._kernel.GetTickCount64.restype = wintypes.DWORD, ctypes.c_ulonglong
        self._kernel.OpenProcess.restype = wintypes.HANDLE
        self._kernel.CloseHandle.argtypes = [wintypes.HANDLE]
        self._kernel.QueryFullProcessImageNameW.argtypes = [
            *(wintypes.HANDLE, wintypes.DWORD, wintypes.LPWSTR, ctypes.POINTER(wintypes.DWORD))
        ]
        self._programs: dict[int, str] = {}
        self._screen = ScreenCopier()
        self._automation: Automation | None = None
        self._hooks = Hooks()

    def take_hook_records(self) -> list[HookRecord]:
        """Input since the last call."""
        return self._hooks.take_records()

    def hooks_alive(self) -> bool:
        """Whether the thread of the hooks runs."""
        return self._hooks.alive

    def take_window_events(self) -> list[tuple[int, int]]:
        """Events of windows since the last call."""
        return self._hooks.take_window_events()

    def tick_count(self) -> int:
        """Milliseconds since the system started, in 32 bits."""
        return int(self._kernel.GetTickCount())

    def toggled(self, key: int) -> bool:
        """Whether a lock key is on."""
        return bool(self._user.GetKeyState(key) & 1)

    def key_text(self, key: int, scan: int, state: bytes) -> tuple[str, bool]:
        """The text that a key writes with the layout of the foreground window."""
        thread = self._user.GetWindowThreadProcessId(self._user.GetForegroundWindow(), None)
        layout = self._user.GetKeyboardLayout(thread)
        text = ctypes.create_unicode_buffer(MAX_TEXT)
        length = self._user.ToUnicodeEx(key, scan, state, text, MAX_TEXT, KEEP_KEYBOARD, layout)
        return text.value[: abs(length)], length < 0

    def screen(self) -> Rectangle:
        """The rectangle around all monitors."""
        left, top = self._user.GetSystemMetrics(SCREEN_LEFT), self._user.GetSystemMetrics(SCREEN_TOP)
        width, height = self._user.GetSystemMetrics(SCREEN_WIDTH), self._user.GetSystemMetrics(SCREEN_HEIGHT)
        return left, top, left + width, top + height

    def windows(self) -> list[WindowRecord]:
        """Top-level windows, the topmost first."""
        handles: list[int] = []

        def add(handle: int, _: int) -> bool:
            handles.append(handle)
            return True

        self._user.EnumWindows(ENUM_PROCEDURE(add), 0)
        found = [self._read_window(handle) for handle in handles]
        used = {one.pid for one in found}
        self._programs = {pid: name for pid, name in self._programs.items() if pid in used}
        return found

    def foreground(self) -> int:
        """The foreground window."""
        return int(self._user.GetForegroundWindow() or 0)

    def copy_screen(self, screen: Rectangle) -> memoryview | None:
        """The pixels of the screen."""
        return self._screen.copy(screen)

    def suspended_ns(self) -> int:
        """Time since the system started minus the time it was awake."""
        awake = ctypes.c_ulonglong()
        self._kernel.QueryUnbiasedInterruptTime(ctypes.byref(awake))
        return int(self._kernel.GetTickCount64()) * MS - awake.value * HUNDRED_NS

    def element_at(self, x: int, y: int) -> ElementRecord | None:
        """The element at a point."""
        return self._find_automation().element_at(x, y)

    def focused_element(self) -> ElementRecord | None:
        """The element with the focus."""
        return self._find_automation().focused_element()

    def close(self) -> None:
        """Remove the hooks."""
        self._hooks.close()
        self._screen.close()

    def _find_automation(self) -> Automation:
        if self._automation is None:
            self._automation = Automation()
        return self._automation

    def _read_window(self, handle: int) -> WindowRecord:
        pid, cloaked, rectangle = wintypes.DWORD(), wintypes.DWORD(), wintypes.RECT()
        title, kind = ctypes.create_unicode_buffer(MAX_TITLE), ctypes.create_unicode_buffer(MAX_CLASS)
        self._user.GetWindowThreadProcessId(handle, ctypes.byref(pid))
        self._user.InternalGetWindowText(handle, title, MAX_TITLE)
        self._user.GetClassNameW(handle, kind, MAX_CLASS)
        self._user.GetWindowRect(handle, ctypes.byref(rectangle))
        self._dwm.DwmGetWindowAttribute(handle, CLOAKED, ctypes.byref(cloaked), ctypes.sizeof(cloaked))
        visible = self._user.IsWindowVisible(handle) and not self._user.IsIconic(handle) and not cloaked.value
        return WindowRecord(
            handle=handle,
            pid=pid.value,
            program=self._program(pid.value),
            class_name=kind.value,
            title=title.value,
            visible=bool(visible),
            rectangle=(rectangle.left, rectangle.top, rectangle.right, rectangle.bottom),
        )

    def _program(self, pid: int) -> str:
        """The file name of a process; empty if it cannot be queried."""
        if pid not in self._programs:
            process = self._kernel.OpenProcess(QUERY_PROCESS, False, pid)
            path, size = ctypes.create_unicode_buffer(MAX_PATH), wintypes.DWORD(MAX_PATH)
            if process:
                self._kernel.QueryFullProcessImageNameW(process, 0, path, ctypes.byref(size))
                self._kernel.CloseHandle(process)
            self._programs[pid] = PureWindowsPath(path.value).name
        return self._programs[pid]
