"""The picture: grabbed as a whole; the rows that differ are sent to the host, which shares no memory with us."""

import base64
import socket
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any, Protocol

from PIL import ImageGrab

from vm_bridge.guest.common.wire import PICTURE, Message

PIXEL = 4
MAX_ROWS = 256
"""Most rows in one message."""
ZLIB_LEVEL = 1
"""zlib's level: of a desktop little is left at any, and this one takes a third of the time."""


class ScreenCaptureError(Exception):
    """The screen has another size than the host was told."""


class Host(Protocol):
    """Who is looked for; see `Server`."""

    link: socket.socket | None

    def send(self, link: socket.socket, message: Message) -> None: ...


def grab_screen(width: int, height: int) -> bytes:
    """BGRX pixels of the whole screen, without the pointer. Raises ScreenCaptureError."""
    try:
        image = ImageGrab.grab()
    except OSError:
        # A question of UAC's and the lock screen are on a desktop that nobody may look at.
        return bytes(width * height * PIXEL)
    if image.size != (width, height):
        raise ScreenCaptureError(f"the screen is {image.size} now, no longer {(width, height)}")
    return image.convert("RGB").tobytes("raw", "BGRX")


class RowSender:
    """Brings the host what it lacks of each slot; a new host lacks everything. For any thread."""

    def __init__(self, host: Host, width: int) -> None:
        self._host, self._stride = host, width * PIXEL
        self._lock = threading.Lock()
        self._link: socket.socket | None = None
        self._sent: dict[int, bytes] = {}

    def send_rows(self, slot: int, pixels: bytes) -> None:
        """Ahead of the answer that tells of them."""
        with self._lock:
            link = self._host.link
            if link is not self._link:
                self._link, self._sent = link, {}
            if link is not None:
                for top, rows in self._changed_rows(self._sent.get(slot), pixels):
                    data = base64.b64encode(zlib.compress(rows, ZLIB_LEVEL)).decode()
                    self._host.send(link, {"id": PICTURE, "slot": slot, "top": top, "data": data})
            self._sent[slot] = pixels

    def _changed_rows(self, old: bytes | None, new: bytes) -> list[tuple[int, bytes]]:
        """The rows from the first to the last that differ, by where they begin."""
        top, bottom = differing_rows(old, new, self._stride)
        starts = range(top, bottom, MAX_ROWS)
        return [(start, new[start * self._stride : min(start + MAX_ROWS, bottom) * self._stride]) for start in starts]


class ScreenCapture:
    """The screen as one reader sees it. Not for several threads at once."""

    def __init__(
        self, grab: Callable[[], bytes], row_sender: RowSender, size: tuple[int, int], slots: tuple[int, ...]
    ) -> None:
        self._grab, self._row_sender, self._slots = grab, row_sender, slots
        self._width, self._height = size
        self._current = b""
        """The picture with the present serial."""
        self._latest = b""
        """What was grabbed last."""
        self._changed: list[int] | None = None
        self.serial = 0

    def sync(self) -> bool:
        """Look; whether the picture differs from the look before, of whichever kind."""
        before, self._latest = self._latest, self._grab()
        return self._latest != before

    @property
    def fingerprint(self) -> int:
        """Of what was grabbed last; the same pictures have the same one."""
        return hash(self._latest)

    @property
    def is_newer(self) -> bool:
        """Whether what was grabbed last is not the picture with the present serial."""
        return self._latest != self._current

    def capture(self) -> dict[str, Any]:
        """The present picture; see `vm_bridge.guest.linux.screen_capture.ScreenCapture.look`."""
        self.sync()
        at = time.time()
        if self.is_newer:
            old, self._current = self._current, self._latest
            self.serial += 1
            self._changed = self._box(old)
        slot = self._slots[self.serial % len(self._slots)]
        self._row_sender.send_rows(slot, self._current)
        seen = {"serial": self.serial, "slot": slot, "at": at, "turned": False}
        return {**seen, "changed": self._changed} if self._changed else seen

    def _box(self, old: bytes) -> list[int] | None:
        """Outside of which it is the picture before; None when there was none."""
        if not old:
            return None
        top, bottom = differing_rows(old, self._current, self._width * PIXEL)
        return [0, top, self._width, bottom]


def differing_rows(old: bytes | None, new: bytes, stride: int) -> tuple[int, int]:
    """The first row that differs, and the one after the last; two equal numbers where none does."""
    height = len(new) // stride
    if not old:
        return 0, height
    if old == new:
        return 0, 0
    rows = [y for y in range(height) if old[y * stride : (y + 1) * stride] != new[y * stride : (y + 1) * stride]]
    return rows[0], rows[-1] + 1
