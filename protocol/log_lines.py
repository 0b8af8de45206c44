"""Log lines that what a client sent cannot break into two, that change no terminal they are shown in, and that one
repeated fault cannot flood."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from typing import Literal, get_args

CONTROL_CHARACTERS = (*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""C0, DEL and C1, Unicode's line and paragraph separators, and what changes the direction of text."""
ESCAPES = {code: f"\\u{code:04x}" for code in CONTROL_CHARACTERS}


def escape_controls(line: str) -> str:
    r"""One line, with control characters as `\u001b`: as JSON writes them, so that a line of JSON stays the same."""
    return line.translate(ESCAPES)


class LineFormatter(logging.Formatter):
    """A record's message on one line; only a traceback has further lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        return escape_controls(super().formatMessage(record))


LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]
LEVEL_VARIABLE = "PILOTHOUSE_LOG_LEVEL"


def log_level(environment: Mapping[str, str]) -> LogLevel:
    """The level that `PILOTHOUSE_LOG_LEVEL` names, in either case; INFO where it names none."""
    named = environment.get(LEVEL_VARIABLE, "").upper()
    return next((level for level in get_args(LogLevel) if level == named), "INFO")


def log_to_stderr(environment: Mapping[str, str]) -> None:
    """Have this process write its log to standard error: lines of that level and above, without repetitions."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter("%(levelname)s %(name)s %(message)s"))
    handler.addFilter(RepeatFilter())
    logging.basicConfig(level=log_level(environment), handlers=[handler])


REPEATS, REPEAT_WINDOW_SECONDS = 5, 60.0
"""So many records of one kind are written in so many seconds; the rest are counted."""
MAX_KINDS = 1_000
"""Kinds of records that are remembered; with more the count begins again."""


class RepeatFilter(logging.Filter):
    """Leaves out warnings and errors that repeat: a full disk or a lost database fails every request.

    Records are of one kind where logger, level, line of code, the text before its values are filled in, and the kind of
    exception are the same. The first record of the next window says how many were left out. Belongs to one handler;
    may be called from any thread.
    """

    def __init__(
        self,
        repeats: int = REPEATS,
        window_seconds: float = REPEAT_WINDOW_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self._repeats, self._window, self._clock = repeats, window_seconds, clock
        self._counts: dict[tuple[object, ...], tuple[float, int]] = {}
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is written. A record after a gap gets the count of those before it in its message."""
        if record.levelno < logging.WARNING:
            return True
        exception = record.exc_info[0] if isinstance(record.exc_info, tuple) else None
        kind = (record.name, record.levelno, record.pathname, record.lineno, record.msg, exception)
        with self._lock:
            now = self._clock()
            began, count = self._counts.get(kind, (now, 0))
            left_out = 0
            if now - began >= self._window:
                left_out, began, count = max(0, count - self._repeats), now, 0
            if len(self._counts) >= MAX_KINDS and kind not in self._counts:
                self._counts.clear()
            self._counts[kind] = (began, count + 1)
        if left_out:
            record.msg, record.args = f"{record.getMessage()} ({left_out} more like it were left out)", ()
        return count < self._repeats
