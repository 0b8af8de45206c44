"""Win32 functions: loading libraries, their errors, and job objects, which end a command with all it started."""

import ctypes
import subprocess
from ctypes import c_void_p
from pathlib import Path
from typing import Any


def load_library(name: str) -> Any:
    """One of its libraries, whose functions say why they failed by `failure`."""
    return ctypes.WinDLL(name, use_last_error=True)  # type: ignore[attr-defined]


def last_error() -> OSError:
    """Why the last call failed."""
    error: OSError = ctypes.WinError(ctypes.get_last_error())  # type: ignore[attr-defined]
    return error


SUSPENDED, NO_WINDOW = 0x00000004, 0x08000000
ENDED = 1
"""The exit status of what is ended."""


class JobObject:
    """Begins on construction; its output, errors and all, is `process.stdout`. Raises OSError."""

    def __init__(self, command: list[str]) -> None:
        self._kernel32 = load_library("kernel32")
        self._kernel32.CreateJobObjectW.restype = c_void_p
        self._job = self._kernel32.CreateJobObjectW(None, None)
        # It starts nothing before it is in the job.
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=Path.home(),
            creationflags=SUSPENDED | NO_WINDOW,
        )
        handle = c_void_p(int(self.process._handle))  # type: ignore[attr-defined]
        if not self._kernel32.AssignProcessToJobObject(c_void_p(self._job), handle):
            problem = last_error()
            self.process.kill()
            raise problem
        load_library("ntdll").NtResumeProcess(handle)

    def end(self) -> None:
        """The command, and whatever it started."""
        self._kernel32.TerminateJobObject(c_void_p(self._job), ENDED)

    def close(self) -> None:
        """Let go of it; what it left running runs on."""
        self._kernel32.CloseHandle(c_void_p(self._job))
