"""A host's folder of short-lived files: sockets, and images where every user can read them."""

import fcntl
import hashlib
import itertools
import os
import shutil
import stat
import tempfile
import threading
from pathlib import Path

from vm_bridge.hosts.process_sandbox import is_alive

PREFIX = "pilothouse-host-"
LOCK = "lock"
_lock_guard = threading.Lock()
"""Hosts of one process that begin together: none may sweep away the folder that another is about to take."""


class RuntimeFolder:
    """Held by one process at a time; the next host over the same data finds what a dead one left in it.

    It lies in the system's temporary folder: socket paths must be short, and the data folder may be one that the
    users of sandboxes cannot enter.
    """

    def __init__(self, data: Path) -> None:
        owner = hashlib.sha256(os.fsencode(data.resolve())).hexdigest()[:12]
        with _lock_guard:
            self.path, self._lock = _acquire_folder(f"{PREFIX}{os.geteuid()}-{owner}")
            _remove_stale()
        self.machines, self.sandboxes = self.path / "machines", self.path / "trees"
        for folder in (self.machines, self.sandboxes):
            folder.mkdir(mode=0o711, exist_ok=True)

    def image(self, prepared: Path) -> Path:
        """A prepared image where sandboxes can mount it, who only read it."""
        return self._copy(prepared)

    def _copy(self, prepared: Path) -> Path:
        copy = self.path / "images" / prepared.name
        if not copy.is_dir():
            fresh = copy.with_suffix(".writing")
            shutil.rmtree(fresh, ignore_errors=True)
            shutil.copytree(prepared, fresh, symlinks=True, copy_function=_link_or_copy)
            copy.parent.chmod(0o711)
            fresh.rename(copy)
        return copy

    def tools(self, prepared: Path) -> Path:
        """Prepared tools where sandboxes can mount them: as they are, unless other users cannot come there."""
        if os.geteuid() != 0 or all(parent.stat().st_mode & 0o001 for parent in prepared.resolve().parents):
            return prepared
        return self._copy(prepared)

    def remove(self) -> None:
        """Remove everything in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _link_or_copy(source: str, target: str) -> None:
    """Files are not copied where the other folder is on the same file system."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _acquire_folder(name: str) -> tuple[Path, int]:
    """The first folder of this name, or with a number after it, that no living process holds, and its lock."""
    for number in itertools.count():
        path = Path(tempfile.gettempdir(), f"{name}-{number}")
        path.mkdir(mode=0o711, exist_ok=True)
        if not _is_own_folder(path):
            continue  # somebody else's doing
        lock = _try_lock(path)
        if lock is not None and (path / LOCK).exists():
            return path, lock
    raise AssertionError("numbers do not end")


def _is_own_folder(path: Path) -> bool:
    """Whether it is a folder of this user, and still there: another process may sweep too."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()


def _try_lock(folder: Path) -> int | None:
    """The lock of a folder, if nobody else holds it."""
    try:
        lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except OSError:
        return None  # it is being removed right now
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return None
    return lock


def _remove_stale() -> None:
    """Remove what dead hosts left, once nothing lives in it: until then the host it belongs to may come back."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}{os.geteuid()}-*"):
        if not _is_own_folder(folder):
            continue
        if any(is_alive(tree) for tree in (folder / "trees").glob("*")):
            continue
        lock = _try_lock(folder)
        if lock is not None:
            shutil.rmtree(folder, ignore_errors=True)
            os.close(lock)
