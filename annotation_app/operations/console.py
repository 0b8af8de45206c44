"""What a person reads in the terminal: steps of the set-up, log lines of the programs, problems."""

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
    """Coloured when it is a terminal that wants colour (https://no-color.org), plain otherwise."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream or sys.stdout
        self.live = self.stream.isatty()
        self.coloured = self.live and "NO_COLOR" not in os.environ

    def say(self, text: str = "") -> None:
        """One line for the person."""
        print(text, file=self.stream, flush=True)

    def step(self, text: str) -> None:
        """One line about what has been done or begins now."""
        self.say(f"{self.paint('▸', 36)} {text}")

    def warn(self, text: str) -> None:
        """Something the person should know, that stops nothing."""
        self.say(f"{self.paint('!', 33)} {text}")

    def problem(self, error: OperationsError) -> None:
        """What went wrong and what to do about it."""
        self.say(f"{self.paint('✗', 31)} {error}")
        for line in error.hint.splitlines():
            self.say(f"  {line}")

    def progress(self, text: str) -> None:
        """A line that the next one replaces; nothing where lines cannot be replaced."""
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{text[:width]}", end="", file=self.stream, flush=True)

    def end_progress(self) -> None:
        """Remove the replaceable line."""
        if self.live:
            print("\r\x1b[K", end="", file=self.stream, flush=True)

    def paint(self, text: str, colour: int) -> str:
        """`text` in an ANSI colour, where colours are shown."""
        return f"\x1b[{colour}m{text}\x1b[0m" if self.coloured else text

    def program_log(self, name: str, file: Path) -> logging.Logger:
        """A logger whose lines go, prefixed, to the terminal and, dated, to a file of bounded size."""
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
