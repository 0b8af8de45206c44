"""A shell on a pseudo-terminal."""

import fcntl
import os
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.terminals.terminal import Terminal
from vm_bridge.guest.linux.terminals.completion import folder_of

SHELL = ("env", "--default-signal", "setsid", "--ctty", "bash")
"""Resets signals: a platform started in the background ignores some, Ctrl-C first of all, but its terminals must not.
"""
CHUNK = 16 * 1024
CLOSE_SECONDS = 2.0
"""Time for a shell to end its programs before it is killed."""
WRITE_SECONDS = 5.0
"""Maximum time that a program may leave input unread."""


class PosixTerminal(Terminal):
    """Starts its shell on construction."""

    def __init__(self, name: str, changed: threading.Condition, shell: Sequence[str] = SHELL) -> None:
        super().__init__(name, changed)
        self._prompt_known = tuple(shell) == SHELL
        self._master, slave = os.openpty()
        self._set_size(self.columns, self.rows)
        environment = {**os.environ, "TERM": "xterm-256color"}
        try:
            self._shell = subprocess.Popen(
                shell, stdin=slave, stdout=slave, stderr=slave, cwd=Path.home(), env=environment
            )
        except OSError as error:
            os.close(self._master)
            raise ActionFailed("cannot_run", f"{shell[0]}: {error.strerror}") from error
        finally:
            os.close(slave)
        threading.Thread(target=self._read, daemon=True).start()

    @property
    def idle(self) -> bool:
        """Whether the shell itself waits at its prompt. The prompt of another program is unknown."""
        try:
            return self._prompt_known and os.tcgetpgrp(self._master) == self._shell.pid
        except OSError:
            return True  # it has ended

    @property
    def folder(self) -> Path:
        """The current folder of the foreground program, or else of the shell."""
        home = Path.home()
        try:
            foreground = os.tcgetpgrp(self._master)
        except OSError:
            return home  # it has ended
        return folder_of(foreground, folder_of(self._shell.pid, home))

    def write(self, text: str) -> None:
        """Type text. Raises ActionFailed if the foreground program reads nothing, or the shell has ended."""
        data = text.replace("\r\n", "\r").replace("\n", "\r").encode("utf-8", "replace")
        ends = time.monotonic() + WRITE_SECONDS
        while data:
            try:
                data = data[os.write(self._master, data[:1024]) :]
            except BlockingIOError:
                if time.monotonic() > ends:
                    raise ActionFailed("not_read", f"nothing in the terminal {self.name} reads what is typed") from None
                time.sleep(0.01)
            except OSError as error:
                raise ActionFailed("ended", f"the shell of the terminal {self.name} has ended") from error

    def close(self) -> None:
        """End the shell and what it runs."""
        with suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGHUP)
        with suppress(subprocess.TimeoutExpired):
            self._shell.wait(CLOSE_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(self._shell.pid, signal.SIGKILL)
        self._shell.wait()

    def _set_size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def _read(self) -> None:
        """Read until the last program has closed the terminal, or the shell has ended."""
        os.set_blocking(self._master, True)
        with suppress(OSError):
            while data := os.read(self._master, CHUNK):
                self._feed(data)
        self._ended(self._shell.wait())
