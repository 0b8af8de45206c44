"""A command with all that it starts: a job, which ends as a whole."""

import subprocess
from ctypes import c_void_p
from pathlib import Path

from vm_bridge.guest.win32.api import failure, library

SUSPENDED, NO_WINDOW = 0x00000004, 0x08000000
ENDED = 1
"""The exit status of what is ended."""


class Job:
    """Begins on construction; its output, errors and all, is `process.stdout`. Raises OSError."""

    def __init__(self, command: list[str]) -> None:
        self._kernel32 = library("kernel32")
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
            problem = failure()
            self.process.kill()
            raise problem
        library("ntdll").NtResumeProcess(handle)

    def end(self) -> None:
        """The command, and whatever it started."""
        self._kernel32.TerminateJobObject(c_void_p(self._job), ENDED)

    def close(self) -> None:
        """Let go of it; what it left running runs on."""
        self._kernel32.CloseHandle(c_void_p(self._job))
