"""Action results and errors, and playing a gesture's inputs with their timing."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_OUTPUT = 64 * 1024
"""Maximum text of an action (bytes). Longer text is truncated with a notice."""

Action = dict[str, Any]


class ActionFailed(Exception):
    """The action was tried and failed; `code` is stable, `text` is the output before the failure."""

    def __init__(self, code: str, message: str, text: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.text = text


@dataclass(frozen=True)
class Attachment:
    """Bytes exported by an action."""

    data: bytes
    media_type: str


@dataclass(frozen=True)
class ActionOutput:
    """Output of an action besides the frame after it."""

    text: str | None = None
    attachment: Attachment | None = None


def bounded_text(data: bytes) -> str:
    """Output as text, truncated if it is too long."""
    text = data[:MAX_OUTPUT].decode("utf-8", "replace")
    return f"{text}\n[cut after {MAX_OUTPUT} bytes]" if len(data) > MAX_OUTPUT else text


def play_gesture(
    inputs: list[dict[str, Any]], do: Callable[[dict[str, Any]], None], interrupt: threading.Event
) -> None:
    """Play inputs in order; `interrupt` removes the remaining pauses."""
    began = time.monotonic()
    for timed in inputs:
        left = began + timed["at_ms"] / 1000 - time.monotonic()
        if left > 0:
            interrupt.wait(left)
        do(timed["input"])
