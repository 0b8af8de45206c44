"""Waiting for something to become true, with a bound, instead of sleeping."""

import asyncio
import time
from collections.abc import Callable

LIMIT = 40.0
"""Longest wait (seconds)."""
PAUSE = 0.01


def wait_until(true: Callable[[], object], limit: float = LIMIT) -> None:
    """Return when `true()` is. Raises AssertionError after `limit` seconds."""
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end, "it did not become true in time"
        time.sleep(PAUSE)


async def eventually(true: Callable[[], object], limit: float = LIMIT) -> None:
    """The same in a coroutine."""
    end = time.monotonic() + limit
    while not true():
        assert time.monotonic() < end, "it did not become true in time"
        await asyncio.sleep(PAUSE)
