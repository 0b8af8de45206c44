"""Objective-C by ctypes: sending messages, and a class whose objects call Python."""

import ctypes
import sys
from collections.abc import Callable
from typing import Any

assert sys.platform == "darwin"

METHOD = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
"""A method with one object and no result."""

library = ctypes.CDLL("/usr/lib/libobjc.A.dylib")
library.objc_getClass.restype, library.objc_getClass.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
library.sel_registerName.restype, library.sel_registerName.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
library.objc_allocateClassPair.restype = ctypes.c_void_p
library.objc_allocateClassPair.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
library.objc_registerClassPair.argtypes = [ctypes.c_void_p]
library.class_addMethod.argtypes = [ctypes.c_void_p, ctypes.c_void_p, METHOD, ctypes.c_char_p]
_SEND = ctypes.cast(library.objc_msgSend, ctypes.c_void_p).value or 0


def find_class(name: str) -> int:
    """A class of the frameworks that are loaded."""
    return int(library.objc_getClass(name.encode()) or 0)


def selector(name: str) -> int:
    """The name of a method."""
    return int(library.sel_registerName(name.encode()) or 0)


def send(
    receiver: int | None, name: str, *values: Any, types: tuple[Any, ...] = (), result: Any = ctypes.c_void_p
) -> Any:
    """Send a message. `types` are the types of `values`; the default is objects. Returns None if the result is nil."""
    kinds = types or (ctypes.c_void_p,) * len(values)
    prototype = ctypes.CFUNCTYPE(result, ctypes.c_void_p, ctypes.c_void_p, *kinds)
    return prototype(_SEND)(receiver, selector(name), *values)


def make_target(class_name: str, method: str, call: Callable[[int], None]) -> tuple[int, Any]:
    """Create an object whose method calls Python with the sender. Keep the second value alive as long as the object."""
    function = METHOD(lambda _self, _selector, sender: call(sender or 0))
    made = library.objc_allocateClassPair(find_class("NSObject"), class_name.encode(), 0)
    library.class_addMethod(made, selector(method), function, b"v@:@")
    library.objc_registerClassPair(made)
    return int(send(send(made, "alloc"), "init")), function
