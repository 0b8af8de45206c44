"""Watches folders by inotify. Unused watches are dropped."""

import ctypes
import os
import select
import struct
import threading
import time
from dataclasses import dataclass

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.files import UNFINISHED, resolve_path

MAX_FOLDERS = 32
"""Maximum watched folders."""
MAX_CHANGES = 512
"""Maximum changes in one reply. Beyond them, it only reports that there were more."""
IDLE_SECONDS = 60.0
"""How long an unused watch is kept (seconds)."""
BUFFER = 64 * 1024
IN_CLOSE_WRITE, IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE = 0x8, 0x40, 0x80, 0x100, 0x200
IN_DELETE_SELF, IN_MOVE_SELF, IN_Q_OVERFLOW, IN_ONLYDIR = 0x400, 0x800, 0x4000, 0x1000000
CHANGE_KINDS = {
    IN_CREATE: "created",
    IN_MOVED_TO: "created",
    IN_CLOSE_WRITE: "changed",
    IN_DELETE: "deleted",
    IN_MOVED_FROM: "deleted",
    IN_DELETE_SELF: "gone",
    IN_MOVE_SELF: "gone",
    IN_Q_OVERFLOW: "more",
}
EVENT = struct.Struct("iIII")

Change = dict[str, str]
"""`name` of the entry (empty for the folder itself) and `change`: one of the values of `CHANGE_KINDS`."""


@dataclass
class _FolderWatch:
    """One folder's inotify descriptor, closed once the watch has ended and is unused."""

    descriptor: int
    last_polled_at: float
    pollers: int = 0
    ended: bool = False

    def close_if_unused(self) -> None:
        if self.ended and not self.pollers:
            os.close(self.descriptor)


class FolderWatcher:
    """The watched folders, each under a name that the caller chooses."""

    def __init__(self) -> None:
        self._watches: dict[str, _FolderWatch] = {}
        self._lock = threading.Lock()
        self._libc = ctypes.CDLL("libc.so.6", use_errno=True)

    def changes(self, name: str, path: str, wait: float) -> list[Change]:
        """Changes since the last call with this name. Waits at most `wait` seconds for one. The first call only starts
        the watch. Raises ActionFailed."""
        with self._lock:
            self._drop_idle()
            watch = self._watches.get(name)
            if watch is None:
                self._watches[name] = self._begin(path)
                return []
            watch.last_polled_at = time.monotonic() + wait
            watch.pollers += 1
        try:
            select.select([watch.descriptor], [], [], wait)
            return _parse_events(os.read(watch.descriptor, BUFFER))
        except BlockingIOError:
            return []  # nothing happened, or another call got the changes
        finally:
            with self._lock:
                watch.pollers -= 1
                watch.close_if_unused()

    def end(self, name: str) -> None:
        """End a watch. Pending calls still return in their time."""
        with self._lock:
            watch = self._watches.pop(name, None)
            if watch is not None:
                watch.ended = True
                watch.close_if_unused()

    def _begin(self, path: str) -> _FolderWatch:
        if len(self._watches) >= MAX_FOLDERS:
            raise ActionFailed("too_many", f"{MAX_FOLDERS} folders are watched already")
        descriptor = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        wanted = IN_ONLYDIR | sum(CHANGE_KINDS) - IN_Q_OVERFLOW
        if self._libc.inotify_add_watch(descriptor, os.fsencode(resolve_path(path)), wanted) < 0:
            reason = os.strerror(ctypes.get_errno())
            os.close(descriptor)
            raise ActionFailed("cannot_watch", f"{path}: {reason}")
        return _FolderWatch(descriptor, time.monotonic())

    def _drop_idle(self) -> None:
        old = time.monotonic() - IDLE_SECONDS
        for name in [name for name, watch in self._watches.items() if watch.last_polled_at < old and not watch.pollers]:
            os.close(self._watches.pop(name).descriptor)


def _parse_events(data: bytes) -> list[Change]:
    changes: list[Change] = []
    while data:
        _, mask, _, length = EVENT.unpack_from(data)
        name = data[EVENT.size : EVENT.size + length].rstrip(b"\0").decode("utf-8", "replace")
        data = data[EVENT.size + length :]
        change = next((word for bit, word in CHANGE_KINDS.items() if mask & bit), None)
        if change is not None and not name.endswith(UNFINISHED):
            changes.append({"name": name, "change": change})
    return changes if len(changes) <= MAX_CHANGES else [*changes[:MAX_CHANGES], {"name": "", "change": "more"}]
