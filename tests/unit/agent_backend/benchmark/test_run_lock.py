"""The lock of a run's folder: who may look at it, what a look costs a command, and mounts without locks."""

import errno
import fcntl
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from agent_backend.benchmark import run_lock as locks
from agent_backend.benchmark.run_lock import RUN_LOCK_FILE, RunActive, is_locked, run_lock


def test_who_may_only_read_it_sees_whether_it_is_locked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / RUN_LOCK_FILE
    assert is_locked(file) is None
    umask = os.umask(0o022)
    try:
        with run_lock(tmp_path):
            monkeypatch.setattr(os, "open", _read_only)
            assert is_locked(file) is True
    finally:
        os.umask(umask)
    assert is_locked(file) is False
    assert file.stat().st_mode & 0o777 == 0o644
    monkeypatch.setattr(os, "open", _forbidden)
    assert is_locked(file) is None, "made by an earlier version, for its user alone"


_open = os.open


def _read_only(path: Any, flags: int, *more: Any, **options: Any) -> int:
    if flags & os.O_ACCMODE != os.O_RDONLY:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))
    return _open(path, flags, *more, **options)


def _forbidden(*_: Any, **__: Any) -> int:
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def test_a_command_that_meets_a_look_waits_for_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "LOCK_WAIT_SECONDS", 60.0)
    tried = threading.Event()
    try_lock = locks.try_lock

    def try_and_tell(lock: int) -> bool:
        taken = try_lock(lock)
        tried.set()
        return taken

    monkeypatch.setattr(locks, "try_lock", try_and_tell)
    held = threading.Event()

    def command() -> None:
        with run_lock(tmp_path):
            held.set()

    with (tmp_path / RUN_LOCK_FILE).open("w") as look:
        fcntl.flock(look, fcntl.LOCK_SH)
        assert is_locked(tmp_path / RUN_LOCK_FILE) is False, "another look is no command"
        thread = threading.Thread(target=command)
        thread.start()
        assert tried.wait(30)
        assert not held.is_set()
    thread.join(30)
    assert held.is_set()


def test_a_mount_without_locks_holds_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsupported(*_: Any) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with run_lock(tmp_path), run_lock(tmp_path):
        assert is_locked(tmp_path / RUN_LOCK_FILE) is None


def test_two_commands_do_not_hold_one_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "LOCK_WAIT_SECONDS", 0.0)
    with run_lock(tmp_path), pytest.raises(RunActive), run_lock(tmp_path):
        pass
