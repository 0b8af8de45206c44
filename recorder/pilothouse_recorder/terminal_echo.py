"""Detects a password prompt in a terminal: the program reads lines without echo, as sudo, ssh and passwd do."""

import os
import termios
from contextlib import suppress
from pathlib import Path

MAX_DESCENDANTS = 200
LOCAL_FLAGS = 3
"""Index of the line discipline's flags in the result of `tcgetattr`."""


def asks_for_password(pid: int) -> bool:
    """Whether any terminal of this process or its descendants reads a line without echo."""
    return any(_reads_hidden_line(path) for path in terminals_of(pid))


def terminals_of(pid: int) -> set[Path]:
    """The pseudo-terminals of a process and its descendants."""
    pending, seen, found = [pid], 0, set[Path]()
    while pending and seen < MAX_DESCENDANTS:
        process, seen = pending.pop(), seen + 1
        with suppress(OSError, ValueError, IndexError):
            folder = Path("/proc") / str(process)
            # After the name in parentheses: state, parent, group, session, terminal (proc(5)).
            terminal = int((folder / "stat").read_text().rpartition(")")[2].split()[4])
            if terminal:
                found.add(_terminal_path(terminal))
            for task in (folder / "task").iterdir():
                pending += map(int, (task / "children").read_text().split())
    return found


def _terminal_path(device: int) -> Path:
    minor = (device & 0xFF) | ((device >> 12) & 0xFFF00)
    major = (device >> 8) & 0xFFF
    return Path(f"/dev/pts/{minor + (major - 136) * 256}" if 136 <= major <= 143 else f"/dev/tty{minor}")


def _reads_hidden_line(path: Path) -> bool:
    try:
        terminal = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        flags = termios.tcgetattr(terminal)[LOCAL_FLAGS]
    except termios.error:
        return False
    finally:
        os.close(terminal)
    return bool(flags & termios.ICANON) and not flags & termios.ECHO
