"""Locks for what only one run may do at a time. A lock is released when its process ends, in any way."""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError

LOCK_NAME = "lock"
POLL_SECONDS = 0.1
SETUP_TIMEOUT_SECONDS = 1800.0


@contextlib.contextmanager
def data_lock(data: Path) -> Iterator[None]:
    """Lock a data folder. Raises OperationsError at once if another run uses it."""
    with _open_lock(data / LOCK_NAME) as lock:
        if not _try_lock(lock):
            raise OperationsError(
                f"It is already running on {data} (process {os.pread(lock, 20, 0).decode() or 'unknown'}).",
                hint="Stop it first with Ctrl-C there, or give this one another folder: --data FOLDER.",
            )
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
        yield


def is_data_locked(data: Path) -> bool:
    """Whether a run uses a data folder now."""
    if not (data / LOCK_NAME).exists():
        return False
    with _open_lock(data / LOCK_NAME) as lock:
        return not _try_lock(lock)


@contextlib.contextmanager
def setup_lock(file: Path, console: Console) -> Iterator[None]:
    """Lock this clone for installing. Waits for another setup; raises OperationsError after half an hour."""
    with _open_lock(file) as lock:
        if not _try_lock(lock):
            console.step("Another set-up is at work here; waiting for it …")
            _wait_for_lock(lambda: _try_lock(lock), SETUP_TIMEOUT_SECONDS, "Another set-up of this clone does not end.")
        yield


@contextlib.contextmanager
def _open_lock(file: Path) -> Iterator[int]:
    file.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _try_lock(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _wait_for_lock(taken: Callable[[], bool], seconds: float, message: str) -> None:
    deadline = time.monotonic() + seconds
    while not taken():
        if time.monotonic() > deadline:
            raise OperationsError(message, hint="Find it with `ps aux | grep pilothouse` and stop it.")
        time.sleep(POLL_SECONDS)
