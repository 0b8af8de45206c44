"""A tap that listens to events of the whole session, on its own thread with a run loop."""

import ctypes
import sys
import threading
from collections import deque

from ..clocks import now_ns
from ..errors import RecorderError
from .calls import TapRecord
from .foundation import core, framework, release

assert sys.platform == "darwin"

SESSION_TAP, AT_THE_END, LISTEN_ONLY = 1, 1, 1
TYPES = (1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 22, 25, 26, 27)
SWITCHED_OFF = (0xFFFFFFFE, 0xFFFFFFFF)
BUTTON, KEYCODE, LINES, COLUMNS, TARGET_PID = 3, 9, 11, 12, 40
MAX_TEXT = 8
START_SECONDS = 10.0
CALLBACK = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p)


class Point(ctypes.Structure):
    """CGPoint."""

    _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double)]


class EventTap:
    """Raises RecorderError with `no_input` if macOS refuses the tap."""

    def __init__(self) -> None:
        self._graphics = framework("CoreGraphics")
        self._graphics.CGEventTapCreate.restype = ctypes.c_void_p
        self._graphics.CGEventTapCreate.argtypes = [
            *(ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_uint64, CALLBACK, ctypes.c_void_p)
        ]
        self._graphics.CGEventTapEnable.argtypes = [ctypes.c_void_p, ctypes.c_bool]
        self._graphics.CGEventGetLocation.restype, self._graphics.CGEventGetLocation.argtypes = Point, [ctypes.c_void_p]
        for name, kind in (("CGEventGetTimestamp", ctypes.c_uint64), ("CGEventGetFlags", ctypes.c_uint64)):
            getattr(self._graphics, name).restype = kind
            getattr(self._graphics, name).argtypes = [ctypes.c_void_p]
        self._graphics.CGEventGetIntegerValueField.restype = ctypes.c_int64
        self._graphics.CGEventGetIntegerValueField.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
        self._graphics.CGEventKeyboardGetUnicodeString.argtypes = [
            *(ctypes.c_void_p, ctypes.c_ulong, ctypes.POINTER(ctypes.c_ulong), ctypes.c_void_p)
        ]
        core.CFMachPortCreateRunLoopSource.restype = core.CFRunLoopGetCurrent.restype = ctypes.c_void_p
        core.CFMachPortCreateRunLoopSource.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
        core.CFRunLoopAddSource.argtypes = [ctypes.c_void_p] * 3
        core.CFRunLoopStop.argtypes = [ctypes.c_void_p]
        self.interruptions = 0
        self._records: deque[TapRecord] = deque()
        self._started = threading.Event()
        self._tap: int | None = None
        self._loop: int | None = None
        self._thread = threading.Thread(target=self._run, name="input", daemon=True)
        self._thread.start()
        if not self._started.wait(START_SECONDS) or not self._tap:
            raise RecorderError("no_input", "macOS does not let the recorder listen to keyboard and mouse.")

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def take(self) -> list[TapRecord]:
        """Events since the last call."""
        return [self._records.popleft() for _ in range(len(self._records))]

    def close(self) -> None:
        """Stop the thread."""
        if self._loop:
            core.CFRunLoopStop(self._loop)
        self._thread.join(START_SECONDS)

    def _run(self) -> None:
        callback = CALLBACK(self._receive)
        mask = sum(1 << kind for kind in TYPES)
        self._tap = self._graphics.CGEventTapCreate(SESSION_TAP, AT_THE_END, LISTEN_ONLY, mask, callback, None)
        if self._tap:
            source = core.CFMachPortCreateRunLoopSource(None, self._tap, 0)
            self._loop = core.CFRunLoopGetCurrent()
            core.CFRunLoopAddSource(self._loop, source, ctypes.c_void_p.in_dll(core, "kCFRunLoopCommonModes"))
            self._graphics.CGEventTapEnable(self._tap, True)
            self._started.set()
            core.CFRunLoopRun()
            self._graphics.CGEventTapEnable(self._tap, False)
            release(source)
        self._started.set()

    def _receive(self, _proxy: int, kind: int, event: int, _data: int) -> int:
        if kind in SWITCHED_OFF:
            self.interruptions += 1
            self._graphics.CGEventTapEnable(self._tap, True)
            return event
        received = now_ns()
        field = self._graphics.CGEventGetIntegerValueField
        place = self._graphics.CGEventGetLocation(event)
        self._records.append(
            TapRecord(
                type=kind,
                timestamp=self._graphics.CGEventGetTimestamp(event),
                received_ns=received,
                flags=self._graphics.CGEventGetFlags(event),
                x=place.x,
                y=place.y,
                button=field(event, BUTTON),
                lines=field(event, LINES),
                columns=field(event, COLUMNS),
                keycode=field(event, KEYCODE),
                text=self._text(event) if kind in (10, 11) else "",
                target_pid=field(event, TARGET_PID),
            )
        )
        return event

    def _text(self, event: int) -> str:
        length, text = ctypes.c_ulong(), (ctypes.c_uint16 * MAX_TEXT)()
        self._graphics.CGEventKeyboardGetUnicodeString(event, MAX_TEXT, ctypes.byref(length), text)
        return bytes(text)[: 2 * length.value].decode("utf-16-le", "replace")
