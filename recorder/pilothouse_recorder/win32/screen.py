"""Captures the whole desktop with GDI."""

import ctypes
import sys
from ctypes import wintypes

from .calls import Rectangle
from .structures import BitmapInfo

assert sys.platform == "win32"

SOURCE_COPY, WITH_LAYERED_WINDOWS = 0x00CC0020, 0x40000000
PIXEL_BYTES = 4


class ScreenCopier:
    """Copies the screen into a buffer that it reuses until the size changes."""

    def __init__(self) -> None:
        self._user, self._gdi = ctypes.WinDLL("user32"), ctypes.WinDLL("gdi32")
        self._user.GetDC.restype = self._gdi.CreateCompatibleDC.restype = wintypes.HDC
        self._user.GetDC.argtypes, self._user.ReleaseDC.argtypes = [wintypes.HWND], [wintypes.HWND, wintypes.HDC]
        self._gdi.CreateCompatibleDC.argtypes = [wintypes.HDC]
        self._gdi.CreateDIBSection.restype = self._gdi.SelectObject.restype = wintypes.HANDLE
        self._gdi.CreateDIBSection.argtypes = [
            *(wintypes.HDC, ctypes.c_void_p, wintypes.UINT, ctypes.c_void_p, wintypes.HANDLE, wintypes.DWORD)
        ]
        self._gdi.SelectObject.argtypes = [wintypes.HDC, wintypes.HANDLE]
        self._gdi.DeleteObject.argtypes, self._gdi.DeleteDC.argtypes = [wintypes.HANDLE], [wintypes.HDC]
        self._gdi.BitBlt.argtypes = [
            *(wintypes.HDC, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int),
            *(wintypes.HDC, ctypes.c_int, ctypes.c_int, wintypes.DWORD),
        ]
        self._memory: int | None = None
        self._bitmap: int | None = None
        self._size = (0, 0)
        self._pixels: memoryview | None = None

    def copy(self, screen: Rectangle) -> memoryview | None:
        """The pixels of this rectangle, or None if they cannot be read."""
        left, top, right, bottom = screen
        width, height = right - left, bottom - top
        source = self._user.GetDC(None)
        if not source or width <= 0 or height <= 0:
            return None
        try:
            if (width, height) != self._size:
                self._allocate(source, width, height)
            if self._pixels is None:
                return None
            copied = self._gdi.BitBlt(
                *(self._memory, 0, 0, width, height, source, left, top, SOURCE_COPY | WITH_LAYERED_WINDOWS)
            )
            self._gdi.GdiFlush()
            return self._pixels if copied else None
        finally:
            self._user.ReleaseDC(None, source)

    def close(self) -> None:
        """Free the memory."""
        self._pixels = None
        if self._bitmap:
            self._gdi.DeleteObject(self._bitmap)
        if self._memory:
            self._gdi.DeleteDC(self._memory)
        self._bitmap = self._memory = None
        self._size = (0, 0)

    def _allocate(self, source: int, width: int, height: int) -> None:
        self.close()
        info = BitmapInfo(ctypes.sizeof(BitmapInfo), width, -height, 1, 8 * PIXEL_BYTES)
        bits = ctypes.c_void_p()
        self._memory = self._gdi.CreateCompatibleDC(source)
        self._bitmap = self._gdi.CreateDIBSection(source, ctypes.byref(info), 0, ctypes.byref(bits), None, 0)
        if not self._memory or not self._bitmap or not bits.value:
            return
        self._gdi.SelectObject(self._memory, self._bitmap)
        pixels = (ctypes.c_ubyte * (width * height * PIXEL_BYTES)).from_address(bits.value)
        self._pixels, self._size = memoryview(pixels).cast("B"), (width, height)
