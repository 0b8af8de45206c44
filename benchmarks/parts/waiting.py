"""Bounded waits. Each says what it waited for, and ends early when a process it depends on ends."""

import asyncio
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

PAUSE_SECONDS = 0.1
POLL_SECONDS = 0.01
"""The pause of `until` (seconds)."""
TAIL = 2000
"""How much of a log an error shows (characters)."""


def wait_for(
    true: Callable[[], object],
    seconds: float,
    what: str,
    processes: "Mapping[Path, subprocess.Popen[bytes]]" = MappingProxyType({}),
) -> None:
    """Return when `true()` is. `processes` are those it depends on, by their logs.

    Raises:
        TimeoutError: it did not become true within `seconds`.
        RuntimeError: one of the processes has ended, so it never will; with the end of its log.
    """
    end = time.monotonic() + seconds
    while not true():
        for log, process in processes.items():
            if process.poll() is not None:
                raise RuntimeError(f"{process.args!r} ended with {process.returncode} before {what}: {log_tail(log)}")
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:g} seconds: {what}")
        time.sleep(PAUSE_SECONDS)


async def wait_until(true: Callable[[], object], seconds: float, what: str | Callable[[], str]) -> None:
    """The same in a coroutine, without processes. Raises TimeoutError; `what` may say how far it came."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:g} seconds: {what if isinstance(what, str) else what()}")
        await asyncio.sleep(POLL_SECONDS)


def log_tail(log: Path) -> str:
    """The last lines of a log, for an error."""
    return log.read_text(errors="replace")[-TAIL:]


def read_line(process: "subprocess.Popen[str]", begins: str, seconds: float) -> str:
    """The first line of a process's output that begins so; the lines before it are dropped.

    Raises:
        TimeoutError: none came within `seconds`; the process is killed.
        RuntimeError: the process ended without it.
    """
    assert process.stdout is not None
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    timer = threading.Timer(seconds, end)
    timer.start()
    try:
        line = next((line for line in process.stdout if line.startswith(begins)), None)
    finally:
        timer.cancel()
    if line is not None:
        return line.rstrip("\n")
    if late.is_set():
        raise TimeoutError(f"{process.args!r} did not print {begins!r} within {seconds:g} seconds")
    raise RuntimeError(f"{process.args!r} ended before it printed {begins!r}")
