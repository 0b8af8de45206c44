"""One interactive terminal on any system: its raw output, its screen, and what viewers have missed."""

import threading
import time

import pyte

from vm_bridge.guest.common.terminals.screen import TerminalScreen, render_screen, screen_text

COLUMNS, ROWS = 100, 30
OUTPUT_BUFFER_BYTES = 256 * 1024
"""Output kept for viewers (bytes). A viewer further behind gets the current screen."""
MAX_OBSERVATION = 4_000
"""Maximum text of an observation (characters): a screen, and some scrollback."""


class Terminal:
    """The part of a terminal that depends on no system. `changed` is notified on every output, and must be held to
    read."""

    def __init__(self, name: str, changed: threading.Condition) -> None:
        self.name = name
        self._changed = changed
        self._screen = TerminalScreen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self._screen)
        self._output = bytearray()
        self.end = 0
        """Total output so far (bytes); also grows on a resize."""
        self.last_output_at = time.monotonic()
        self.status: int | None = None
        """The shell's exit status once it has ended."""

    @property
    def columns(self) -> int:
        return self._screen.columns

    @property
    def rows(self) -> int:
        return self._screen.lines

    @property
    def idle(self) -> bool:
        """Whether the shell itself waits at its prompt. False where that is unknown."""
        return False

    def write(self, text: str) -> None:
        """Type text. Raises ActionFailed if the foreground program reads nothing, or the shell has ended."""
        raise NotImplementedError

    def close(self) -> None:
        """End the shell and what it runs."""
        raise NotImplementedError

    def _set_size(self, columns: int, rows: int) -> None:
        """Tell the program the terminal's size."""
        raise NotImplementedError

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

    def _feed(self, data: bytes) -> None:
        """Take output of the program."""
        with self._changed:
            self._stream.feed(data)
            self._note(data)

    def _ended(self, status: int) -> None:
        """The shell has ended, and all its output was read."""
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
