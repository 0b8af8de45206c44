"""Log lines that what a client sent cannot break into two, and that change no terminal they are shown in."""

import logging

CONTROL_CHARACTERS = (*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""C0, DEL and C1, Unicode's line and paragraph separators, and what changes the direction of text."""
ESCAPES = {code: f"\\u{code:04x}" for code in CONTROL_CHARACTERS}


def escape_controls(line: str) -> str:
    r"""One line, with control characters as `\u001b`: as JSON writes them, so that a line of JSON stays the same."""
    return line.translate(ESCAPES)


class LineFormatter(logging.Formatter):
    """A record's message on one line; only its traceback, where it has one, stands on lines of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        return escape_controls(super().formatMessage(record))
