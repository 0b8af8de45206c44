"""The picture: grabbed as a whole; the rows that differ are sent to the host, which shares no memory with us."""

import base64
import socket
import threading
import time
import zlib
from collections.abc import Callable
from typing import Any, Protocol

from PIL import ImageGrab

from vm_bridge.guest.wire import PICTURE, Message

PIXEL = 4
MOST_ROWS = 256
"""Most rows in one message."""
FASTEST = 1
"""zlib's level: of a desktop little is left at any, and this one takes a third of the time."""


class EyesError(Exception):
    """The screen has another size than the host was told."""


class Host(Protocol):
    """Who is looked for; see `Server`."""

    link: socket.socket | None

    def send(self, link: socket.socket, message: Message) -> None: ...


def screen_grab(width: int, height: int) -> bytes:
    """BGRX pixels of the whole screen, without the pointer. Raises EyesError."""
    try:
        image = ImageGrab.grab()
    except OSError:
        # A question of UAC's and the lock screen are on a desktop that nobody may look at.
        return bytes(width * height * PIXEL)
    if image.size != (width, height):
        raise EyesError(f"the screen is {image.size} now, no longer {(width, height)}")
    return image.convert("RGB").tobytes("raw", "BGRX")


class Carrier:
    """Brings the host what it lacks of each slot; a new host lacks everything. For any thread."""

    def __init__(self, host: Host, width: int) -> None:
        self._host, self._stride = host, width * PIXEL
        self._changing = threading.Lock()
        self._link: socket.socket | None = None
        self._held: dict[int, bytes] = {}

    def bring(self, slot: int, pixels: bytes) -> None:
        """Ahead of the answer that tells of them."""
        with self._changing:
            link = self._host.link
            if link is not self._link:
                self._link, self._held = link, {}
            if link is not None:
                for top, rows in self._pieces(self._held.get(slot), pixels):
                    data = base64.b64encode(zlib.compress(rows, FASTEST)).decode()
                    self._host.send(link, {"id": PICTURE, "slot": slot, "top": top, "data": data})
            self._held[slot] = pixels

    def _pieces(self, old: bytes | None, new: bytes) -> list[tuple[int, bytes]]:
        """The rows from the first to the last that differ, by where they begin."""
        top, bottom = rows_differing(old, new, self._stride)
        starts = range(top, bottom, MOST_ROWS)
        return [(start, new[start * self._stride : min(start + MOST_ROWS, bottom) * self._stride]) for start in starts]


class Picture:
    """The screen as one reader sees it. Not for several threads at once."""

    def __init__(
        self, grab: Callable[[], bytes], carrier: Carrier, size: tuple[int, int], slots: tuple[int, ...]
    ) -> None:
        self._take, self._carrier, self._slots = grab, carrier, slots
        self._width, self._height = size
        self._seen = b""
        """The picture with the present serial."""
        self._now = b""
        """What was grabbed last."""
        self._changed: list[int] | None = None
        self.serial = 0

    def sync(self) -> bool:
        """Look; whether the picture differs from the look before, of whichever kind."""
        before, self._now = self._now, self._take()
        return self._now != before

    @property
    def mark(self) -> int:
        """Of what was grabbed last; the same pictures have the same one."""
        return hash(self._now)

    @property
    def newer(self) -> bool:
        """Whether what was grabbed last is not the picture with the present serial."""
        return self._now != self._seen

    def look(self) -> dict[str, Any]:
        """The present picture; see `vm_bridge.guest.eyes.Picture.look`."""
        self.sync()
        at = time.time()
        if self.newer:
            old, self._seen = self._seen, self._now
            self.serial += 1
            self._changed = self._box(old)
        slot = self._slots[self.serial % len(self._slots)]
        self._carrier.bring(slot, self._seen)
        seen = {"serial": self.serial, "slot": slot, "at": at, "turned": False}
        return {**seen, "changed": self._changed} if self._changed else seen

    def _box(self, old: bytes) -> list[int] | None:
        """Outside of which it is the picture before; None when there was none."""
        if not old:
            return None
        top, bottom = rows_differing(old, self._seen, self._width * PIXEL)
        return [0, top, self._width, bottom]


def rows_differing(old: bytes | None, new: bytes, stride: int) -> tuple[int, int]:
    """The first row that differs, and the one after the last; two equal numbers where none does."""
    height = len(new) // stride
    if not old:
        return 0, height
    if old == new:
        return 0, 0
    rows = [y for y in range(height) if old[y * stride : (y + 1) * stride] != new[y * stride : (y + 1) * stride]]
    return rows[0], rows[-1] + 1
