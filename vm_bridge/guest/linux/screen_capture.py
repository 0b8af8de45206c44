"""Screen capture: the X server writes changed rows into shared memory (MIT-SHM, DAMAGE, XFIXES regions)."""

import ctypes
import os
import time
from contextlib import suppress
from typing import Any

from Xlib import X, display
from Xlib.display import Display
from Xlib.error import ConnectionClosedError, XError
from Xlib.ext import damage, xfixes
from Xlib.protocol import rq, structs

Extents = list[int]
"""Left, top, right and bottom."""


class _Create(rq.Request):  # type: ignore[misc]
    _request = rq.Struct(
        rq.Card8("opcode"),
        rq.Opcode(5),
        rq.RequestLength(),
        rq.Card32("region"),
        rq.List("rectangles", structs.Rectangle),
    )


class _Fetch(rq.ReplyRequest):  # type: ignore[misc]
    _request = rq.Struct(rq.Card8("opcode"), rq.Opcode(19), rq.RequestLength(), rq.Card32("region"))
    _reply = rq.Struct(
        rq.ReplyCode(),
        rq.Pad(1),
        rq.Card16("sequence_number"),
        rq.ReplyLength(),
        rq.Int16("x"),
        rq.Int16("y"),
        rq.Card16("width"),
        rq.Card16("height"),
        rq.Pad(16),
    )


class Region:
    """An empty region; other requests fill it by its `id`."""

    def __init__(self, display: Display) -> None:
        self._server: Any = display.display
        display.xfixes_query_version()
        self._opcode = self._server.get_extension_major(xfixes.extname)
        self.id: int = self._server.allocate_resource_id()
        _Create(display=self._server, opcode=self._opcode, region=self.id, rectangles=[])

    def extents(self) -> Extents:
        """The bounding box; a round trip."""
        box = _Fetch(display=self._server, opcode=self._opcode, region=self.id)
        return [box.x, box.y, box.x + box.width, box.y + box.height]


ALL_PLANES = 0xFFFFFFFF
Z_PIXMAP = 2
EMPTY_BOX: Extents = [32767, 32767, 0, 0]
"""A box around nothing."""


class ScreenCaptureError(Exception):
    """The X server refused the shared memory or a grab."""


class _Cookie(ctypes.Structure):
    _fields_ = [("sequence", ctypes.c_uint)]


