"""Primitive inputs at the pace they were made."""

import threading
import time
from collections.abc import Callable
from typing import Any


def gesture_play(inputs: list[dict[str, Any]], do: Callable[[dict[str, Any]], None], hurry: threading.Event) -> None:
    """Do them one after another; `hurry` makes it as fast as can be."""
    began = time.monotonic()
    for timed in inputs:
        left = began + timed["at_ms"] / 1000 - time.monotonic()
        if left > 0:
            hurry.wait(left)
        do(timed["input"])
