"""Terminal output for people: setup steps, log lines of the programs, problems."""

import logging
import os
import shutil
import sys
import zlib
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TextIO

from annotation_app.operations.errors import OperationsError

LOG_BYTES = 10 * 1024 * 1024
PREFIX_WIDTH = 8
COLOURS = (32, 33, 34, 35, 36, 92, 94, 95, 96)


class Console:
    """Uses colour if the output is a terminal that wants it (https://no-color.org)."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.live = self.stream.isatty()
        self.coloured = self.live and "NO_COLOR" not in os.environ

    def say(self, text: str = "") -> None:
        """Print one line."""
        print(text, file=self.stream, flush=True)

    def step(self, text: str) -> None:
        """Print a step that is done or begins now."""
        self.say(f"{self.paint('▸', 36)} {text}")

    def warn(self, text: str) -> None:
        """Print a warning that stops nothing."""
        self.say(f"{self.paint('!', 33)} {text}")

    def problem(self, error: OperationsError) -> None:
        """Print what went wrong and what to do about it."""
        self.say(f"{self.paint('✗', 31)} {error}")
        for line in error.hint.splitlines():
            self.say(f"  {line}")

    def progress(self, text: str) -> None:
        """Print a line that the next one replaces. Prints nothing if the output cannot replace lines."""
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{text[:width]}", end="", file=self.stream, flush=True)

    def end_progress(self) -> None:
        """Remove the replaceable line."""
        if self.live:
            print("\r\x1b[K", end="", file=self.stream, flush=True)

    def paint(self, text: str, colour: int) -> str:
        """`text` in an ANSI colour, if colours are on."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.coloured else text

    def program_log(self, name: str, file: Path) -> logging.Logger:
        """A logger that writes lines to the terminal with a prefix, and to a size-limited file with the date."""
        logger = logging.Logger(name)
        colour = COLOURS[zlib.crc32(name.encode()) % len(COLOURS)]
        terminal = logging.StreamHandler(self.stream)
        terminal.setFormatter(logging.Formatter(f"{self.paint(f'{name:<{PREFIX_WIDTH}}│', colour)} %(message)s"))
        logger.addHandler(terminal)
        file.parent.mkdir(parents=True, exist_ok=True)
        file_handler = RotatingFileHandler(file, maxBytes=LOG_BYTES, backupCount=1, encoding="utf-8")
        file_handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        logger.addHandler(file_handler)
        return logger
