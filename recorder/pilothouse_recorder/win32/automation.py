"""UI Automation through its COM interface, without a library: methods are called by their index in the vtable."""

import ctypes
import sys
import uuid
from ctypes import wintypes
from typing import Any

from ..errors import RecorderError
from .calls import ElementRecord

assert sys.platform == "win32"

AUTOMATION_CLASS = uuid.UUID("ff48dba4-60ef-4201-aa87-54103eef594e")
AUTOMATION_INTERFACE = uuid.UUID("30cbe57d-d9d0-452a-ab13-7ac5ac4825ee")
IN_PROCESS = 1
MULTITHREADED = 0
RELEASE = 2
ELEMENT_FROM_POINT, FOCUSED_ELEMENT = 7, 8
"""Vtable indexes of IUIAutomation."""
CONTROL_TYPE, NAME, IS_PASSWORD, RECTANGLE = 21, 23, 35, 43
"""Vtable indexes of IUIAutomationElement."""
OK = 0


class Automation:
    """Elements; created and used on one thread. Raises RecorderError with `no_accessibility`."""

    def __init__(self) -> None:
        self._ole, self._strings = ctypes.OleDLL("ole32"), ctypes.WinDLL("oleaut32")
        self._strings.SysFreeString.argtypes = [ctypes.c_void_p]
        self._automation = ctypes.c_void_p()
        try:
            self._ole.CoInitializeEx(None, MULTITHREADED)
            self._ole.CoCreateInstance(
                AUTOMATION_CLASS.bytes_le,
                None,
                IN_PROCESS,
                AUTOMATION_INTERFACE.bytes_le,
                ctypes.byref(self._automation),
            )
        except OSError as error:
            raise RecorderError("no_accessibility", f"UI Automation does not start: {error}") from None

    def element_at(self, x: int, y: int) -> ElementRecord | None:
        """The element at a point of the desktop."""
        element = ctypes.c_void_p()
        failed = _call(self._automation, ELEMENT_FROM_POINT, wintypes.POINT(x, y), ctypes.byref(element))
        return None if failed or not element.value else self._read(element)

    def focused_element(self) -> ElementRecord | None:
        """The element with the focus."""
        element = ctypes.c_void_p()
        failed = _call(self._automation, FOCUSED_ELEMENT, ctypes.byref(element))
        return None if failed or not element.value else self._read(element)

    def _read(self, element: ctypes.c_void_p) -> ElementRecord | None:
        kind, password = ctypes.c_int(), wintypes.BOOL()
        name, rectangle = ctypes.c_void_p(), wintypes.RECT()
        places = ((CONTROL_TYPE, kind), (NAME, name), (IS_PASSWORD, password), (RECTANGLE, rectangle))
        failed = [_call(element, place, ctypes.byref(value)) for place, value in places]
        _call(element, RELEASE)
        text = ctypes.wstring_at(name.value) if name.value else ""
        self._strings.SysFreeString(name)
        if any(failed):
            return None
        bounds = (rectangle.left, rectangle.top, rectangle.right, rectangle.bottom)
        return ElementRecord(kind.value, text, bool(password.value), bounds)


def _call(thing: ctypes.c_void_p, place: int, *arguments: Any) -> bool:
    """Call a method of a COM object. Returns whether it failed."""
    table = ctypes.cast(thing, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]
    kinds = [type(one) if isinstance(one, ctypes.Structure) else ctypes.c_void_p for one in arguments]
    method = ctypes.WINFUNCTYPE(ctypes.c_long, ctypes.c_void_p, *kinds)(table[place] or 0)
    return bool(method(thing, *arguments) < OK)
