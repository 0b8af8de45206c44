"""Relays bytes between two connections, and listens for them."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path

CHUNK = 65_536
StreamPair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


def listen_on_unix_socket(path: Path) -> socket.socket:
    """A new socket that only the current user may connect to."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen()
    return listener


def _ignore_count(_: int) -> None:
    """Ignores the count."""


async def relay(
    one: StreamPair, other: StreamPair, *, idle: float, count: Callable[[int], None] = _ignore_count
) -> None:
    """Relay both ways until both sides end, one breaks, or nothing moves for `idle` seconds. Then both are closed.

    `count` is called with each number of relayed bytes. It ends the relay by raising OSError.
    """
    loop = asyncio.get_running_loop()

    async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(CHUNK):
            count(len(data))
            target.write(data)
            await target.drain()
            limit.reschedule(loop.time() + idle)
        target.write_eof()

    try:
        async with asyncio.timeout(idle) as limit, asyncio.TaskGroup() as group:
            group.create_task(carry(one[0], other[1]))
            group.create_task(carry(other[0], one[1]))
    except* OSError:
        pass  # the other side sees the end of its connection
    finally:
        one[1].close()
        other[1].close()
