"""One interactive terminal: a shell on a pseudo-terminal, its raw output and its screen."""

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

import pyte

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.linux.terminals.completion import folder_of
from vm_bridge.guest.linux.terminals.screen import TerminalScreen, render_screen, screen_text

SHELL = ("env", "--default-signal", "setsid", "--ctty", "bash")
"""Resets signals: a platform started in the background ignores some, Ctrl-C first of all, but its terminals must not.
"""
COLUMNS, ROWS = 100, 30
OUTPUT_BUFFER_BYTES = 256 * 1024
"""Output kept for viewers (bytes). A viewer further behind gets the current screen."""
MAX_OBSERVATION = 4_000
"""Maximum text of an observation (characters): a screen, and some scrollback."""
CHUNK = 16 * 1024
CLOSE_SECONDS = 2.0
"""Time for a shell to end its programs before it is killed."""
WRITE_SECONDS = 5.0
"""Maximum time that a program may leave input unread."""


class Terminal:
    """Starts its shell on construction. `changed` is notified on every output, and must be held to read."""

    def __init__(self, name: str, changed: threading.Condition, shell: Sequence[str] = SHELL) -> None:
        self.name = name
        self._prompt_known = tuple(shell) == SHELL
        columns, rows = COLUMNS, ROWS
        self._changed = changed
        self._screen = TerminalScreen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self._output = bytearray()
        self.end = 0
        """Total output so far (bytes); also grows on a resize."""
        self.last_output_at = time.monotonic()
        self.status: int | None = None
        """The shell's exit status once it has ended."""
        self._master, slave = os.openpty()
        self._set_size(columns, rows)
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
    def columns(self) -> int:
        return self._screen.columns

    @property
    def rows(self) -> int:
        return self._screen.lines

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

    def text(self) -> str:
        """The screen's text, with as much scrollback as fits."""
        with self._changed:
            text = screen_text(self._screen, most=MAX_OBSERVATION)
            return text if self.status is None else f"{text}\n[the shell ended with status {self.status}]"

    def since(self, offset: int | None) -> tuple[bytes, int]:
        """The output after an offset, and its end offset; the whole screen if that output is no longer stored.

        `changed` must be held.
        """
        missed = None if offset is None else self.end - offset
        if missed is None or not 0 <= missed <= len(self._output):
            return render_screen(self._screen), self.end
        return bytes(self._output[len(self._output) - missed :]), self.end

    def resize(self, columns: int, rows: int) -> None:
        """Resize it."""
        with self._changed:
            self._set_size(columns, rows)
            self._screen.resize(rows, columns)
            self._note(b"", always=True)

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
                with self._changed:
                    self._stream.feed(data)
                    self._note(data)
        status = self._shell.wait()
        with self._changed:
            self.status = status
            self._note(b"", always=True)

    def _note(self, data: bytes, *, always: bool = False) -> None:
        if always:  # viewers must redraw even without output
            self._output.clear()
            self.end += 1
        self._output += data
        self.end += len(data)
        del self._output[: max(0, len(self._output) - OUTPUT_BUFFER_BYTES)]
        self.last_output_at = time.monotonic()
        self._changed.notify_all()
