"""A program on a pseudo console (ConPTY, Windows 10 1809 and later), through kernel32.

https://learn.microsoft.com/windows/console/creating-a-pseudoconsole-session
"""

import ctypes
import msvcrt  # type: ignore[import-not-found, unused-ignore]
import os
import threading
from contextlib import suppress
from ctypes import wintypes
from pathlib import Path
from typing import Any

from vm_bridge.guest.windows.win32 import last_error, load_library

PSEUDO_CONSOLE_ATTRIBUTE = 0x20016
EXTENDED_STARTUP_INFO = 0x00080000
USE_STANDARD_HANDLES = 0x100
"""With empty handles beside it: the program takes those of its console, not those of the agent."""
FOREVER = 0xFFFFFFFF
KILLED = 1
"""The exit status of a program that is ended."""


class _Size(ctypes.Structure):
    _fields_ = [("columns", ctypes.c_short), ("rows", ctypes.c_short)]


class _StartupInfo(ctypes.Structure):
    _fields_ = [
        ("size", wintypes.DWORD),
        ("reserved", wintypes.LPWSTR),
        ("desktop", wintypes.LPWSTR),
        ("title", wintypes.LPWSTR),
        ("places", wintypes.DWORD * 7),
        ("flags", wintypes.DWORD),
        ("show", wintypes.WORD),
        ("reserved_size", wintypes.WORD),
        ("reserved_data", ctypes.c_void_p),
        ("handles", ctypes.c_void_p * 3),
        ("attributes", ctypes.c_void_p),
    ]


class _ProcessInformation(ctypes.Structure):
    _fields_ = [
        ("process", wintypes.HANDLE),
        ("thread", wintypes.HANDLE),
        ("process_id", wintypes.DWORD),
        ("thread_id", wintypes.DWORD),
    ]


class PseudoConsole:
    """Starts the program on construction. `write`, `resize` and `kill` may come from any thread. Raises OSError."""

    def __init__(self, command: str, columns: int, rows: int, folder: Path) -> None:
        """`command` is a command line as CreateProcess reads it."""
        self._kernel32: Any = load_library("kernel32")
        self._lock = threading.Lock()
        self._closed = False
        theirs_in, self._input = os.pipe()
        self._output, theirs_out = os.pipe()
        try:
            self._console = self._create(theirs_in, theirs_out, columns, rows)
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        try:
            self._process = self._start(command, folder)
        except OSError:
            self.close()
            raise

    def read(self, most: int) -> bytes:
        """The next output in UTF-8 with VT sequences; empty once the console is closed."""
        try:
            return os.read(self._output, most)
        except OSError:
            return b""  # Windows calls the end of a pipe an error

    def write(self, data: bytes) -> None:
        """Type UTF-8 and VT sequences. Raises OSError once the console is closed."""
        while data:
            data = data[os.write(self._input, data) :]

    def resize(self, columns: int, rows: int) -> None:
        """Give the console another size. A closed console keeps its size."""
        with self._lock:
            if not self._closed:
                self._kernel32.ResizePseudoConsole(self._console, _Size(columns, rows))

    def wait(self) -> int:
        """The program's exit status, once it has ended."""
        self._kernel32.WaitForSingleObject(self._process, FOREVER)
        status = wintypes.DWORD()
        self._kernel32.GetExitCodeProcess(self._process, ctypes.byref(status))
        return status.value

    def close(self) -> None:
        """Close the console; Windows asks programs that still use it to end. The rest of the output must be read
        meanwhile. Idempotent."""
        with self._lock:
            closed, self._closed = self._closed, True
        if not closed:
            self._kernel32.ClosePseudoConsole(self._console)
            with suppress(OSError):
                os.close(self._input)

    def ends_within(self, seconds: float) -> bool:
        """Whether the program ends within this time."""
        return bool(self._kernel32.WaitForSingleObject(self._process, int(seconds * 1000)) == 0)

    def kill(self) -> None:
        """End the program."""
        self._kernel32.TerminateProcess(self._process, KILLED)

    def _create(self, theirs_in: int, theirs_out: int, columns: int, rows: int) -> ctypes.c_void_p:
        console = ctypes.c_void_p()
        handles = (wintypes.HANDLE(msvcrt.get_osfhandle(each)) for each in (theirs_in, theirs_out))  # type: ignore[attr-defined, unused-ignore]
        result = self._kernel32.CreatePseudoConsole(_Size(columns, rows), *handles, 0, ctypes.byref(console))
        if result != 0:
            raise OSError(result, f"there is no pseudo console (0x{result & 0xFFFFFFFF:08x})")
        return console

    def _start(self, command: str, folder: Path) -> wintypes.HANDLE:
        attributes = self._attributes()
        info = _StartupInfo(size=ctypes.sizeof(_StartupInfo), flags=USE_STANDARD_HANDLES)
        info.attributes = ctypes.addressof(attributes)
        made = _ProcessInformation()
        line = ctypes.create_unicode_buffer(command)
        started = self._kernel32.CreateProcessW(
            None,
            line,
            None,
            None,
            False,
            EXTENDED_STARTUP_INFO,
            None,
            str(folder),
            ctypes.byref(info),
            ctypes.byref(made),
        )
        problem = None if started else last_error()
        self._kernel32.DeleteProcThreadAttributeList(attributes)
        if problem is not None:
            raise problem
        self._kernel32.CloseHandle(wintypes.HANDLE(made.thread))
        return wintypes.HANDLE(made.process)

    def _attributes(self) -> "ctypes.Array[ctypes.c_char]":
        """The list with the one attribute that names the console. Raises OSError."""
        size = ctypes.c_size_t()
        self._kernel32.InitializeProcThreadAttributeList(None, 1, 0, ctypes.byref(size))
        attributes = ctypes.create_string_buffer(size.value)
        if not self._kernel32.InitializeProcThreadAttributeList(attributes, 1, 0, ctypes.byref(size)):
            raise last_error()
        updated = self._kernel32.UpdateProcThreadAttribute(
            attributes,
            0,
            ctypes.c_size_t(PSEUDO_CONSOLE_ATTRIBUTE),
            self._console,
            ctypes.c_size_t(ctypes.sizeof(ctypes.c_void_p)),
            None,
            None,
        )
        if not updated:
            raise last_error()
        return attributes
