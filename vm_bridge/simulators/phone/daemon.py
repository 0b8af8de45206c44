"""The adb daemon: signs a computer in, then carries any number of streams over its one connection."""

import asyncio
import itertools
import secrets
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from vm_bridge.simulators.phone import packets
from vm_bridge.simulators.phone.keys import TOKEN_SIZE, PublicKey
from vm_bridge.simulators.phone.packets import AdbError, Packet

MAX_STREAMS = 64
MAX_CONNECTIONS = 8
SIGN_IN_SECONDS = 30.0
"""How long a computer may take to sign in; one whose key is unknown is shown as unauthorised so long."""
END_SECONDS = 5.0
AUTH_TOKEN, AUTH_SIGNATURE = 1, 2


class StreamClosed(Exception):
    """The computer closed the stream, or has gone."""


class Stream:
    """One stream of bytes in both directions. Each side sends one packet and waits until the other has taken it."""

    def __init__(self, local: int, remote: int, send: Callable[[Packet], Awaitable[None]]) -> None:
        self.local, self.remote = local, remote
        self._send = send
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue(2)
        self._taken = asyncio.Event()
        self._taken.set()
        self.closed = False

    async def read(self) -> bytes:
        """Some bytes; none at the end."""
        if self.closed and self._arrived.empty():
            return b""
        data = await self._arrived.get()
        if data:
            await self._send(Packet(b"OKAY", self.local, self.remote))
        return data

    async def write(self, data: bytes) -> None:
        """Returns when the other side takes it. Raises StreamClosed."""
        for start in range(0, len(data), packets.MAX_BODY):
            await self._taken.wait()
            if self.closed:
                raise StreamClosed
            self._taken.clear()
            part = data[start : start + packets.MAX_BODY]
            await self._send(Packet(b"WRTE", self.local, self.remote, part))

    def on_data(self, data: bytes) -> None:
        """The other side sent this. Raises AdbError when it did not wait for its turn."""
        if self._arrived.qsize() > 0:
            raise AdbError("a second packet came before the first was taken")
        if not self.closed:
            self._arrived.put_nowait(data)

    def on_acknowledged(self) -> None:
        """The other side took what was sent."""
        self._taken.set()

    def end(self) -> None:
        """Nothing more comes or goes."""
        if not self.closed:
            self.closed = True
            self._arrived.put_nowait(b"")
            self._taken.set()


Service = Callable[[Stream], Awaitable[None]]
"""Serves one stream to its end."""


class Daemon:
    """Serves computers. `trusted` gives the keys that may sign in, `opened` the service of a name, None for no such."""

    def __init__(
        self, banner: bytes, trusted: Callable[[], Sequence[PublicKey]], opened: Callable[[str], Service | None]
    ) -> None:
        self._banner, self._trusted, self._opened = banner, trusted, opened
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def serve(self, listening: socket.socket) -> None:
        """Until it is cancelled."""
        server = await asyncio.start_server(self._connected, sock=listening, limit=packets.MAX_BODY)
        async with server:
            try:
                await server.serve_forever()
            finally:
                for writer in self._connections.values():
                    writer.close()
                await _wait_all(tuple(self._connections))

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        here = asyncio.current_task()
        if here is None or len(self._connections) >= MAX_CONNECTIONS:
            writer.close()
            return
        self._connections[here] = writer
        connection = _Connection(reader, writer, self._opened)
        try:
            async with asyncio.timeout(SIGN_IN_SECONDS):
                signed_in = await connection.sign_in(self._banner, self._trusted)
            if signed_in:
                await connection.carry()
        except (AdbError, StreamClosed, TimeoutError):
            pass  # whoever has gone, or does not keep to the protocol, is hung up on
        finally:
            del self._connections[here]
            writer.close()


class _Connection:
    """One computer."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        opened: Callable[[str], Service | None],
    ) -> None:
        self._reader, self._writer, self._opened = reader, writer, opened
        self._numbers = itertools.count(1)
        self._streams: dict[int, Stream] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    async def sign_in(self, banner: bytes, trusted: Callable[[], Sequence[PublicKey]]) -> bool:
        """Whether the computer proved to hold a trusted key; False when it went away instead."""
        hello = await packets.read(self._reader)
        if hello is None or hello.command != b"CNXN":
            return False
        token = await self._ask_signature()
        while (answer := await packets.read(self._reader)) is not None:
            if answer.command != b"AUTH":
                raise AdbError("not signed in")
            if answer.first != AUTH_SIGNATURE:
                continue  # it offers a new key; nobody stands before this phone who could allow it
            if any(key.signed(token, answer.body) for key in trusted()):
                await self._send(Packet(b"CNXN", packets.VERSION, packets.MAX_BODY, banner))
                return True
            token = await self._ask_signature()
        return False

    async def carry(self) -> None:
        """Streams, until the computer goes away. Raises AdbError."""
        try:
            while (packet := await packets.read(self._reader)) is not None:
                await self._take(packet)
        finally:
            for stream in tuple(self._streams.values()):
                stream.end()
            await _wait_all(tuple(self._tasks.values()))

    async def _ask_signature(self) -> bytes:
        token = secrets.token_bytes(TOKEN_SIZE)
        await self._send(Packet(b"AUTH", AUTH_TOKEN, 0, token))
        return token

    async def _take(self, packet: Packet) -> None:
        stream = self._streams.get(packet.second)
        if packet.command == b"OPEN":
            await self._open(packet.first, packet.body.rstrip(b"\0").decode("utf-8", "replace"))
        elif stream is None or stream.remote != packet.first:
            if packet.command == b"WRTE":
                await self._send(Packet(b"CLSE", 0, packet.first))
        elif packet.command == b"WRTE":
            stream.on_data(packet.body)
        elif packet.command == b"OKAY":
            stream.on_acknowledged()
        elif packet.command == b"CLSE":
            del self._streams[stream.local]
            stream.end()

    async def _open(self, remote: int, name: str) -> None:
        service = self._opened(name)
        if service is None or len(self._streams) >= MAX_STREAMS:
            await self._send(Packet(b"CLSE", 0, remote))
            return
        stream = Stream(next(self._numbers), remote, self._send)
        self._streams[stream.local] = stream
        await self._send(Packet(b"OKAY", stream.local, remote))
        self._tasks[stream.local] = asyncio.create_task(self._serve(stream, service))

    async def _serve(self, stream: Stream, service: Service) -> None:
        try:
            await service(stream)
        except StreamClosed:
            return
        finally:
            del self._tasks[stream.local]
            if self._streams.pop(stream.local, None) is not None:
                stream.end()
                with suppress(StreamClosed):
                    await self._send(Packet(b"CLSE", stream.local, stream.remote))

    async def _send(self, packet: Packet) -> None:
        try:
            self._writer.write(packets.encode(packet))
            await self._writer.drain()
        except ConnectionError:
            raise StreamClosed from None


async def _wait_all(tasks: Sequence["asyncio.Task[None]"]) -> None:
    """Wait until tasks that know of their end have cleaned up."""
    if tasks:
        await asyncio.wait(tasks, timeout=END_SECONDS)
