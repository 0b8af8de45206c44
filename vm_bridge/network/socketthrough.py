"""One WebSocket through to a sandbox's web program."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress

from starlette.types import Receive, Send
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.typing import Origin, Subprotocol

from vm_bridge.network.httpthrough import first_of
from vm_bridge.network.mount import Header

OPEN_SECONDS = 10.0
CLOSE_SECONDS = 3.0
MAX_MESSAGE = 16 * 1024 * 1024
MAX_WAITING = 16
"""Messages that may wait on the way to a slow browser."""
GOING_AWAY, NO_CODE = 1001, (1005, 1006, 1015)
HANDSHAKE = (b"host", b"origin", b"content-length", b"transfer-encoding")
"""Headers that the new handshake writes by itself, beside all that begin with sec-websocket."""


class NotAccepted(Exception):
    """The program does not want this WebSocket."""


async def socket_through(
    connection: socket.socket,
    address: str,
    headers: Iterable[Header],
    subprotocols: Sequence[str],
    receive: Receive,
    send: Send,
    over: Callable[[], Awaitable[None]],
) -> None:
    """Carry messages both ways until one side closes or `over` returns. Raises NotAccepted, OSError."""
    told = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    passed = {
        name: value
        for name, value in told.items()
        if not name.startswith("sec-websocket-") and name.encode() not in HANDSHAKE
    }
    try:
        program = await connect(
            address,
            sock=connection,
            origin=Origin(told["origin"]) if "origin" in told else None,
            subprotocols=[Subprotocol(name) for name in subprotocols] or None,
            additional_headers=passed,
            user_agent_header=None,
            compression=None,
            proxy=None,
            open_timeout=OPEN_SECONDS,
            close_timeout=CLOSE_SECONDS,
            ping_interval=None,
            max_size=MAX_MESSAGE,
            max_queue=MAX_WAITING,
        )
    except InvalidHandshake as error:
        raise NotAccepted(str(error)) from error
    async with program:
        await receive()  # that the browser asks to connect
        await send({"type": "websocket.accept", "subprotocol": program.subprotocol})
        with suppress(OSError):  # a browser that went away without a word
            await first_of(_to_program(receive, program), _to_browser(program, send), _ended(over, send))


async def _to_program(receive: Receive, program: ClientConnection) -> None:
    while (message := await receive())["type"] == "websocket.receive":
        data = message.get("text")
        try:
            await program.send(data if data is not None else message["bytes"])
        except ConnectionClosed:
            await asyncio.Event().wait()  # the other direction says so
    await program.close(_code(message.get("code")))


async def _to_browser(program: ClientConnection, send: Send) -> None:
    try:
        while True:
            data = await program.recv()
            await send({"type": "websocket.send", "text" if isinstance(data, str) else "bytes": data})
    except ConnectionClosed as closed:
        reason = closed.rcvd.reason if closed.rcvd is not None else ""
        await send({"type": "websocket.close", "code": _code(program.close_code), "reason": reason})


async def _ended(over: Callable[[], Awaitable[None]], send: Send) -> None:
    await over()
    await send({"type": "websocket.close", "code": GOING_AWAY, "reason": "the lease has ended"})


def _code(code: int | None) -> int:
    """A code that may be sent."""
    return GOING_AWAY if code is None or code in NO_CODE else code
