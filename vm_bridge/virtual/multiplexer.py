"""Many connections over one line between a virtual machine and its host, each slowed down by itself."""

import asyncio
import struct
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from vm_bridge.guest.common.relay import StreamPair

OPEN, DATA, CREDIT, END, CLOSE = range(5)
"""A connection begins, and where it leads; bytes; how many more may come; no more come; it is over."""
HEADER = struct.Struct(">BII")
CREDIT_COUNT = struct.Struct(">I")
MAX_MESSAGE_BYTES = 16_384
"""Most bytes of one message, so that no connection keeps the others waiting for long."""
WINDOW_BYTES = 262_144
"""Most bytes of one connection that are on their way."""
MAX_CHANNELS = 256
"""Most connections at the same time; more are closed at once."""

Dial = Callable[[], Awaitable[StreamPair]]


class ProtocolViolation(Exception):
    """The other end does not keep to what was agreed: it is somebody else by now."""


class _Channel:
    """One connection: its end here, and what the other end still takes."""

    def __init__(self) -> None:
        self.arrived: asyncio.Queue[bytes] = asyncio.Queue()
        """What came, in order; empty bytes are its end."""
        self.credit = WINDOW_BYTES
        self.more = asyncio.Event()
        self.held = 0
        """Bytes that came and were not passed on yet."""
        self.task: asyncio.Task[None] | None = None


class Multiplexer:
    """One end of a line. `dials` say where the connections that the other end opens lead, by name; this end numbers its
    own from `first` on, in twos, and the other end from the other."""

    def __init__(self, line: StreamPair, dials: Mapping[str, Dial], *, first: int) -> None:
        self._reader, self._writer = line
        self._dials = dials
        self._next = first
        self._channels: dict[int, _Channel] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Return when the line and every connection have ended. Raises ProtocolViolation; then the line goes on."""
        with suppress(asyncio.IncompleteReadError, OSError):
            await self._read_messages()

    async def _read_messages(self) -> None:
        try:
            while True:
                kind, number, length = HEADER.unpack(await self._reader.readexactly(HEADER.size))
                if length > MAX_MESSAGE_BYTES:
                    raise ProtocolViolation(f"a message of {length} bytes")
                self._take(kind, number, await self._reader.readexactly(length))
        finally:
            self._end_all()
            if self._tasks:
                await asyncio.wait(self._tasks)

    def close(self) -> None:
        """End the line. Idempotent."""
        self._writer.close()
        self._end_all()

    def _end_all(self) -> None:
        for task in self._tasks:
            task.cancel()

    def forward(self, name: str, ends: StreamPair) -> None:
        """Lead a connection that came here to what the other end knows by this name."""
        number, self._next = self._next, self._next + 2
        self._send(OPEN, number, name.encode())

        async def here() -> StreamPair:
            return ends

        self._begin(number, here)

    def _take(self, kind: int, number: int, body: bytes) -> None:
        channel = self._channels.get(number)
        if kind == OPEN:
            self._opened(number, body.decode("utf-8", "replace"))
        elif kind > CLOSE:
            raise ProtocolViolation(f"a message of kind {kind}")
        elif channel is None:
            pass  # it was closed here meanwhile
        elif kind == DATA:
            channel.held += len(body)
            if channel.held > WINDOW_BYTES or not body:
                raise ProtocolViolation("more than was requested")
            channel.arrived.put_nowait(body)
        elif kind == CREDIT and len(body) == CREDIT_COUNT.size:
            channel.credit += CREDIT_COUNT.unpack(body)[0]
            channel.more.set()
        elif kind == END:
            channel.arrived.put_nowait(b"")
        elif kind == CLOSE:
            del self._channels[number]
            if channel.task is not None:
                channel.task.cancel()

    def _opened(self, number: int, name: str) -> None:
        dial = self._dials.get(name)
        if number in self._channels or dial is None:
            raise ProtocolViolation("a connection that cannot be")
        if len(self._channels) >= MAX_CHANNELS:
            self._send(CLOSE, number)
        else:
            self._begin(number, dial)

    def _begin(self, number: int, dial: Dial) -> None:
        channel = self._channels[number] = _Channel()
        channel.task = asyncio.create_task(self._relay(number, channel, dial))
        self._tasks.add(channel.task)
        channel.task.add_done_callback(self._tasks.discard)

    async def _relay(self, number: int, channel: _Channel, dial: Dial) -> None:
        """Both ways until both have ended or one breaks."""
        ends: StreamPair | None = None
        try:
            ends = await dial()
            async with asyncio.TaskGroup() as group:
                group.create_task(self._out(number, channel, ends[0]))
                group.create_task(self._in(number, channel, ends[1]))
        except* OSError:
            pass  # the other end is told below
        finally:
            if ends is not None:
                ends[1].close()
            if self._channels.get(number) is channel:
                del self._channels[number]
                self._send(CLOSE, number)

    async def _out(self, number: int, channel: _Channel, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(min(MAX_MESSAGE_BYTES, channel.credit)):
            channel.credit -= len(data)
            self._send(DATA, number, data)
            await self._writer.drain()
            while not channel.credit:
                channel.more.clear()
                await channel.more.wait()
        self._send(END, number)

    async def _in(self, number: int, channel: _Channel, writer: asyncio.StreamWriter) -> None:
        while data := await channel.arrived.get():
            writer.write(data)
            await writer.drain()
            channel.held -= len(data)
            self._send(CREDIT, number, CREDIT_COUNT.pack(len(data)))
        with suppress(NotImplementedError):
            writer.write_eof()

    def _send(self, kind: int, number: int, body: bytes = b"") -> None:
        if not self._writer.is_closing():
            self._writer.write(HEADER.pack(kind, number, len(body)) + body)
