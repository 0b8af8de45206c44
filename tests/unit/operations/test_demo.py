"""Choosing ports, and wiping the data only when that is what is wanted."""

import io
import socket
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.demo import reset, stack_of
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.locks import data_lock

HERE = "127.0.0.1"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "kept").touch()
    (tmp_path / "secrets.json").touch()
    return tmp_path


@pytest.mark.parametrize("answer", ["", "n\n", "yes please\n"])
def test_nothing_is_deleted_without_a_yes(data: Path, answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answer))
    with pytest.raises(OperationsError, match="Nothing was deleted"):
        reset(data, Console(io.StringIO()), sure=False)
    assert (data / "postgres" / "kept").exists()


def test_everything_goes_but_the_lock(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with data_lock(data):
        reset(data, Console(io.StringIO()), sure=False)
        assert [path.name for path in data.iterdir()] == ["lock"]
        with pytest.raises(OperationsError, match="already running"), data_lock(data):
            pytest.fail("the lock was lost")


def test_a_stack_on_any_ports_has_five_different_ones(tmp_path: Path) -> None:
    ports = stack_of(tmp_path, host=HERE, port=0, console=Console(io.StringIO())).ports
    assert len({ports.web, ports.bridge, ports.vnc, ports.model, ports.redis}) == 5


def test_a_port_that_was_asked_for_and_is_taken_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind((HERE, 0))
        taken.listen()
        with pytest.raises(OperationsError, match="asked for web, is taken"):
            stack_of(tmp_path, host=HERE, port=taken.getsockname()[1], console=Console(io.StringIO()))


def test_an_address_no_browser_can_open_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OperationsError, match=r"0\.0\.0\.0 is no address"):
        stack_of(tmp_path, host="0.0.0.0", port=0, console=Console(io.StringIO()))


def test_the_programs_get_secrets_and_addresses_that_match(tmp_path: Path) -> None:
    stack = stack_of(tmp_path, host=HERE, port=0, console=Console(io.StringIO()))
    environment = stack.environment()
    assert environment["PILOTHOUSE_SECRET"] == stack.secrets.bridge
    assert environment["PILOTHOUSE_BRIDGE_URL"].endswith(f":{stack.ports.bridge}")
    assert environment["PILOTHOUSE_BRIDGE_BIND"] == f"{HERE}:{stack.ports.bridge}"
    assert f"http://localhost:{stack.ports.web}" in environment["PILOTHOUSE_WEB_ORIGINS"].split(",")
