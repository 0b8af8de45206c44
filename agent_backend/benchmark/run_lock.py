"""The lock of a run's folder, which its command holds while it works: by it others know that it runs."""

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
"""For so long a command tries to lock its folder: whoever looks whether it is locked has the lock for a moment."""
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
    """Whether a command holds this lock file. None where that is not known: the file is missing or another user's, or
    its mount has no locks."""
    try:
        lock = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        if error.errno not in UNSUPPORTED_ERRNOS:
            raise
        return None
    finally:
        os.close(lock)
    return False


def try_lock(lock: int) -> bool:
    """Take a lock if it is free, or if its mount has none. Returns whether it was."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNSUPPORTED_ERRNOS:
            raise
    return True
