"""Only one run at a time."""

import contextlib
import io
import os
import threading
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.file_locks import data_lock, setup_lock

BOUND = 10.0


def test_a_data_folder_has_one_user_and_is_free_afterwards(tmp_path: Path) -> None:
    refused = pytest.raises(OperationsError, match=rf"already running on .*\(process {os.getpid()}\)")
    with data_lock(tmp_path), refused, data_lock(tmp_path):
        pytest.fail("two at once")
    with data_lock(tmp_path):
        pass


def test_a_set_up_waits_for_another_and_says_so(tmp_path: Path) -> None:
    said = io.StringIO()
    second = threading.Event()

    def wait_for_it() -> None:
        with setup_lock(tmp_path / "lock", Console(said)):
            second.set()

    with contextlib.ExitStack() as first:
        first.enter_context(setup_lock(tmp_path / "lock", Console(said)))
        waiting = threading.Thread(target=wait_for_it)
        waiting.start()
        assert not second.wait(0.3)
        first.close()
    assert second.wait(BOUND)
    waiting.join(BOUND)
    assert said.getvalue() == "▸ Another set-up is at work here; waiting for it …\n"
