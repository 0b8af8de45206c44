"""The interactive terminals of a machine by name, and the calls that reach them."""

import base64
import threading
import time
from collections.abc import Callable
from typing import Any

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.terminals.screen import MAX_COLUMNS, MAX_ROWS
from vm_bridge.guest.common.terminals.terminal import Terminal

MAX_TERMINALS = 8
"""Maximum terminals."""
PROMPT_QUIET_SECONDS, RUNNING_QUIET_SECONDS, MAX_WAIT_SECONDS = 0.15, 0.6, 5.0
"""Quiet time that ends a wait: at the shell's prompt, and while a program runs; and the maximum wait (seconds)."""
MIN_SIDE = 2
OPERATIONS = ("type", "write", "read", "list", "resize", "close", "complete", "interrupt", "poll")

Message = dict[str, Any]
StartTerminal = Callable[[str, threading.Condition], Terminal]
"""Starts the terminal with this name; the condition is that of all terminals."""


class TerminalRegistry:
    """Every terminal by its name. `changed` is their common lock and notification."""

    def __init__(self, start: StartTerminal) -> None:
        self._start = start
        self._terminals: dict[str, Terminal] = {}
        self._changed = threading.Condition()
        self._interrupts = 0

    def type(self, call: Message) -> Message:
        """Type text, wait until the output rests, and return the terminal's text. Empty text only reads.

        An ended shell is restarted.
        """
        terminal = self._open(call["session"])
        if call["text"]:
            terminal.write(call["text"])
        self._wait_quiet(terminal, 0.0 if not call["text"] else time.monotonic())
        return {"text": terminal.text()}

    def write(self, call: Message) -> Message:
        """Type text without waiting."""
        self._open(call["session"]).write(call["text"])
        return {}

    def read(self, call: Message) -> Message:
        """A terminal's text."""
        return {"text": self._find(call["session"]).text()}

    def list(self, call: Message) -> Message:
        """Every terminal."""
        with self._changed:
            return {
                "terminals": [
                    {"name": t.name, "columns": t.columns, "rows": t.rows, "running": t.status is None}
                    for t in self._terminals.values()
                ]
            }

    def complete(self, call: Message) -> Message:
        """Completions of a command line. None are offered where no shell can be asked."""
        return {"offered": False, "start": 0, "options": [], "more": False}

    def resize(self, call: Message) -> Message:
        """Resize a terminal; starts it if there is none of that name."""
        columns, rows = call["columns"], call["rows"]
        if not (MIN_SIDE <= columns <= MAX_COLUMNS and MIN_SIDE <= rows <= MAX_ROWS):
            raise ActionFailed("bad_size", f"a terminal has {MAX_COLUMNS} columns and {MAX_ROWS} rows at most")
        self._open(call["session"]).resize(columns, rows)
        return {}

    def close(self, call: Message) -> Message:
        """Close a terminal and end its programs."""
        terminal = self._find(call["session"])
        with self._changed:
            self._terminals.pop(terminal.name, None)
            self._changed.notify_all()
        terminal.close()
        return {}

    def interrupt(self, call: Message) -> Message:
        """Interrupt a running wait for rest."""
        with self._changed:
            self._interrupts += 1
            self._changed.notify_all()
        return {}

    def poll(self, call: Message) -> Message:
        """Output after these offsets. Waits at most `wait` seconds for some. A terminal without an offset is returned
        whole; a closed one has no rows."""
        offsets: dict[str, int] = call["offsets"]
        with self._changed:
            self._changed.wait_for(lambda: self._has_changed(offsets), call["wait"])
            frames = [self._frame(t, offsets.get(t.name)) for t in self._terminals.values()]
            gone = [name for name in offsets if name not in self._terminals]
        frames = [frame for frame in frames if frame["end"] != offsets.get(frame["session"])]
        frames += [{"session": name, "data": "", "columns": 0, "rows": 0, "end": -1} for name in gone]
        return {"frames": frames}

    def _running(self, name: str) -> Terminal | None:
        """The terminal with this name, if its shell has not ended."""
        with self._changed:
            terminal = self._terminals.get(name)
        return None if terminal is None or terminal.status is not None else terminal

    def _has_changed(self, offsets: dict[str, int]) -> bool:
        return offsets != {terminal.name: terminal.end for terminal in self._terminals.values()}

    def _frame(self, terminal: Terminal, offset: int | None) -> Message:
        data, end = terminal.since(offset)
        size = {"columns": terminal.columns, "rows": terminal.rows}
        return {"session": terminal.name, "data": base64.b64encode(data).decode(), "end": end, **size}

    def _open(self, name: str) -> Terminal:
        """The terminal with this name, started if none runs. Raises ActionFailed."""
        with self._changed:
            found = self._terminals.get(name)
            if found is not None and found.status is None:
                return found
            if found is None and len(self._terminals) >= MAX_TERMINALS:
                raise ActionFailed("too_many", f"there are {MAX_TERMINALS} terminals already")
            created = self._terminals[name] = self._start(name, self._changed)
        self._wait_quiet(created, time.monotonic())
        return created

    def _find(self, name: str) -> Terminal:
        with self._changed:
            found = self._terminals.get(name)
        if found is None:
            raise ActionFailed("no_such_terminal", f"there is no terminal {name}")
        return found

    def _wait_quiet(self, terminal: Terminal, since: float) -> None:
        """Wait until output stops, with a time limit; `since` is when something was typed."""
        ends = time.monotonic() + MAX_WAIT_SECONDS
        with self._changed:
            interrupts = self._interrupts
            while terminal.status is None and self._interrupts == interrupts:
                still = PROMPT_QUIET_SECONDS if terminal.idle else RUNNING_QUIET_SECONDS
                now = time.monotonic()
                left = min(max(terminal.last_output_at, since) + still, ends) - now
                if left <= 0:
                    return
                self._changed.wait(min(left, PROMPT_QUIET_SECONDS))
