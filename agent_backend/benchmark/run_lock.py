"""The lock of a run's folder. The run's command holds it while it works, so that other programs can see that it
runs."""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from agent_backend.errors import AgentError

RUN_LOCK_FILE = "run.lock"
UNSUPPORTED_ERRNOS = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""Errors of folders on mounts without locks."""
LOCK_WAIT_SECONDS = 1.5
"""How long a command tries to lock its folder. A program that checks the lock holds it for a moment."""
RETRY_SECONDS = 0.02


class RunActive(AgentError):
    """Another command works in the folder of this run."""

    code = "run_active"


@contextlib.contextmanager
def run_lock(run: Path) -> Iterator[None]:
    """Hold the folder of a run while the block runs. On a mount without locks nothing is held. Raises RunActive."""
    lock = os.open(run / RUN_LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + LOCK_WAIT_SECONDS
    try:
        while not try_lock(lock):
            if time.monotonic() >= deadline:
                raise RunActive(f"another command works in {run}: wait until it ends")
            time.sleep(RETRY_SECONDS)
        yield
    finally:
        os.close(lock)


def is_locked(file: Path) -> bool | None:
    """Whether a command holds this lock file. None if that is unknown: the file is missing or belongs to another user,
    or its mount has no locks."""
    try:
        lock = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return None
    try:
        is_free = _flock(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)
    return None if is_free is None else not is_free


def try_lock(lock: int) -> bool:
    """Take a lock if it is free, or if its mount has none. Returns whether that worked."""
    return _flock(lock, fcntl.LOCK_EX) is not False


def _flock(lock: int, kind: int) -> bool | None:
    """Take a lock of this kind without waiting. Returns whether it was free; None where its mount has no locks."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNSUPPORTED_ERRNOS:
            raise
        return None
    return True
