"""Accessibility by ctypes: the element at a point and the focused element."""

import ctypes
import sys

from .calls import ElementRecord, Rectangle
from .foundation import framework, make_text, read_text, release

assert sys.platform == "darwin"

TIMEOUT_SECONDS = 0.05
POINT_VALUE, SIZE_VALUE = 1, 2


class _Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_double), ("second", ctypes.c_double)]


class Accessibility:
    """Queries the program at a point. A program that does not answer in 50 ms has no elements."""

    def __init__(self) -> None:
        self._services = services = framework("ApplicationServices")
        services.AXUIElementCreateSystemWide.restype = ctypes.c_void_p
        services.AXIsProcessTrusted.restype = ctypes.c_bool
        services.AXUIElementSetMessagingTimeout.argtypes = [ctypes.c_void_p, ctypes.c_float]
        services.AXUIElementCopyElementAtPosition.argtypes = [
            *(ctypes.c_void_p, ctypes.c_float, ctypes.c_float, ctypes.c_void_p)
        ]
        services.AXUIElementCopyAttributeValue.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
        services.AXValueGetValue.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
        services.AXValueGetValue.restype = ctypes.c_bool
        self._all = services.AXUIElementCreateSystemWide()
        services.AXUIElementSetMessagingTimeout(self._all, TIMEOUT_SECONDS)

    def is_trusted(self) -> bool:
        """Whether the person has granted the permission."""
        return bool(self._services.AXIsProcessTrusted())

    def element_at(self, x: float, y: float) -> ElementRecord | None:
        """The element at a point of the desktop."""
        element = ctypes.c_void_p()
        failed = self._services.AXUIElementCopyElementAtPosition(self._all, x, y, ctypes.byref(element))
        return None if failed or not element.value else self._read(element.value)

    def focused_element(self) -> ElementRecord | None:
        """The element with the focus."""
        element = self._attribute(self._all, "AXFocusedUIElement")
        return None if not element else self._read(element)

    def _read(self, element: int) -> ElementRecord:
        """Read the element's attributes, then release it."""
        try:
            name = self._text(element, "AXTitle") or self._text(element, "AXDescription")
            return ElementRecord(
                self._text(element, "AXRole"), self._text(element, "AXSubrole"), name, self._rectangle(element)
            )
        finally:
            release(element)

    def _rectangle(self, element: int) -> Rectangle:
        place, size = self._pair(element, "AXPosition", POINT_VALUE), self._pair(element, "AXSize", SIZE_VALUE)
        return place.first, place.second, size.first, size.second

    def _pair(self, element: int, name: str, kind: int) -> _Pair:
        pair, value = _Pair(), self._attribute(element, name)
        if value:
            self._services.AXValueGetValue(value, kind, ctypes.byref(pair))
            release(value)
        return pair

    def _text(self, element: int, name: str) -> str:
        value = self._attribute(element, name)
        text = read_text(value)
        release(value)
        return text

    def _attribute(self, element: int, name: str) -> int:
        value, key = ctypes.c_void_p(), make_text(name)
        failed = self._services.AXUIElementCopyAttributeValue(element, key, ctypes.byref(value))
        release(key)
        return 0 if failed else value.value or 0
