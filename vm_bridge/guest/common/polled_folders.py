"""Watches folders by reading them repeatedly, on systems whose change notifications are not used."""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.files import UNFINISHED, resolve_path

MAX_FOLDERS = 32
"""Maximum watched folders."""
MAX_CHANGES = 512
"""Maximum changes in one reply. Beyond them, it only reports that there were more."""
IDLE_SECONDS = 60.0
"""How long an unused watch is kept (seconds)."""
POLL_SECONDS = 0.25
"""How often a folder is looked at while a call waits (seconds)."""

Change = dict[str, str]
"""`name` of the entry (empty for the folder itself) and `change`: created, changed, deleted, gone, more."""
FolderState = dict[str, tuple[int, int]]
"""The time of the last change (nanoseconds) and the size (bytes) of each entry, by its name."""


@dataclass
class _FolderWatch:
    path: str
    state: FolderState
    last_polled_at: float


class PolledFolderWatcher:
    """The watched folders, each under a name that the caller chooses. For any thread."""

    def __init__(self, pause: Callable[[float], None] = time.sleep) -> None:
        self._watches: dict[str, _FolderWatch] = {}
        self._lock = threading.Lock()
        self._pause = pause

    def changes(self, name: str, path: str, wait: float) -> list[Change]:
        """Changes since the last call with this name. Waits at most `wait` seconds for one. The first call only starts
        the watch. Raises ActionFailed."""
        ends = time.monotonic() + wait
        if self._begin(name, path, ends):
            return []
        while True:
            found = self._look(name)
            if found or time.monotonic() >= ends:
                return found if len(found) <= MAX_CHANGES else [{"name": "", "change": "more"}]
            self._pause(min(POLL_SECONDS, max(0.0, ends - time.monotonic())))

    def end(self, name: str) -> None:
        """End a watch. Pending calls find no more changes."""
        with self._lock:
            self._watches.pop(name, None)

    def _begin(self, name: str, path: str, until: float) -> bool:
        """Whether the watch is new. Raises ActionFailed."""
        with self._lock:
            old = time.monotonic() - IDLE_SECONDS
            self._watches = {each: watch for each, watch in self._watches.items() if watch.last_polled_at >= old}
            if name in self._watches:
                self._watches[name].last_polled_at = until
                return False
            if len(self._watches) >= MAX_FOLDERS:
                raise ActionFailed("too_many", f"{MAX_FOLDERS} folders are watched already")
            try:
                state = _folder_state(path)
            except OSError as error:
                raise ActionFailed("cannot_watch", f"{path}: {error.strerror}") from error
            self._watches[name] = _FolderWatch(path, state, until)
            return True

    def _look(self, name: str) -> list[Change]:
        """What changed since the last look; the lock keeps two calls from finding the same."""
        with self._lock:
            watch = self._watches.get(name)
            if watch is None:
                return []
            before = watch.state
            try:
                watch.state = _folder_state(watch.path)
            except OSError:
                del self._watches[name]
                return [{"name": "", "change": "gone"}]
            return _differences(before, watch.state)


def _folder_state(path: str) -> FolderState:
    """Raises OSError."""
    state: FolderState = {}
    with os.scandir(resolve_path(path)) as entries:
        for entry in entries:
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # deleted meanwhile
            if not entry.name.endswith(UNFINISHED):
                state[entry.name] = status.st_mtime_ns, status.st_size
    return state


def _differences(before: FolderState, after: FolderState) -> list[Change]:
    changes = {name: "deleted" for name in before.keys() - after.keys()}
    changes |= {name: "created" for name in after.keys() - before.keys()}
    changes |= {name: "changed" for name in before.keys() & after.keys() if before[name] != after[name]}
    return [{"name": name, "change": change} for name, change in sorted(changes.items())]
