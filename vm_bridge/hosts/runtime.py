"""A host's folder of short-lived files: sockets, and images where every user can read them."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "pilothouse-host-"
LOCK = "lock"


class RuntimeFolder:
    """Held by one process; folders that dead ones left behind are removed when the next is made.

    It lies in the system's temporary folder: socket paths must be short, and the data folder may be one that the
    users of sandboxes cannot enter.
    """

    def __init__(self) -> None:
        _sweep()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        self.path.chmod(0o711)
        self._lock = os.open(self.path / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def image(self, prepared: Path) -> Path:
        """The copy of a prepared image that sandboxes mount."""
        copy = self.path / "images" / prepared.name
        if not copy.is_dir():
            shutil.copytree(prepared, copy, symlinks=True)
            copy.parent.chmod(0o711)
        return copy

    def remove(self) -> None:
        """Remove everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _sweep() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        if not folder.is_symlink() and folder.stat().st_uid == os.geteuid() and _abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path) -> bool:
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False  # it is being made or removed right now
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(lock)
    return True
