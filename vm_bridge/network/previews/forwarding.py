"""Forwards one HTTP request or one WebSocket to a web program inside a sandbox."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import httpcore
from starlette.types import Message, Receive, Send
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Origin, Subprotocol

from vm_bridge.network.previews.mount import Header

CHUNK = 65_536
IDLE_TIMEOUTS = {"connect": 10.0, "read": 900.0, "write": 60.0, "pool": 10.0}
"""How long each side may say nothing (seconds)."""
CONNECTION_ERRORS = (OSError, httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)
"""What it may fail of on the program's side."""


class _SocketStream(httpcore.AsyncNetworkStream):
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


async def forward_http(
    connection: socket.socket,
    method: str,
    target: bytes,
    headers: Iterable[Header],
    receive: Receive,
    send: Send,
    answer: Callable[[Iterable[Header]], list[Header]],
) -> None:
    """Send the whole response, unless the client disconnects; `answer` creates its headers."""
    reader, writer = await asyncio.open_connection(sock=connection, limit=CHUNK)
    http = httpcore.AsyncHTTP11Connection(httpcore.Origin(b"http", b"127.0.0.1", 80), _SocketStream(reader, writer))
    body_sent = asyncio.Event()
    request = httpcore.Request(
        method,
        httpcore.URL(scheme=b"http", host=b"127.0.0.1", port=80, target=target),
        headers=list(headers),
        content=_request_body(receive, body_sent),
        extensions={"timeout": IDLE_TIMEOUTS},
    )

    async def exchange() -> None:
        response = await http.handle_async_request(request)
        await send({"type": "http.response.start", "status": response.status, "headers": answer(response.headers)})
        async for chunk in response.aiter_stream():
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    try:
        await run_until_first(exchange(), _wait_disconnect(receive, body_sent))
    finally:
        writer.close()


async def run_until_first(*works: Any) -> None:
    """Run all until one ends, and cancel the rest. Raises the error of the one that ended."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def _request_body(receive: Receive, body_sent: asyncio.Event) -> AsyncIterator[bytes]:
    more = True
    while more:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionResetError("the browser went away")
        more = message.get("more_body", False)
        if message.get("body"):
            yield message["body"]
    body_sent.set()


async def _wait_disconnect(receive: Receive, body_sent: asyncio.Event) -> None:
    """Returns when the browser has gone."""
    await body_sent.wait()
    while (await receive())["type"] != "http.disconnect":
        pass


OPEN_TIMEOUT_SECONDS = 10.0
CLOSE_TIMEOUT_SECONDS = 3.0
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
MAX_QUEUED_MESSAGES = 16
"""Messages that may wait on the way to a slow browser."""
GOING_AWAY, UNSENDABLE_CLOSE_CODES = 1001, (1005, 1006, 1015)
HANDSHAKE_HEADERS = (b"host", b"origin", b"content-length", b"transfer-encoding")
"""Headers that the new handshake writes by itself, beside all that begin with sec-websocket."""


class WebSocketRejected(Exception):
    """The program does not want this WebSocket."""


async def forward_websocket(
    connection: socket.socket,
    address: str,
    headers: Iterable[Header],
    subprotocols: Sequence[str],
    receive: Receive,
    send: Send,
    over: Callable[[], Awaitable[None]],
) -> None:
    """Carry messages both ways until one side closes or `over` returns. Raises WebSocketRejected, OSError."""
    request_headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    passed = {
        name: value
        for name, value in request_headers.items()
        if not name.startswith("sec-websocket-") and name.encode() not in HANDSHAKE_HEADERS
    }
    try:
        program = await connect(
            address,
            sock=connection,
            origin=Origin(request_headers["origin"]) if "origin" in request_headers else None,
            subprotocols=[Subprotocol(name) for name in subprotocols] or None,
            additional_headers=passed,
            user_agent_header=None,
            compression=None,
            proxy=None,
            open_timeout=OPEN_TIMEOUT_SECONDS,
            close_timeout=CLOSE_TIMEOUT_SECONDS,
            ping_interval=None,
            max_size=MAX_MESSAGE_BYTES,
            max_queue=MAX_QUEUED_MESSAGES,
        )
    except InvalidHandshake as error:
        raise WebSocketRejected(str(error)) from error
    async with program:
        await receive()  # that the browser asks to connect
        await send({"type": "websocket.accept", "subprotocol": program.subprotocol})
        with suppress(OSError):  # a browser that went away without a word
            await run_until_first(
                _pump_to_program(receive, program), _pump_to_browser(program, send), _close_when_lease_ends(over, send)
            )


async def _pump_to_program(receive: Receive, program: ClientConnection) -> None:
    while (message := await receive())["type"] == "websocket.receive":
        data = message.get("text")
        try:
            await program.send(data if data is not None else message["bytes"])
        except ConnectionClosed:
            await asyncio.Event().wait()  # the other direction says so
    await program.close(_close_code(message.get("code")))


async def _pump_to_browser(program: ClientConnection, send: Send) -> None:
    try:
        while True:
            data = await program.recv()
            await send({"type": "websocket.send", "text" if isinstance(data, str) else "bytes": data})
    except ConnectionClosed as closed:
        reason = closed.rcvd.reason if closed.rcvd is not None else ""
        await send({"type": "websocket.close", "code": _close_code(program.close_code), "reason": reason})


async def _close_when_lease_ends(over: Callable[[], Awaitable[None]], send: Send) -> None:
    await over()
    await send({"type": "websocket.close", "code": GOING_AWAY, "reason": "the lease has ended"})


def _close_code(code: int | None) -> int:
    """A code that may be sent."""
    return GOING_AWAY if code is None or code in UNSENDABLE_CLOSE_CODES else code
