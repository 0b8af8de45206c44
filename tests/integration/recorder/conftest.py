"""A real X server for the tests of the recorder, and a scripted person at it."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from benchmarks.parts.recorder.desktop import Desktop, RecorderProcess, environment_of, recorder
from benchmarks.parts.recorder.x_server import x_server

Record = Callable[..., RecorderProcess]


@pytest.fixture(scope="package")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    if shutil.which("Xtigervnc") is None:
        pytest.skip("Xtigervnc is not installed")
    folder = tmp_path_factory.mktemp("x")
    with x_server(folder) as display:
        yield environment_of(display, folder)


@pytest.fixture
def desktop(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Desktop]:
    monkeypatch.setenv("XAUTHORITY", environment["XAUTHORITY"])
    desktop = Desktop(environment["DISPLAY"])
    yield desktop
    desktop.close()


@pytest.fixture
def record(environment: dict[str, str], tmp_path: Path) -> Iterator[Record]:
    """Starts a recorder, with more options of `record`."""
    with ExitStack() as stack:

        def start(*options: str) -> RecorderProcess:
            running: AbstractContextManager[RecorderProcess] = recorder(tmp_path / "home", environment, *options)
            return stack.enter_context(running)

        yield start
