"""The proxy itself: how it speaks HTTP, and its bounds."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.network.conftest import OUTSIDE, Internet, answering, port_of, public_here
from tests.waiting import eventually
from vm_bridge.network.egress_proxy import EgressLimits, EgressProxy

BOUNDS = EgressLimits(connections=3, max_bytes=200_000, head=0.2, connect=2, idle=0.2)


@pytest.fixture
async def egress(internet: Internet, tmp_path: Path) -> AsyncIterator[EgressProxy]:
    egress = EgressProxy(
        "machine-1", (f"allowed.example:{internet.port}",), bounds=BOUNDS, resolver=internet.resolve, public=public_here
    )
    yield await egress.open(tmp_path)
    await egress.close()


class Client:
    """A connection from a sandbox."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "proxy.sock"

    async def __aenter__(self) -> "Client":
        self.reader, self.writer = await asyncio.open_unix_connection(self._path)
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    async def ask(self, request: bytes) -> bytes:
        """All that is answered until the connection ends."""
        self.writer.write(request)
        async with asyncio.timeout(10):
            return await self.reader.read()


@pytest.fixture
async def client(egress: EgressProxy, tmp_path: Path) -> AsyncIterator[Client]:
    async with Client(tmp_path) as client:
        yield client


async def test_what_is_the_proxys_is_not_passed_on(internet: Internet, client: Client) -> None:
    head = (
        f"GET http://allowed.example:{internet.port}/x?y=%20z HTTP/1.1\r\nHost: wrong.example\r\nX-Kept: yes\r\n"
        "Proxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\n"
        "Connection: X-Named\r\nX-Named: no\r\n\r\n"
    )
    answer = await client.ask(head.encode())
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"hello from outside")
    (asked,) = internet.asked
    lines = asked.decode().lower().split("\r\n")
    assert lines[0] == "get /x?y=%20z http/1.1"
    assert f"host: allowed.example:{internet.port}" in lines
    assert "x-kept: yes" in lines
    assert "connection: close" in lines
    assert not any(name in asked.lower() for name in (b"proxy-", b"x-named", b"wrong.example"))


async def test_a_request_hidden_behind_another_is_not_made(internet: Internet, client: Client) -> None:
    first = f"GET http://allowed.example:{internet.port}/ HTTP/1.1\r\nHost: a\r\n\r\n"
    await client.ask((first + "GET http://allowed.example/second HTTP/1.1\r\nHost: a\r\n\r\n").encode())
    assert len(internet.asked) == 1


async def test_a_length_that_contradicts_chunks_does_not_go_on(internet: Internet, client: Client) -> None:
    await client.ask(
        f"POST http://allowed.example:{internet.port}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n".encode()
    )
    asked = b"".join(internet.asked).lower()
    assert b"content-length" not in asked


async def test_an_encoded_answer_comes_as_it_is(internet: Internet, tmp_path: Path) -> None:
    body = gzip.compress(b"x" * 5000)
    packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    server = await answering([], lambda _: packed, OUTSIDE)
    allowed = (f"allowed.example:{port_of(server)}",)
    egress = await EgressProxy("m", allowed, resolver=internet.resolve, public=public_here).open(tmp_path)
    async with Client(tmp_path) as client:
        answer = await client.ask(f"GET http://{allowed[0]}/ HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert answer.endswith(body)
    await egress.close()
    server.close()


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: allowed.example\r\n\r\n",
        b"CONNECT allowed.example HTTP/1.1\r\nHost: a\r\n\r\n",
        b"CONNECT allowed.example:http HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET gopher://allowed.example/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://allowed.example:99999/ HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://[::1 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
        b"GET http://a/ HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
)
async def test_nonsense_is_a_bad_request(internet: Internet, client: Client, request_: bytes) -> None:
    assert b"bad_request" in await client.ask(request_)
    assert not internet.asked


async def test_who_says_nothing_is_let_go(client: Client) -> None:
    assert await client.ask(b"GET http://allowed") == b""


async def test_a_tunnel_on_which_nothing_moves_ends(internet: Internet, client: Client) -> None:
    answer = await client.ask(f"CONNECT allowed.example:{internet.port} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\n"


async def test_connections_are_counted(internet: Internet, egress: EgressProxy, tmp_path: Path) -> None:
    async with Client(tmp_path), Client(tmp_path), Client(tmp_path), Client(tmp_path) as fourth:
        answer = await fourth.ask(f"GET http://allowed.example:{internet.port}/ HTTP/1.1\r\nHost: a\r\n\r\n".encode())
    assert b"too_many_connections" in answer


async def test_bytes_are_counted_over_all_connections(internet: Internet, tmp_path: Path) -> None:
    server = await answering([], lambda _: b"x" * 150_000, OUTSIDE)
    allowed = (f"allowed.example:{port_of(server)}",)
    egress = await EgressProxy("m", allowed, bounds=BOUNDS, resolver=internet.resolve, public=public_here).open(
        tmp_path
    )
    got = []
    for _ in range(2):
        async with Client(tmp_path) as client:
            got.append(len(await client.ask(f"GET http://{allowed[0]}/ HTTP/1.1\r\nHost: a\r\n\r\n".encode())))
    assert got[0] > 150_000 > got[1]
    await egress.close()
    server.close()


async def test_closing_ends_every_connection_and_the_socket(internet: Internet, tmp_path: Path) -> None:
    egress = EgressProxy("m", (f"allowed.example:{internet.port}",), resolver=internet.resolve, public=public_here)
    await egress.open(tmp_path)
    async with Client(tmp_path) as client:
        client.writer.write(f"CONNECT allowed.example:{internet.port} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        assert await client.reader.readline() == b"HTTP/1.1 200 Connection established\r\n"
        await egress.close()
        assert await client.reader.read() in (b"\r\n", b"")
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_unix_connection(tmp_path / "proxy.sock")


async def test_a_refusal_is_logged_once_without_what_was_sent(
    egress: EgressProxy, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    for _ in range(3):
        async with Client(tmp_path) as client:
            await client.ask(b"GET http://user:hunter2@other.example/secret?token=hunter2 HTTP/1.1\r\nHost: a\r\n\r\n")
    await eventually(lambda: caplog.records)
    (record,) = caplog.records
    assert record.getMessage() == "machine-1 was refused 'other.example' port 80: host_not_allowed"
