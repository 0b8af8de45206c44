"""Input of all windows through the RECORD extension: keys, buttons and moves with the X server's own times."""

import struct
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

from Xlib import X
from Xlib.error import ConnectionClosedError, XError
from Xlib.ext import record

from ..errors import RecorderError
from . import open_display

WIRE_EVENT = struct.Struct("<BBHIIIIhhhhHBx")
"""An event of the core protocol: type, detail, sequence, time, three windows, two points, state, same screen."""
EVENT_BYTES = 32
WITHOUT_MOVING = (X.NotifyGrab, X.NotifyUngrab)
"""Modes of focus events during a grab: it takes the keyboard for a moment, and the focus stays."""
BY_POINTER = (X.NotifyPointer, X.NotifyDetailNone)
"""Details of redundant focus events: if keys follow the pointer, the root window gets an event that says so."""
MODE_AT = 8
"""Offset of the mode in a focus event."""
START_SECONDS = 10.0


@dataclass(frozen=True)
class RawInput:
    """One pointer or keyboard event: its X type, key or button, time, point on the screen, modifiers."""

    type: int
    detail: int
    server_ms: int
    x: int
    y: int
    state: int


@dataclass(frozen=True)
class FocusNotice:
    """A window got or lost the focus, between the inputs before and after it.

    For the root window: from now on, keys go to the window under the pointer, or no longer do.
    """

    window: int
    focused: bool


class InputListener:
    """Collects input in its own thread. The X server sends it only while some client is active, so the caller must send
    the server a request every few milliseconds.
    """

    def __init__(self) -> None:
        self._control, self._data = open_display(), open_display()
        if not self._control.has_extension("RECORD"):
            raise RecorderError("no_record_extension", "This X server has no RECORD extension.")
        self._received: deque[RawInput | FocusNotice] = deque()
        self._started = threading.Event()
        self._context = self._control.record_create_context(
            0,
            [record.AllClients],
            [
                {
                    **{name: (0, 0) for name in ("core_requests", "core_replies", "errors")},
                    **{name: (0, 0, 0, 0) for name in ("ext_requests", "ext_replies")},
                    "device_events": (X.KeyPress, X.MotionNotify),
                    "delivered_events": (X.FocusIn, X.FocusOut),
                    "client_started": False,
                    "client_died": False,
                }
            ],
        )
        self._control.sync()
        self._thread = threading.Thread(target=self._listen, name="input", daemon=True)
        self._thread.start()
        if not self._started.wait(START_SECONDS):
            raise RecorderError("no_input", "The X server does not report input.")

    @property
    def alive(self) -> bool:
        """Whether the X server still reports input."""
        return self._thread.is_alive()

    def take(self) -> list[RawInput | FocusNotice]:
        """Everything that arrived since the last call, in order."""
        taken: list[RawInput | FocusNotice] = []
        while self._received:
            taken.append(self._received.popleft())
        return taken

    def close(self) -> None:
        """Close the listener."""
        self._control.record_disable_context(self._context)
        self._control.flush()
        self._thread.join(START_SECONDS)
        self._control.close()

    def _listen(self) -> None:
        try:
            self._data.record_enable_context(self._context, self._receive)
            self._data.close()
        except (ConnectionClosedError, XError, OSError):
            return  # `alive` reports it

    def _receive(self, reply: Any) -> None:
        if reply.category == record.StartOfData:
            self._started.set()
        if reply.category != record.FromServer or reply.client_swapped:
            return
        for start in range(0, len(reply.data) - EVENT_BYTES + 1, EVENT_BYTES):
            fields = WIRE_EVENT.unpack_from(reply.data, start)
            kind, detail = fields[0] & 0x7F, fields[1]
            if kind not in (X.FocusIn, X.FocusOut):
                self._received.append(RawInput(kind, detail, fields[3], fields[7], fields[8], fields[11]))
            elif reply.data[start + MODE_AT] not in WITHOUT_MOVING and detail not in BY_POINTER:
                self._received.append(FocusNotice(fields[3], kind == X.FocusIn))
