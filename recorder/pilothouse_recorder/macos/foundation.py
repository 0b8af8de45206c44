"""Core Foundation by ctypes: texts, property lists, and reference ownership."""

import ctypes
import sys

assert sys.platform == "darwin"

FRAMEWORKS = "/System/Library/Frameworks/{0}.framework/{0}"
UTF8, BINARY_LIST = 0x08000100, 200
MAX_TEXT = 4096

core = ctypes.CDLL(FRAMEWORKS.format("CoreFoundation"))
core.CFStringCreateWithCString.restype = core.CFPropertyListCreateData.restype = ctypes.c_void_p
core.CFStringCreateWithCString.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32]
core.CFStringGetCString.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_long, ctypes.c_uint32]
core.CFStringGetCString.restype = ctypes.c_bool
core.CFPropertyListCreateData.argtypes = [
    *(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_ulong, ctypes.c_void_p)
]
core.CFDataGetBytePtr.restype, core.CFDataGetBytePtr.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
core.CFDataGetLength.restype, core.CFDataGetLength.argtypes = ctypes.c_long, [ctypes.c_void_p]
core.CFRelease.argtypes = [ctypes.c_void_p]
core.CFGetTypeID.restype, core.CFGetTypeID.argtypes = ctypes.c_ulong, [ctypes.c_void_p]
core.CFStringGetTypeID.restype = ctypes.c_ulong


def framework(name: str) -> ctypes.CDLL:
    """A framework of the system."""
    return ctypes.CDLL(FRAMEWORKS.format(name))


def release(thing: int | None) -> None:
    """Release an object from a Create or Copy call."""
    if thing:
        core.CFRelease(thing)


def make_text(text: str) -> int:
    """A CFString that the caller must release."""
    return int(core.CFStringCreateWithCString(None, text.encode(), UTF8) or 0)


def read_text(thing: int | None) -> str:
    """The text of a CFString; empty for anything else."""
    if not thing or core.CFGetTypeID(thing) != core.CFStringGetTypeID():
        return ""
    buffer = ctypes.create_string_buffer(MAX_TEXT)
    return buffer.value.decode() if core.CFStringGetCString(thing, buffer, MAX_TEXT, UTF8) else ""


def read_bytes(thing: int | None) -> bytes:
    """The bytes of a CFData."""
    return ctypes.string_at(core.CFDataGetBytePtr(thing), core.CFDataGetLength(thing)) if thing else b""


def to_property_list(thing: int) -> bytes:
    """An array or a dictionary as a binary property list."""
    data = core.CFPropertyListCreateData(None, thing, BINARY_LIST, 0, None)
    try:
        return read_bytes(data)
    finally:
        release(data)
