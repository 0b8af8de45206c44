"""Which port is taken, and what is done about it."""

import contextlib
import io
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.runtime.ports import PortAllocator, free_port, port_holder
from annotation_app.operations.runtime.stack import ROOT

HERE = "127.0.0.1"


@pytest.fixture
def allocator() -> Iterator[PortAllocator]:
    with PortAllocator() as allocator:
        yield allocator


@pytest.fixture
def occupied_port() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((HERE, 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_free_port_can_be_bound() -> None:
    with socket.socket() as server:
        server.bind((HERE, free_port()))


def test_the_holder_of_a_port_is_named(occupied_port: int) -> None:
    assert port_holder(occupied_port).endswith(f"(process {os.getpid()})")


def test_a_taken_first_choice_gives_the_next_and_says_who_holds_it(
    occupied_port: int, allocator: PortAllocator
) -> None:
    said = io.StringIO()
    port = allocator.first_free("web", occupied_port, Console(said))
    assert occupied_port < port < occupied_port + 50
    assert f"Port {occupied_port} is taken by" in said.getvalue()
    assert f"(process {os.getpid()})" in said.getvalue()


def test_a_free_first_choice_is_taken_without_a_word(allocator: PortAllocator) -> None:
    said = io.StringIO()
    port = free_port()
    assert allocator.first_free("web", port, Console(said)) == port
    assert said.getvalue() == ""


def test_a_port_that_was_asked_for_is_that_one_or_an_error(occupied_port: int, allocator: PortAllocator) -> None:
    with pytest.raises(OperationsError, match=f"Port {occupied_port}, wanted for web, is taken by .*{os.getpid()}"):
        allocator.exact("web", occupied_port)
    other = free_port()
    assert allocator.exact("web", other) == other


def test_one_allocator_gives_each_port_once(occupied_port: int, allocator: PortAllocator) -> None:
    console = Console(io.StringIO())
    given = [allocator.first_free(name, occupied_port, console) for name in ("bridge", "vnc", "redis")]
    given += [allocator.any_free() for _ in range(3)]
    assert len(set(given)) == len(given)


def test_a_reserved_port_is_taken_for_everybody_else(allocator: PortAllocator) -> None:
    port = allocator.any_free()
    with PortAllocator() as other, pytest.raises(OperationsError, match=rf"taken by .*\(process {os.getpid()}\)"):
        other.exact("web", port)
    with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
        stranger.bind((HERE, port))


def test_a_program_can_listen_on_its_reserved_port_again_and_again(allocator: PortAllocator) -> None:
    port = allocator.any_free()
    for _ in range(2):
        with socket.create_server((HERE, port)), socket.create_connection((HERE, port)):
            pass
        with PortAllocator() as other, pytest.raises(OperationsError, match="is taken"):
            other.exact("web", port)


def test_a_port_is_free_again_after_its_allocator() -> None:
    with PortAllocator() as one:
        port = one.any_free()
    with PortAllocator() as two:
        assert two.exact("web", port) == port


def test_connections_that_were_closed_do_not_hold_a_port(allocator: PortAllocator) -> None:
    with socket.create_server((HERE, 0)) as server:
        port: int = server.getsockname()[1]
        with socket.create_connection((HERE, port)), server.accept()[0] as accepted:
            accepted.shutdown(socket.SHUT_WR)  # so that this end, which has the port, keeps it for a minute
    assert allocator.exact("web", port) == port


RESERVE = """
import sys
from annotation_app.operations.console import Console
from annotation_app.operations.runtime.ports import PortAllocator
allocator = PortAllocator()
print(allocator.first_free("web", int(sys.argv[1]), Console(sys.stderr)), flush=True)
sys.stdin.read()
"""


def test_installations_that_choose_at_once_get_different_ports(occupied_port: int) -> None:
    command = [sys.executable, "-c", RESERVE, str(occupied_port)]
    with contextlib.ExitStack() as started:
        choosing = [
            started.enter_context(
                subprocess.Popen(
                    command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    text=True,
                )
            )
            for _ in range(4)
        ]  # fmt: skip
        given = [process.stdout.readline() for process in choosing if process.stdout]
        for process in choosing:
            assert process.stdin
            process.stdin.close()
    assert all(map(str.strip, given))
    assert len(set(given)) == len(choosing)
