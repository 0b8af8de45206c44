"""Waiting for something to become true, with a bound."""

import time
from collections.abc import Callable

PAUSE = 0.1


def wait_for(true: Callable[[], bool], seconds: float) -> None:
    """Return when `true()` is. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"it did not become true within {seconds:g} seconds")
        time.sleep(PAUSE)
