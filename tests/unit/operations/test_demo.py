"""Choosing ports, and wiping the data only when that is what is wanted."""

import asyncio
import io
import os
import signal
import socket
from collections.abc import Callable, Iterator
from dataclasses import astuple, fields
from pathlib import Path

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.file_locks import data_lock
from annotation_app.operations.runtime import demo
from annotation_app.operations.runtime.demo import create_stack, wipe_data
from annotation_app.operations.runtime.ports import PortAllocator, free_port
from annotation_app.operations.runtime.stack import PlatformStack, Ports
from vm_bridge.config import read_config
from vm_bridge.host_keys import derive_key

HERE = "127.0.0.1"


@pytest.fixture
def allocator() -> Iterator[PortAllocator]:
    with PortAllocator() as allocator:
        yield allocator


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
        wipe_data(data, Console(io.StringIO()), confirmed=False)
    assert (data / "postgres" / "kept").exists()


def test_everything_goes_but_the_lock(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    with data_lock(data):
        wipe_data(data, Console(io.StringIO()), confirmed=False)
        assert [path.name for path in data.iterdir()] == ["lock"]
        with pytest.raises(OperationsError, match="already running"), data_lock(data):
            pytest.fail("the lock was lost")


def stack(
    data: Path, allocator: PortAllocator, *, port: int | None = 0, host: str = HERE, preferred: Ports | None = None
) -> PlatformStack:
    return create_stack(
        data, host=host, port=port, allocator=allocator, console=Console(io.StringIO()), preferred=preferred or Ports()
    )


def test_a_stack_on_any_ports_has_different_ones(tmp_path: Path, allocator: PortAllocator) -> None:
    ports = astuple(stack(tmp_path, allocator).ports)
    assert len(set(ports)) == len(ports)


def test_a_taken_first_choice_does_not_give_two_programs_one_port(tmp_path: Path, allocator: PortAllocator) -> None:
    count = len(fields(Ports))
    first = free_block(count + 1)
    preferred = Ports(*range(first, first + count))
    with socket.socket() as taken:
        taken.bind((HERE, preferred.bridge))
        taken.listen()
        ports = astuple(stack(tmp_path, allocator, port=None, preferred=preferred).ports)
    assert len(set(ports)) == len(ports)
    assert preferred.bridge not in ports


def test_a_web_port_that_is_anothers_first_choice_is_the_webs(tmp_path: Path, allocator: PortAllocator) -> None:
    asked = free_port()
    ports = stack(tmp_path, allocator, port=asked).ports
    assert ports.web == asked
    assert len(set(astuple(ports))) == len(fields(Ports))


def test_two_installations_that_start_at_once_share_no_port(tmp_path: Path, allocator: PortAllocator) -> None:
    with PortAllocator() as other:
        one = stack(tmp_path / "one", allocator, port=None).ports
        two = stack(tmp_path / "two", other, port=None).ports
    assert not set(astuple(one)) & set(astuple(two))


def free_block(length: int) -> int:
    """The first of so many successive ports that are free now, below those that the kernel chooses from."""
    for first in range(20_000, 30_000, length):
        with PortAllocator() as probe:
            try:
                for port in range(first, first + length):
                    probe.exact("probe", port)
            except OperationsError:
                continue
            return first
    raise AssertionError("no successive ports are free")


def test_a_port_that_was_asked_for_and_is_taken_is_refused(tmp_path: Path, allocator: PortAllocator) -> None:
    with socket.socket() as taken:
        taken.bind((HERE, 0))
        taken.listen()
        with pytest.raises(OperationsError, match="wanted for web, is taken"):
            stack(tmp_path, allocator, port=taken.getsockname()[1])


def test_an_address_no_browser_can_open_is_refused(tmp_path: Path, allocator: PortAllocator) -> None:
    with pytest.raises(OperationsError, match=r"0\.0\.0\.0 is no address"):
        stack(tmp_path, allocator, host="0.0.0.0")


def test_the_programs_get_secrets_and_addresses_that_match(tmp_path: Path, allocator: PortAllocator) -> None:
    made = stack(tmp_path, allocator)
    environment = made.environment()
    assert environment["PILOTHOUSE_BRIDGE_MASTER_KEY"] == made.secrets.bridge
    bridge = made.bridge_environment()
    assert made.secrets.bridge not in bridge.values()
    config = read_config(bridge)
    assert config.host_keys == (derive_key(made.secrets.bridge, config.host_id),)
    assert not config.secret
    assert environment["PILOTHOUSE_BRIDGE_URL"].endswith(f":{made.ports.bridge}")
    assert environment["PILOTHOUSE_BRIDGE_BIND"] == f"{HERE}:{made.ports.bridge}"
    assert f"http://localhost:{made.ports.web}" in environment["PILOTHOUSE_WEB_ORIGINS"].split(",")


@pytest.mark.parametrize(("ready", "status"), [(True, 0), (False, 128 + signal.SIGTERM)])
def test_a_start_that_is_stopped_before_all_is_ready_has_failed(
    tmp_path: Path, allocator: PortAllocator, monkeypatch: pytest.MonkeyPatch, ready: bool, status: int
) -> None:
    async def serve(made: PlatformStack, console: Console, *, storage_only: bool, started: Callable[[], None]) -> None:
        if ready:
            started()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.Event().wait()

    monkeypatch.setattr(demo, "run_stack", serve)
    said = Console(io.StringIO())
    assert demo.run_until_stopped(stack(tmp_path, allocator), said, storage_only=True) == status
