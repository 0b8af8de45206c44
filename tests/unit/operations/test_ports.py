"""Which port is taken, and what is done about it."""

import io
import os
import socket
from collections.abc import Iterator

import pytest

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.ports import exact_port, first_free_port, free_port, holder

HERE = "127.0.0.1"


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as server:
        server.bind((HERE, 0))
        server.listen()
        yield server.getsockname()[1]


def test_a_free_port_can_be_bound() -> None:
    with socket.socket() as server:
        server.bind((HERE, free_port()))


def test_the_holder_of_a_port_is_named(taken: int) -> None:
    assert holder(taken).endswith(f"(process {os.getpid()})")


def test_a_taken_first_choice_gives_the_next_and_says_who_holds_it(taken: int) -> None:
    said = io.StringIO()
    port = first_free_port("web", taken, Console(said))
    assert taken < port < taken + 50
    assert f"Port {taken} is taken by" in said.getvalue()
    assert f"(process {os.getpid()})" in said.getvalue()


def test_a_free_first_choice_is_taken_without_a_word() -> None:
    said = io.StringIO()
    port = free_port()
    assert first_free_port("web", port, Console(said)) == port
    assert said.getvalue() == ""


def test_a_port_that_was_asked_for_is_that_one_or_an_error(taken: int) -> None:
    with pytest.raises(OperationsError, match=f"Port {taken}, asked for web, is taken by .*{os.getpid()}"):
        exact_port("web", taken)
    other = free_port()
    assert exact_port("web", other) == other
