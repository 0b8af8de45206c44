"""Low-level keyboard and mouse hooks, and window events, on their own thread with a message loop.

Windows removes a hook whose thread is slow, so the procedures only copy the structure.
"""

import ctypes
import sys
import threading
from collections import deque
from ctypes import wintypes

from ..clocks import now_ns
from ..errors import RecorderError
from .calls import HookRecord
from .structures import HOOK_PROCEDURE, LRESULT, WIN_EVENT_PROCEDURE
from .translation import KEYBOARD, MOUSE

assert sys.platform == "win32"

KEYBOARD_HOOK, MOUSE_HOOK = 13, 14
OBJECT_CREATE, OBJECT_HIDE = 0x8000, 0x8003
WHOLE_WINDOW = 0
QUIT = 0x12
ROOT_ANCESTOR = 2
START_SECONDS = 10.0


class Hooks:
    """Raises RecorderError with `no_input` if Windows refuses a hook."""

    def __init__(self) -> None:
        self._user, self._kernel = ctypes.WinDLL("user32", use_last_error=True), ctypes.WinDLL("kernel32")
        self._user.SetWindowsHookExW.restype = self._user.SetWinEventHook.restype = wintypes.HANDLE
        self._user.SetWindowsHookExW.argtypes = [ctypes.c_int, HOOK_PROCEDURE, wintypes.HINSTANCE, wintypes.DWORD]
        self._user.SetWinEventHook.argtypes = [
            *(wintypes.DWORD, wintypes.DWORD, wintypes.HMODULE, WIN_EVENT_PROCEDURE),
            *(wintypes.DWORD, wintypes.DWORD, wintypes.DWORD),
        ]
        self._user.CallNextHookEx.restype = LRESULT
        self._user.CallNextHookEx.argtypes = [wintypes.HANDLE, ctypes.c_int, wintypes.WPARAM, wintypes.LPARAM]
        self._user.UnhookWindowsHookEx.argtypes = self._user.UnhookWinEvent.argtypes = [wintypes.HANDLE]
        self._user.GetMessageW.argtypes = [ctypes.c_void_p, wintypes.HWND, wintypes.UINT, wintypes.UINT]
        self._user.GetAncestor.argtypes, self._user.GetAncestor.restype = [wintypes.HWND, wintypes.UINT], wintypes.HWND
        self._kernel.GetModuleHandleW.restype = wintypes.HMODULE
        self._kernel.GetModuleHandleW.argtypes = [wintypes.LPCWSTR]
        self._records: deque[HookRecord] = deque()
        self._windows: deque[tuple[int, int]] = deque()
        self._started = threading.Event()
        self._hooked = False
        self._thread_id = 0
        self._thread = threading.Thread(target=self._run, name="input", daemon=True)
        self._thread.start()
        if not self._started.wait(START_SECONDS) or not self._hooked:
            raise RecorderError("no_input", "Windows does not let the recorder see keyboard and mouse.")

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def take_records(self) -> list[HookRecord]:
        """Input since the last call."""
        return [self._records.popleft() for _ in range(len(self._records))]

    def take_window_events(self) -> list[tuple[int, int]]:
        """Windows created, shown, hidden or destroyed since the last call."""
        return [self._windows.popleft() for _ in range(len(self._windows))]

    def close(self) -> None:
        """Stop the thread, which removes the hooks."""
        self._user.PostThreadMessageW(self._thread_id, QUIT, 0, 0)
        self._thread.join(START_SECONDS)

    def _run(self) -> None:
        self._thread_id = self._kernel.GetCurrentThreadId()
        module = self._kernel.GetModuleHandleW(None)
        keyboard, mouse = HOOK_PROCEDURE(self._on_keyboard), HOOK_PROCEDURE(self._on_mouse)
        windows = WIN_EVENT_PROCEDURE(self._on_window)
        hooks = [
            self._user.SetWindowsHookExW(KEYBOARD_HOOK, keyboard, module, 0),
            self._user.SetWindowsHookExW(MOUSE_HOOK, mouse, module, 0),
        ]
        notices = self._user.SetWinEventHook(OBJECT_CREATE, OBJECT_HIDE, None, windows, 0, 0, 0)
        self._hooked = all(hooks) and bool(notices)
        self._started.set()
        message = wintypes.MSG()
        while self._hooked and self._user.GetMessageW(ctypes.byref(message), None, 0, 0) > 0:
            pass  # the procedures are called within GetMessageW
        for hook in filter(None, hooks):
            self._user.UnhookWindowsHookEx(hook)
        if notices:
            self._user.UnhookWinEvent(notices)

    def _on_keyboard(self, code: int, message: int, structure: int) -> int:
        if code == 0:
            front = self._user.GetForegroundWindow() or 0
            self._records.append(HookRecord(message, ctypes.string_at(structure, KEYBOARD.size), now_ns(), front))
        return int(self._user.CallNextHookEx(None, code, message, structure))

    def _on_mouse(self, code: int, message: int, structure: int) -> int:
        if code == 0:
            self._records.append(HookRecord(message, ctypes.string_at(structure, MOUSE.size), now_ns()))
        return int(self._user.CallNextHookEx(None, code, message, structure))

    def _on_window(
        self, _hook: int, event: int, window: int | None, thing: int, _child: int, _thread: int, _time: int
    ) -> None:
        if window and thing == WHOLE_WINDOW and self._user.GetAncestor(window, ROOT_ANCESTOR) == window:
            self._windows.append((event, window))
