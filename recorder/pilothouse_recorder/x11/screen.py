"""Captures the whole screen. The X server reports drawing (DAMAGE) and writes into memory shared with the recorder
(MIT-SHM).
"""

import ctypes
import mmap
import os

from Xlib import X
from Xlib.ext import damage

from ..errors import RecorderError
from . import open_display

ALL_PLANES = 0xFFFFFFFF
Z_PIXMAP = 2
PIXEL_BYTES = 4
DEPTHS = (24, 32)


class _Cookie(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_uint)]


class DamageWatcher:
    """Receives notice of everything that is drawn."""

    def __init__(self) -> None:
        self._display = open_display()
        if not self._display.has_extension("DAMAGE"):
            raise RecorderError("no_damage_extension", "This X server has no DAMAGE extension.")
        self._display.damage_query_version()
        self._damage = self._display.screen().root.damage_create(damage.DamageReportNonEmpty)
        self._display.flush()

    def fileno(self) -> int:
        """File descriptor that is readable when something may have been drawn."""
        return int(self._display.fileno())

    def take(self) -> bool:
        """Whether something was drawn since the last call. Later drawing is reported again."""
        drawn = False
        while self._display.pending_events():
            drawn |= self._display.next_event().type == self._display.extension_event.DamageNotify
        if drawn:
            self._display.damage_subtract(self._damage, X.NONE, X.NONE)
            self._display.flush()
        return drawn

    def close(self) -> None:
        """Close the connection."""
        self._display.close()


class ScreenGrabber:
    """Grabs the screen as rows of blue, green, red and one unused byte."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        display = open_display()
        screen = display.screen()
        self._root, depth = screen.root.id, screen.root_depth
        display.close()
        if depth not in DEPTHS:
            raise RecorderError("screen_depth", f"The screen has {depth} bits a pixel; 24 are needed.")
        size = width * height * PIXEL_BYTES
        memory = os.memfd_create("frames", os.MFD_CLOEXEC)
        os.ftruncate(memory, size)
        self._pixels = mmap.mmap(memory, size)
        self._load()
        self._connection = self._xcb.xcb_connect(None, None)
        if self._xcb.xcb_connection_has_error(self._connection):
            raise RecorderError("no_display", "The X server does not answer.")
        self._segment = self._xcb.xcb_generate_id(self._connection)
        # The library closes the descriptor that it sends.
        cookie = self._shm.xcb_shm_attach_fd_checked(self._connection, self._segment, memory, 0)
        if error := self._xcb.xcb_request_check(self._connection, cookie):
            self._libc.free(error)
            raise RecorderError("no_shared_memory", "The X server takes no shared memory: it runs on another machine.")

    def grab(self) -> bool:
        """Fill `pixels`. Returns whether the X server returned the picture; it does not while the screen is resized."""
        cookie = self._shm.xcb_shm_get_image(
            *(self._connection, self._root, 0, 0, self.width, self.height, ALL_PLANES, Z_PIXMAP, self._segment, 0)
        )
        reply = self._shm.xcb_shm_get_image_reply(self._connection, cookie, None)
        self._libc.free(reply)
        return bool(reply)

    @property
    def pixels(self) -> memoryview:
        """The picture. The next grab overwrites it."""
        return memoryview(self._pixels)

    def close(self) -> None:
        """Close the connection."""
        self._xcb.xcb_disconnect(self._connection)

    def _load(self) -> None:
        try:
            xcb, shm = ctypes.CDLL("libxcb.so.1"), ctypes.CDLL("libxcb-shm.so.0")
        except OSError as error:
            raise RecorderError("no_xcb", f"Install libxcb-shm0: {error}") from None
        libc = ctypes.CDLL(None)
        xcb.xcb_connect.restype = ctypes.c_void_p
        for function in (xcb.xcb_generate_id, xcb.xcb_connection_has_error, xcb.xcb_disconnect):
            function.argtypes = [ctypes.c_void_p]
        xcb.xcb_request_check.argtypes = [ctypes.c_void_p, _Cookie]
        xcb.xcb_request_check.restype = ctypes.c_void_p
        shm.xcb_shm_attach_fd_checked.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint8]
        shm.xcb_shm_attach_fd_checked.restype = _Cookie
        shm.xcb_shm_get_image.argtypes = [
            *(ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int16, ctypes.c_int16, ctypes.c_uint16, ctypes.c_uint16),
            *(ctypes.c_uint32, ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint32),
        ]
        shm.xcb_shm_get_image.restype = _Cookie
        shm.xcb_shm_get_image_reply.argtypes = [ctypes.c_void_p, _Cookie, ctypes.c_void_p]
        shm.xcb_shm_get_image_reply.restype = ctypes.c_void_p
        libc.free.argtypes = [ctypes.c_void_p]
        self._xcb, self._shm, self._libc = xcb, shm, libc
