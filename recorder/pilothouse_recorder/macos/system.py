"""Implements `calls.MacCalls` on macOS, by ctypes."""

import ctypes
import sys
import time

from ..layout import Monitor
from .accessibility import Accessibility
from .calls import DisplayPicture, ElementRecord, TapRecord
from .event_tap import EventTap
from .foundation import framework, read_bytes, release, to_property_list

assert sys.platform == "darwin"

ON_SCREEN = 1
MAX_DISPLAYS = 16
EMPTY_LIST = b"<plist version='1.0'><array/></plist>"


class _Rectangle(ctypes.Structure):
    _fields_ = [(name, ctypes.c_double) for name in ("left", "top", "width", "height")]


class _Timebase(ctypes.Structure):
    _fields_ = [("numerator", ctypes.c_uint32), ("denominator", ctypes.c_uint32)]


class MacSystem:
    """macOS 11 and later."""

    def __init__(self) -> None:
        self._graphics, self._carbon = framework("CoreGraphics"), framework("Carbon")
        for name in ("CGPreflightListenEventAccess", "CGPreflightScreenCaptureAccess"):
            getattr(self._graphics, name).restype = ctypes.c_bool
        self._carbon.IsSecureEventInputEnabled.restype = ctypes.c_bool
        for name in ("CGWindowListCopyWindowInfo", "CGDisplayCreateImage", "CGImageGetDataProvider"):
            getattr(self._graphics, name).restype = ctypes.c_void_p
        self._graphics.CGDataProviderCopyData.restype = self._graphics.CGDisplayCopyDisplayMode.restype = (
            ctypes.c_void_p
        )
        self._graphics.CGDisplayBounds.restype = _Rectangle
        for name in ("CGImageGetWidth", "CGImageGetHeight", "CGImageGetBytesPerRow", "CGDisplayModeGetPixelWidth"):
            getattr(self._graphics, name).restype = ctypes.c_size_t
            getattr(self._graphics, name).argtypes = [ctypes.c_void_p]
        for name in ("CGImageGetDataProvider", "CGDataProviderCopyData", "CGImageRelease", "CGDisplayModeRelease"):
            getattr(self._graphics, name).argtypes = [ctypes.c_void_p]
        self._accessibility = Accessibility()
        self._tap: EventTap | None = None
        self._displays: tuple[int, ...] = ()

    def missing_permissions(self) -> list[str]:
        """Permissions that are missing. The system asks the person for them."""
        missing = []
        if not self._graphics.CGPreflightListenEventAccess():
            self._graphics.CGRequestListenEventAccess()
            missing.append("input_monitoring")
        if not self._graphics.CGPreflightScreenCaptureAccess():
            self._graphics.CGRequestScreenCaptureAccess()
            missing.append("screen_recording")
        if not self._accessibility.is_trusted():
            missing.append("accessibility")
        return missing

    def start(self) -> None:
        """Start listening."""
        self._tap = EventTap()

    def take_events(self) -> list[TapRecord]:
        """Events since the last call."""
        return self._tap.take() if self._tap is not None else []

    def tap_alive(self) -> bool:
        """Whether the tap's thread runs."""
        return self._tap is not None and self._tap.alive

    def interruptions(self) -> int:
        """How often macOS had switched the tap off."""
        return self._tap.interruptions if self._tap is not None else 0

    def ticks_to_ns(self) -> tuple[int, int]:
        """From mach_absolute_time to nanoseconds."""
        timebase = _Timebase()
        ctypes.CDLL(None).mach_timebase_info(ctypes.byref(timebase))
        return timebase.numerator, timebase.denominator or 1

    def windows(self) -> bytes:
        """The windows as a property list."""
        found = self._graphics.CGWindowListCopyWindowInfo(ON_SCREEN, 0)
        if not found:
            return EMPTY_LIST
        try:
            return to_property_list(found)
        finally:
            release(found)

    def displays(self) -> list[Monitor]:
        """The displays."""
        identifiers, count = (ctypes.c_uint32 * MAX_DISPLAYS)(), ctypes.c_uint32()
        self._graphics.CGGetActiveDisplayList(MAX_DISPLAYS, identifiers, ctypes.byref(count))
        self._displays = tuple(identifiers[: count.value])
        return [self._monitor(one) for one in self._displays]

    def capture(self, display: int) -> DisplayPicture | None:
        """The picture of one display."""
        if display >= len(self._displays):
            return None
        image = self._graphics.CGDisplayCreateImage(self._displays[display])
        if not image:
            return None
        try:
            data = self._graphics.CGDataProviderCopyData(self._graphics.CGImageGetDataProvider(image))
            pixels = read_bytes(data)
            release(data)
            return DisplayPicture(
                pixels,
                self._graphics.CGImageGetWidth(image),
                self._graphics.CGImageGetHeight(image),
                self._graphics.CGImageGetBytesPerRow(image),
            )
        finally:
            self._graphics.CGImageRelease(image)

    def secure_input(self) -> bool:
        """Whether a program has secure input on."""
        return bool(self._carbon.IsSecureEventInputEnabled())

    def element_at(self, x: float, y: float) -> ElementRecord | None:
        """The element at a point."""
        return self._accessibility.element_at(x, y)

    def focused_element(self) -> ElementRecord | None:
        """The element with the focus."""
        return self._accessibility.focused_element()

    def suspended_ns(self) -> int:
        """The clock that runs during sleep minus the clock that does not."""
        return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - time.clock_gettime_ns(time.CLOCK_UPTIME_RAW)

    def close(self) -> None:
        """Close the tap."""
        if self._tap is not None:
            self._tap.close()

    def _monitor(self, display: int) -> Monitor:
        bounds = self._graphics.CGDisplayBounds(display)
        mode = self._graphics.CGDisplayCopyDisplayMode(display)
        pixels = self._graphics.CGDisplayModeGetPixelWidth(mode) if mode else 0
        self._graphics.CGDisplayModeRelease(mode)
        scale = pixels / bounds.width if pixels and bounds.width else 1.0
        return Monitor(bounds.left, bounds.top, bounds.width, bounds.height, scale)
