"""File locks and durable writes for every system."""

import os
import sys

OPEN_FLAGS: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Not inherited by child processes (POSIX), and without newline translation (Windows)."""

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Lock an open file until it is closed. Returns whether the lock was free."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Lock an open file until it is closed. Returns whether the lock was free."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def write_bytes(descriptor: int, content: bytes) -> None:
    """Write all bytes: a nearly full disk may take only a part. Raises OSError."""
    while content:
        content = content[os.write(descriptor, content) :]


def sync_data(descriptor: int) -> None:
    """Flush written data to the disk."""
    getattr(os, "fdatasync", os.fsync)(descriptor)
