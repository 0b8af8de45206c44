"""One HTTP request through to a sandbox's web program, body and answer streamed as they come."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any

import httpcore
from starlette.types import Message, Receive, Send

from vm_bridge.network.mount import Header

CHUNK = 65_536
SILENCE = {"connect": 10.0, "read": 900.0, "write": 60.0, "pool": 10.0}
"""How long each side may say nothing (seconds)."""
BROKEN = (OSError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)
"""What it may fail of on the program's side."""


class _Stream(httpcore.AsyncNetworkStream):
    """A socket for httpcore."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        async with asyncio.timeout(timeout):
            return await self._reader.read(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._writer.write(buffer)
        async with asyncio.timeout(timeout):
            await self._writer.drain()

    async def aclose(self) -> None:
        self._writer.close()

    def get_extra_info(self, info: str) -> Any:
        return None


async def http_through(
    connection: socket.socket,
    method: str,
    target: bytes,
    headers: Iterable[Header],
    receive: Receive,
    send: Send,
    answer: Callable[[Iterable[Header]], list[Header]],
) -> None:
    """Returns when all of the answer has been sent, or nobody waits for it any more; `answer` makes its headers."""
    reader, writer = await asyncio.open_connection(sock=connection, limit=CHUNK)
    http = httpcore.AsyncHTTP11Connection(httpcore.Origin(b"http", b"127.0.0.1", 80), _Stream(reader, writer))
    asked = asyncio.Event()
    request = httpcore.Request(
        method,
        httpcore.URL(scheme=b"http", host=b"127.0.0.1", port=80, target=target),
        headers=list(headers),
        content=_body(receive, asked),
        extensions={"timeout": SILENCE},
    )

    async def exchange() -> None:
        response = await http.handle_async_request(request)
        await send({"type": "http.response.start", "status": response.status, "headers": answer(response.headers)})
        async for chunk in response.aiter_stream():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    try:
        await first_of(exchange(), _left(receive, asked))
    finally:
        writer.close()


async def first_of(*works: Any) -> None:
    """Do all until one ends, and let go of the rest. Raises what that one raised."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def _body(receive: Receive, asked: asyncio.Event) -> AsyncIterator[bytes]:
    more = True
    while more:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("the browser went away")
        more = message.get("more_body", False)
        if message.get("body"):
            yield message["body"]
    asked.set()


async def _left(receive: Receive, asked: asyncio.Event) -> None:
    """Returns when the browser has gone."""
    await asked.wait()
    while (await receive())["type"] != "http.disconnect":
        pass
