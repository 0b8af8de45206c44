"""Waiting for something to become true, with a bound, instead of sleeping."""

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LIMIT = 40.0
"""Longest wait (seconds)."""
PAUSE = 0.01
NOTED_SECONDS = 0.1
"""Waits from this length on are noted."""
WAITS: list[tuple[str, float]] = []
"""What was waited for, and for how many seconds, since the last report of a test; `tests.timing` empties it."""


def wait_until(true: Callable[[], object], limit: float = LIMIT) -> None:
    """Return when `true()` is. Raises AssertionError after `limit` seconds."""
    with _noted(true, limit) as check:
        while not check():
            time.sleep(PAUSE)


async def eventually(true: Callable[[], object], limit: float = LIMIT) -> None:
    """The same in a coroutine."""
    with _noted(true, limit) as check:
        while not check():  # noqa: ASYNC110 - another program's state sends no event
            await asyncio.sleep(PAUSE)


@contextmanager
def _noted(true: Callable[[], object], limit: float) -> Iterator[Callable[[], object]]:
    began = time.monotonic()

    def check() -> object:
        result = true()
        assert result or time.monotonic() - began < limit, f"not true within {limit:g} s: {_source(true)}"
        return result

    try:
        yield check
    finally:
        if (seconds := time.monotonic() - began) >= NOTED_SECONDS:
            WAITS.append((_source(true), seconds))


def _source(condition: Callable[[], object]) -> str:
    """The condition as it is written, in one line; its place where the source cannot be read."""
    code = getattr(condition, "__code__", None)
    try:
        lines = inspect.getsource(condition).split()
    except (OSError, TypeError):
        lines = [repr(condition)]
    place = f"{code.co_filename.rpartition('/tests/')[2]}:{code.co_firstlineno}: " if code else ""
    return place + " ".join(lines)[:120]
