"""A shell of Windows on a pseudo console."""

import threading
from pathlib import Path

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.terminals.terminal import Terminal
from vm_bridge.guest.windows.pseudo_console import PseudoConsole

CHUNK = 16 * 1024
CLOSE_SECONDS = 2.0
"""Time for a shell to end its programs before it is killed."""


class WindowsTerminal(Terminal):
    """Starts its shell on construction. Nothing tells whether the shell waits at its prompt."""

    def __init__(self, name: str, changed: threading.Condition, shell: str) -> None:
        super().__init__(name, changed)
        try:
            self._console = PseudoConsole(shell, self.columns, self.rows, Path.home())
        except OSError as error:
            raise ActionFailed("cannot_run", f"{shell}: {error.strerror}") from error
        reading = threading.Thread(target=self._read, daemon=True)
        reading.start()
        threading.Thread(target=self._wait, args=(reading,), daemon=True).start()

    def write(self, text: str) -> None:
        """See `Terminal.write`. The console itself always reads."""
        data = text.replace("\r\n", "\r").replace("\n", "\r").encode("utf-8", "replace")
        try:
            self._console.write(data)
        except OSError as error:
            raise ActionFailed("ended", f"the shell of the terminal {self.name} has ended") from error

    def close(self) -> None:
        """See `Terminal.close`."""
        self._console.close()
        if not self._console.ends_within(CLOSE_SECONDS):
            self._console.kill()

    def _set_size(self, columns: int, rows: int) -> None:
        self._console.resize(columns, rows)

    def _read(self) -> None:
        while data := self._console.read(CHUNK):
            self._feed(data)

    def _wait(self, reading: threading.Thread) -> None:
        """The output ends only when the console is closed, which the shell's end does not do."""
        status = self._console.wait()
        self._console.close()
        reading.join()
        self._ended(status)