def _load_libraries() -> tuple[ctypes.CDLL, ctypes.CDLL, ctypes.CDLL]:
    xcb, shm, libc = (ctypes.CDLL(name) for name in ("libxcb.so.1", "libxcb-shm.so.0", "libc.so.6"))
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_generate_id.argtypes = [ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
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
    return xcb, shm, libc


class FrameGrabber:
    """Grabs rows of the screen into a frame slot of the host's memory (MIT-SHM with a passed descriptor)."""

    def __init__(self, memory: int, root: int, width: int, height: int) -> None:
        self._xcb, self._shm, self._libc = _load_libraries()
        self._connection = self._xcb.xcb_connect(None, None)
        if self._xcb.xcb_connection_has_error(self._connection):
            raise ScreenCaptureError("cannot connect to the X server")
        self._root, self._width, self._height = root, width, height
        self._segment = self._xcb.xcb_generate_id(self._connection)
        # The library closes the descriptor it sends.
        cookie = self._shm.xcb_shm_attach_fd_checked(self._connection, self._segment, os.dup(memory), 0)
        error_reply = self._xcb.xcb_request_check(self._connection, cookie)
        if error_reply:
            self._libc.free(error_reply)
            raise ScreenCaptureError("the X server does not take shared memory by descriptor")

    def grab(self, slot: int, rows: Extents | None = None, *, turned: bool = False) -> None:
        """Fill a slot from the screen, which may be rotated: the rows that a box covers, or all.

        Raises ScreenCaptureError if the X server refuses.
        """
        width, height = (self._height, self._width) if turned else (self._width, self._height)
        top, bottom = (0, height) if rows is None else (max(0, rows[1]), min(height, rows[3]))
        if top >= bottom:
            return
        offset = (slot * height + top) * width * 4
        cookie = self._shm.xcb_shm_get_image(
            *(self._connection, self._root, 0, top, width, bottom - top),
            *(ALL_PLANES, Z_PIXMAP, self._segment, offset),
        )
        reply = self._shm.xcb_shm_get_image_reply(self._connection, cookie, None)
        if not reply:
            raise ScreenCaptureError("the X server did not give the picture")
        self._libc.free(reply)


class ScreenCapture:
    """One reader's view of the screen: grabs again only after damage. Not thread-safe.

    With `boxes` it also reports the part that was damaged since the previous picture.
    """

    def __init__(self, memory: int, width: int, height: int, slots: tuple[int, ...], *, boxes: bool = False) -> None:
        self._display = display.Display()
        root = self._display.screen().root
        self._display.damage_query_version()
        # One report until it is acknowledged, however much is drawn.
        self._damage = root.damage_create(damage.DamageReportNonEmpty)
        self._damaged = Region(self._display) if boxes else None
        root.change_attributes(event_mask=X.StructureNotifyMask)
        self._grabber = FrameGrabber(memory, root.id, width, height)
        self._upright, self._turned = (width, height), False
        self._slots = slots
        self._outdated: dict[int, Extents | None] = dict.fromkeys(slots)
        """Changes since each slot was filled; None: everything, or unknown."""
        self._dirty = True
        self._box: Extents | None = None
        """Damage since the last grab; None: none yet, or unknown."""
        self._all_changed = True
        self._changed: Extents | None = None
        self.serial = 0
        self.changed_at: float | None = None
        """Time when damage was last noticed (monotonic seconds)."""

    def fileno(self) -> int:
        """File descriptor that is readable when damage may have arrived."""
        return int(self._display.fileno())

    def sync(self) -> bool:
        """Process all damage so far. Returns whether the picture changed since the last grab."""
        if not self._read_events():
            self._display.sync()
            self._read_events()
        return self._dirty

    def _read_events(self) -> bool:
        """Read pending events. Returns whether something was drawn; then all events were read."""
        damaged = False
        while self._display.pending_events():
            event = self._display.next_event()
            if event.type == self._display.extension_event.DamageNotify:
                damaged = True
            elif event.type == X.ConfigureNotify:
                turned = (event.width, event.height) == self._upright[::-1] != self._upright
                self._dirty, self._all_changed, self._turned = True, True, turned
        if damaged:
            self._dirty = True
            self.changed_at = time.monotonic()
            self._subtract()
        return damaged

    def capture(self) -> dict[str, Any]:
        """Capture the current picture: serial, slot, capture time (seconds since the epoch), whether the screen is
        rotated, and the box outside of which it equals the previous serial."""
        while self.sync():
            self._changed = None if self._all_changed else self._box
            for slot, outdated in self._outdated.items():
                self._outdated[slot] = outdated and self._changed and _bounding_box(outdated, self._changed)
            self._dirty, self._all_changed, self._box = False, self._damaged is None, None
            self.serial += 1
            if self._grab():
                break
        seen = {"serial": self.serial, "slot": self.slot, "at": time.time(), "turned": self._turned}
        return {**seen, "changed": self._changed} if self._changed else seen

    @property
    def slot(self) -> int:
        """The slot of the current serial; consecutive pictures alternate."""
        return self._slots[self.serial % len(self._slots)]

    def _grab(self) -> bool:
        """Whether the grab finished before the screen was rotated; else capture again. Raises ScreenCaptureError."""
        turned = self._turned
        try:
            self._grabber.grab(self.slot, self._outdated[self.slot], turned=turned)
            self._outdated[self.slot] = EMPTY_BOX
        except ScreenCaptureError:
            self.sync()
            if self._turned == turned:
                raise
        return self._turned == turned

    def _subtract(self) -> None:
        """Arm the next report, in a round trip. This precedes the grab, so drawing in between is reported again."""
        if self._damaged is None:
            self._display.damage_subtract(self._damage, X.NONE, X.NONE)
            self._display.sync()
            return
        self._display.damage_subtract(self._damage, X.NONE, self._damaged.id)
        box = self._damaged.extents()
        self._box = box if self._box is None else _bounding_box(self._box, box)


def _bounding_box(one: Extents, other: Extents) -> Extents:
    """The box around both boxes."""
    return [*map(min, one[:2], other[:2]), *map(max, one[2:], other[2:])]


MAX_DEPTH = 16
"""Maximum windows between the focused one, which may be a part of the application's, and the application's own."""


MAX_NAME = 200


class FocusedApplication:
    """Queries the X server on its own connection; used by one thread."""

    def __init__(self) -> None:
        self._display = display.Display()

    def name(self) -> str:
        """The second part of WM_CLASS in lower case, such as `xterm`; empty if there is none."""
        with suppress(XError, ConnectionClosedError, UnicodeError):  # the window may close meanwhile
            window = self._display.get_input_focus().focus
            for _ in range(MAX_DEPTH):
                if isinstance(window, int) or window.id in (X.NONE, X.PointerRoot):
                    return ""
                if (found := window.get_wm_class()) is not None:
                    return str(found[1]).lower()[:MAX_NAME]
                window = window.query_tree().parent
        return ""
