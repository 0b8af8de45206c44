"""Commands to a running recorder, over a socket of the file system and, as on Windows, of the network."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recorder.pilothouse_recorder import control
from recorder.pilothouse_recorder.control import ADDRESS, ControlServer, send_command
from recorder.pilothouse_recorder.errors import RecorderError
from recorder.pilothouse_recorder.settings import data_folder

Handle = Callable[[dict[str, Any]], dict[str, Any]]


@pytest.fixture(params=[True, False], ids=["unix", "tcp"])
def home(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(control, "HAS_UNIX_SOCKETS", request.param)
    return tmp_path


@contextmanager
def serving(home: Path, handle: Handle) -> Iterator[None]:
    """A recorder that answers commands until the end."""
    ended = threading.Event()
    with ControlServer(home) as server:

        def work() -> None:
            while not ended.is_set():
                server.serve(handle)
                ended.wait(0.005)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def test_a_command_is_answered_and_its_error_is_raised(home: Path) -> None:
    def handle(words: dict[str, Any]) -> dict[str, Any]:
        if words["command"] != "mark":
            raise RecorderError("unknown_command", "no")
        return {"seen": words}

    with serving(home, handle):
        assert send_command(home, {"command": "mark", "note": "日"}) == {"seen": {"command": "mark", "note": "日"}}
        with pytest.raises(RecorderError) as caught:
            send_command(home, {"command": "dance"})
        assert caught.value.code == "unknown_command"
        with pytest.raises(RecorderError) as caught, ControlServer(home):
            pass
        assert caught.value.code == "already_recording"
    with pytest.raises(RecorderError) as caught:
        send_command(home, {"command": "mark"})
    assert caught.value.code == "not_recording"


def test_a_command_without_the_key_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "HAS_UNIX_SOCKETS", False)
    with serving(tmp_path, lambda words: words):
        path = tmp_path / ADDRESS
        assert path.stat().st_mode & 0o077 == 0
        path.write_text(json.dumps({**json.loads(path.read_bytes()), "key": "guessed"}))
        with pytest.raises(RecorderError) as caught:
            send_command(tmp_path, {"command": "status"})
    assert caught.value.code == "wrong_key"


def test_every_system_has_a_folder_of_the_persons_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    monkeypatch.setenv("HOME", "/home/a")
    found = [data_folder(system) for system in ("win32", "darwin", "linux")]
    assert found == [Path("/local"), Path("/home/a/Library/Application Support"), Path("/data")]
