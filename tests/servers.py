"""Servers of single tests, whose connections are all closed before the test ends."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

CLOSE_SECONDS = 20.0

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def served_socket(serve: Serve, path: Path) -> AsyncIterator[None]:
    """Serve each connection to a socket in the file system."""
    connections = _Connections(serve)
    async with await asyncio.start_unix_server(connections.attend, path):
        yield
        await connections.closed()


@asynccontextmanager
async def served_port(serve: Serve) -> AsyncIterator[int]:
    """Serve each connection to a port of this machine, which is yielded."""
    connections = _Connections(serve)
    async with await asyncio.start_server(connections.attend, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
        await connections.closed()


class _Connections:
    """Waits for all connections. A transport left open when its loop ends is reported in a later test."""

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._attending: set[asyncio.Task[None]] = set()

    async def attend(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._attending.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                await self._serve(reader, writer)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def closed(self) -> None:
        if self._attending:
            done, late = await asyncio.wait(self._attending, timeout=CLOSE_SECONDS)
            assert not late, "a connection is still served; its client did not hang up"
            for task in done:
                task.result()
