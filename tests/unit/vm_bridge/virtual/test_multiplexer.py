"""Many connections over one line: bytes arrive whole, ends are told, and who is slow keeps nobody else waiting."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import pytest_asyncio

from vm_bridge.guest.common.relay import StreamPair
from vm_bridge.virtual.multiplexer import (
    DATA,
    HEADER,
    MAX_MESSAGE_BYTES,
    OPEN,
    WINDOW_BYTES,
    Multiplexer,
    ProtocolViolation,
)

BOUND = 20.0
LARGE = bytes(range(256)) * 8192


Pair = Callable[[], Awaitable[tuple[StreamPair, StreamPair]]]


@pytest_asyncio.fixture
async def pair() -> AsyncIterator[Pair]:
    """Makes connections, which end with the test."""
    made: list[StreamPair] = []

    async def pair() -> tuple[StreamPair, StreamPair]:
        one, other = [await asyncio.open_unix_connection(sock=end) for end in socket.socketpair()]
        made.extend((one, other))
        return one, other

    yield pair
    for _, writer in made:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for _, writer in made), return_exceptions=True)


class Line:
    """Two ends that know each other; what is led to `name` arrives in `came`."""

    def __init__(self, one: StreamPair, other: StreamPair, pair: Pair) -> None:
        self._pair = pair
        self.came: asyncio.Queue[StreamPair] = asyncio.Queue()
        self.here = Multiplexer(one, {}, first=0)
        self.there = Multiplexer(other, {"name": self._dial, "nowhere": self._refuse}, first=1)
        self.running = [asyncio.create_task(end.run()) for end in (self.here, self.there)]

    async def _dial(self) -> StreamPair:
        forwarded, seen = await self._pair()
        self.came.put_nowait(seen)
        return forwarded

    async def _refuse(self) -> StreamPair:
        raise ConnectionRefusedError

    async def connection(self, name: str = "name") -> StreamPair:
        ours, forwarded = await self._pair()
        self.here.forward(name, forwarded)
        return ours


@pytest_asyncio.fixture
async def line(pair: Pair) -> AsyncIterator[Line]:
    line = Line(*await pair(), pair)
    async with asyncio.timeout(BOUND):
        yield line
    for end in (line.here, line.there):
        end.close()
    await asyncio.gather(*line.running)


async def test_bytes_cross_both_ways_and_an_end_is_told_each_way(line: Line) -> None:
    reader, writer = await line.connection()
    there_reader, there_writer = await line.came.get()
    writer.write(LARGE)
    writer.write_eof()
    assert await there_reader.read() == LARGE
    there_writer.write(LARGE[::-1])
    there_writer.close()
    assert await reader.read() == LARGE[::-1]


async def test_who_does_not_read_keeps_nobody_else_waiting(line: Line) -> None:
    _, stuck = await line.connection()
    await line.came.get()
    stuck.write(LARGE)
    reader, writer = await line.connection()
    there_reader, there_writer = await line.came.get()
    writer.write(b"asked")
    assert await there_reader.readexactly(5) == b"asked"
    there_writer.write(b"answered")
    assert await reader.readexactly(8) == b"answered"


async def test_what_leads_nowhere_is_closed_and_the_line_stays(line: Line) -> None:
    reader, _ = await line.connection("nowhere")
    assert await reader.read() == b""
    _, writer = await line.connection()
    there_reader, _ = await line.came.get()
    writer.write(b"x")
    assert await there_reader.readexactly(1) == b"x"


async def test_a_line_that_ends_ends_everything_on_it(line: Line) -> None:
    reader, _ = await line.connection()
    there_reader, _ = await line.came.get()
    line.here.close()
    assert await reader.read() == await there_reader.read() == b""
    await asyncio.gather(*line.running)


async def test_more_connections_than_allowed_are_closed(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vm_bridge.virtual.multiplexer.MAX_CHANNELS", 2)
    for _ in range(2):
        await line.connection()
        await line.came.get()
    reader, _ = await line.connection()
    assert await reader.read() == b""


@pytest.mark.parametrize(
    "sent",
    [
        HEADER.pack(OPEN, 0, 7) + b"unknown",
        HEADER.pack(DATA, 0, MAX_MESSAGE_BYTES + 1),
        HEADER.pack(99, 0, 0),
        HEADER.pack(OPEN, 0, 4)
        + b"name"
        + (HEADER.pack(DATA, 0, MAX_MESSAGE_BYTES) + b"x" * MAX_MESSAGE_BYTES)
        * (WINDOW_BYTES // MAX_MESSAGE_BYTES * 8),
    ],
)
async def test_who_breaks_the_rules_ends_what_was_led_and_the_line_stays(sent: bytes, pair: Pair) -> None:
    one, other = await pair()
    forwarded, _ = await pair()

    async def dial() -> StreamPair:
        return forwarded

    running = asyncio.create_task(Multiplexer(one, {"name": dial}, first=1).run())
    other[1].write(sent)
    async with asyncio.timeout(BOUND):
        with pytest.raises(ProtocolViolation):
            await running
    assert forwarded[1].is_closing() == (b"name" in sent)
    assert not one[1].is_closing()
