"""Structures and function types of Windows' C interfaces."""

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
