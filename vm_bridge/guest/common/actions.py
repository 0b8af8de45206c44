"""What an action gives, how it fails, and how a gesture's inputs are played at their pace."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_OUTPUT = 64 * 1024
"""Longest text an act gives (bytes); what lies beyond is cut and said so."""

Action = dict[str, Any]


class ActionFailed(Exception):
    """The act was tried and did not work; `code` is stable, `text` is what came out before."""

    def __init__(self, code: str, message: str, text: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.text = text


@dataclass(frozen=True)
class Attachment:
    """Bytes that an act brings out."""

    data: bytes
    media_type: str


@dataclass(frozen=True)
class ActionOutput:
    """What an act gives beside the frame after it."""

    text: str | None = None
    attachment: Attachment | None = None


def bounded_text(data: bytes) -> str:
    """Output as text, cut where it is too long."""
    text = data[:MAX_OUTPUT].decode("utf-8", "replace")
    return f"{text}\n[cut after {MAX_OUTPUT} bytes]" if len(data) > MAX_OUTPUT else text


def play_gesture(
    inputs: list[dict[str, Any]], do: Callable[[dict[str, Any]], None], interrupt: threading.Event
) -> None:
    """Do them one after another; `hurry` makes it as fast as can be."""
    began = time.monotonic()
    for timed in inputs:
        left = began + timed["at_ms"] / 1000 - time.monotonic()
        if left > 0:
            interrupt.wait(left)
        do(timed["input"])
