"""The lock of a run's folder, which its command holds while it works: by it others know that it runs."""

import contextlib
import errno
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

from agent_backend.errors import AgentError

RUN_LOCK_FILE = "run.lock"
UNSUPPORTED_ERRNOS = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS})
"""Errors of folders on mounts without locks."""


class RunActive(AgentError):
    """Another command works in the folder of this run."""

    code = "run_active"


@contextlib.contextmanager
def run_lock(run: Path) -> Iterator[None]:
    """Hold the folder of a run while the block runs. On a mount without locks nothing is held. Raises RunActive."""
    lock = os.open(run / RUN_LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not _try_lock(lock):
            raise RunActive(f"another command works in {run}: wait until it ends")
        yield
    finally:
        os.close(lock)


def is_locked(run: Path) -> bool:
    """Whether a command holds the folder of a run."""
    try:
        lock = os.open(run / RUN_LOCK_FILE, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _try_lock(lock)
    finally:
        os.close(lock)


def _try_lock(lock: int) -> bool:
    """Take a lock if it is free, or if its mount has none."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in UNSUPPORTED_ERRNOS:
            raise
    return True
