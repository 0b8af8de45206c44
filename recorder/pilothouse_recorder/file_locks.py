"""Locks of files and writes that reach the disk, on every system."""

import os
import sys

OPEN_FLAGS: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Not inherited by other programs (POSIX), and without changes of line ends (Windows)."""

if sys.platform == "win32":
    import msvcrt

    def try_lock(descriptor: int) -> bool:
        """Take the lock of an open file, until it is closed. Returns whether no other program has it."""
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def try_lock(descriptor: int) -> bool:
        """Take the lock of an open file, until it is closed. Returns whether no other program has it."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def write_bytes(descriptor: int, content: bytes) -> None:
    """Write all of it: a disk that is nearly full takes a part. Raises OSError."""
    while content:
        content = content[os.write(descriptor, content) :]


def sync_data(descriptor: int) -> None:
    """Have what was written on the disk."""
    getattr(os, "fdatasync", os.fsync)(descriptor)
