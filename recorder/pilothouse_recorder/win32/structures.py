"""Structures and function types of the Windows C API."""

import ctypes
import sys
from ctypes import wintypes

assert sys.platform == "win32"

LRESULT = ctypes.c_ssize_t
HOOK_PROCEDURE = ctypes.WINFUNCTYPE(LRESULT, ctypes.c_int, wintypes.WPARAM, wintypes.LPARAM)
WIN_EVENT_PROCEDURE = ctypes.WINFUNCTYPE(
    None,
    wintypes.HANDLE,
    wintypes.DWORD,
    wintypes.HWND,
    wintypes.LONG,
    wintypes.LONG,
    wintypes.DWORD,
    wintypes.DWORD,
)
ENUM_PROCEDURE = ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.HWND, wintypes.LPARAM)


class BitmapInfo(ctypes.Structure):
    """BITMAPINFOHEADER of a bitmap without a palette."""

    _fields_ = [
        ("size", wintypes.DWORD),
        ("width", wintypes.LONG),
        ("height", wintypes.LONG),
        ("planes", wintypes.WORD),
        ("bits", wintypes.WORD),
        ("compression", wintypes.DWORD),
        ("image_size", wintypes.DWORD),
        ("x_resolution", wintypes.LONG),
        ("y_resolution", wintypes.LONG),
        ("colors", wintypes.DWORD),
        ("important", wintypes.DWORD),
    ]


WINDOW_PROCEDURE = ctypes.WINFUNCTYPE(LRESULT, wintypes.HWND, wintypes.UINT, wintypes.WPARAM, wintypes.LPARAM)


class WindowClass(ctypes.Structure):
    """WNDCLASSW."""

    _fields_ = [
        ("style", wintypes.UINT),
        ("procedure", WINDOW_PROCEDURE),
        ("class_bytes", ctypes.c_int),
        ("window_bytes", ctypes.c_int),
        ("instance", wintypes.HANDLE),
        ("icon", wintypes.HANDLE),
        ("cursor", wintypes.HANDLE),
        ("background", wintypes.HANDLE),
        ("menu_name", wintypes.LPCWSTR),
        ("class_name", wintypes.LPCWSTR),
    ]


class NotifyIconData(ctypes.Structure):
    """NOTIFYICONDATAW of Windows Vista and later."""

    _fields_ = [
        ("size", wintypes.DWORD),
        ("window", wintypes.HWND),
        ("identifier", wintypes.UINT),
        ("flags", wintypes.UINT),
        ("message", wintypes.UINT),
        ("icon", wintypes.HANDLE),
        ("tip", wintypes.WCHAR * 128),
        ("state", wintypes.DWORD),
        ("state_mask", wintypes.DWORD),
        ("info", wintypes.WCHAR * 256),
        ("version", wintypes.UINT),
        ("info_title", wintypes.WCHAR * 64),
        ("info_flags", wintypes.DWORD),
        ("guid", ctypes.c_ubyte * 16),
        ("balloon_icon", wintypes.HANDLE),
    ]
