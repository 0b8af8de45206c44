"""Daphne reads large bodies from people who are signed in alone, and only so much of them at once."""

import socket
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

from annotation_app.operations.runtime.ports import free_port
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.web.body_admission import MAX_BODY_BYTES, SMALL_BODY_BYTES, SPOOL_BYTES
from tests.waiting import wait_until

APPLICATION = "tests.integration.web.server.body_application:application"
MIB = 1024**2


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    port = free_port()
    command = (sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "-v", "0", APPLICATION)
    # What a test runner catches goes into temporary files, which would be counted.
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: reachable(port), limit=40)
        yield port
    finally:
        process.kill()
        process.wait(10)


@pytest.fixture
def client(port: int) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False, timeout=30) as client:
        yield client


def reachable(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def spooled(client: httpx.Client) -> tuple[int, int]:
    """Bytes in temporary files, and bytes that are held."""
    on_disk, held = client.get("/spooled").text.split()
    return int(on_disk), int(held)


def begin(port: int, length: int, *headers: str) -> socket.socket:
    """A request whose body is `length` long, of which nothing has been sent."""
    link = socket.create_connection(("127.0.0.1", port), 10)
    lines = ("POST /file HTTP/1.1", "Host: localhost", f"Content-Length: {length}", *headers)
    link.sendall("\r\n".join((*lines, "", "")).encode())
    return link


def fill(link: socket.socket, most: int) -> int:
    """Send until the other side takes no more; how much was sent."""
    sent = 0
    link.settimeout(1)
    try:
        while sent < most:
            sent += link.send(b"x" * min(MIB, most - sent))
    except TimeoutError:
        pass
    link.settimeout(10)
    return sent


def chunks(size: int) -> Iterator[bytes]:
    for _ in range(size // 50_000):
        yield b"x" * 50_000


def test_small_bodies_need_no_sign_in(client: httpx.Client) -> None:
    assert client.post("/file", content=b"x" * SMALL_BODY_BYTES).text == str(SMALL_BODY_BYTES)
    assert client.post("/file", content=chunks(100_000)).text == "100000"


@pytest.mark.parametrize("authorization", ["", "bad"])
def test_a_large_body_of_a_stranger_is_refused_before_it_is_sent(port: int, authorization: str) -> None:
    with begin(port, 20 * MIB, f"Authorization: {authorization}") as link:
        answer = link.recv(65_536)
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b'"code": "not_signed_in"' in answer


def test_a_large_body_of_a_stranger_without_a_length_is_refused(client: httpx.Client) -> None:
    assert client.post("/file", content=chunks(5 * MIB)).status_code == 401
    wait_until(lambda: spooled(client) == (0, 0))


@pytest.mark.parametrize("content", [b"x" * 2_000_000, chunks(2_000_000)], ids=["length", "chunks"])
def test_people_who_are_signed_in_send_large_bodies(client: httpx.Client, content: bytes | Iterator[bytes]) -> None:
    answer = client.post("/file", content=content, headers={"Authorization": "good"})
    assert (answer.status_code, answer.text) == (200, "2000000")
    assert client.post("/file", content=b"again").text == "5", "the connection goes on"
    wait_until(lambda: spooled(client) == (0, 0))


def test_while_its_sender_is_asked_for_a_body_is_not_read(port: int, client: httpx.Client) -> None:
    with begin(port, 30 * MIB, "Authorization: slow") as link:
        sent = fill(link, 30 * MIB)
        assert sent < 30 * MIB, "the kernel's buffers are full"
        on_disk, held = spooled(client)
        assert on_disk < MIB
        assert held == 30 * MIB
        client.get("/open")
        link.sendall(b"x" * (30 * MIB - sent))
        assert link.recv(65_536).startswith(b"HTTP/1.1 200 ")
    wait_until(lambda: spooled(client) == (0, 0))


def test_no_body_is_larger_than_any_route_takes(port: int) -> None:
    with begin(port, MAX_BODY_BYTES + 1, "Authorization: good") as link:
        assert link.recv(65_536).startswith(b"HTTP/1.1 413 ")


def test_all_bodies_together_are_bounded(port: int, client: httpx.Client) -> None:
    links = [begin(port, 32 * MIB, "Authorization: good") for _ in range(SPOOL_BYTES // (32 * MIB))]
    wait_until(lambda: spooled(client)[1] == SPOOL_BYTES)
    with begin(port, MIB, "Authorization: good") as link:
        assert link.recv(65_536).startswith(b"HTTP/1.1 503 ")
    assert client.post("/file", content=b"x" * 10).text == "10", "small ones go on"
    for link in links:
        link.close()
    wait_until(lambda: spooled(client)[1] == 0)


def test_where_nobody_can_be_asked_the_client_is_told(port: int) -> None:
    with begin(port, MIB, "Authorization: broken") as link:
        assert link.recv(65_536).startswith(b"HTTP/1.1 503 ")
