"""What the folder of a run says of it."""

import errno
import fcntl
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotation_app.benchmark_runs import run_folder


def test_a_run_with_the_harness_is_not_the_same_as_one_without_it() -> None:
    request = run_folder.RunRequest(benchmark="lmgame", policy="m", revision="r", words=(), at=datetime.now(UTC))
    harnessed = request.model_copy(update={"harness": True})
    assert run_folder.request_scope(request) == run_folder.request_scope(request.model_copy())
    assert run_folder.request_scope(harnessed) != run_folder.request_scope(request)


def test_on_a_mount_without_locks_a_run_is_free_and_its_lock_tells_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", unsupported)
    with run_folder.held(tmp_path) as free:
        assert free
    assert not run_folder.is_running(tmp_path)
