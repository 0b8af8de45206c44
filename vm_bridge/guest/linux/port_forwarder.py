"""Forwards connections in and out of a sandbox.

    python -m vm_bridge.guest.linux.port_forwarder TUNNEL EGRESS SERVICE...

The arguments are descriptors.

A tunnel connection names a port of this sandbox's loopback in its first line. Connections to the egress port go to the
proxy on the host, which decides about them. Connections to a service's port go to that web program, which is started on
demand.
"""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from vm_bridge.guest.common.relay import CHUNK, StreamPair, relay
from vm_bridge.guest.common.tunnel import CONNECT_FAILED, CONNECTED, LOOPBACK
from vm_bridge.guest.linux.port_listeners import read_services

EGRESS = Path("/run/egress")
MAX_CONNECTIONS = 128
HEADER_SECONDS = 5.0
START_SECONDS = 60.0
POLL_SECONDS = 0.05
IDLE_SECONDS = 900.0
"""An idle connection is closed after this time; web programs ping theirs far more often."""

Connector = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[StreamPair | None]]
"""Returns the target of an incoming connection, or None if there is none."""


class WebService:
    """A web program of the tools, on a unix socket that only this process knows."""

    def __init__(self, described: dict[str, Any], folder: Path) -> None:
        self._port: int = described["port"]
        self._command: list[str] = described["command"]
        self._environment: dict[str, str] = described.get("environment", {})
        self._socket = folder / f"{described['name']}.sock"
        self._starting = asyncio.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    async def connect(self, _: asyncio.StreamReader, __: asyncio.StreamWriter) -> StreamPair | None:
        """A connection to it, as soon as it accepts one."""
        async with self._starting:
            if self._process is None or self._process.poll() is not None:
                self._process = self._start()
            async with asyncio.timeout(START_SECONDS):
                while self._process.poll() is None:
                    try:
                        return await asyncio.open_unix_connection(self._socket, limit=CHUNK)
                    except OSError:
                        await asyncio.sleep(POLL_SECONDS)
        return None

    def _start(self) -> "subprocess.Popen[bytes]":
        self._socket.unlink(missing_ok=True)
        variables = {"socket": str(self._socket), "base": (EGRESS / "prefix").read_text() + f"/{self._port}/"}
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        return subprocess.Popen(
            [word.format_map(variables) for word in self._command],
            env=environment | self._environment,
            cwd=Path.home(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


async def connect_port(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> StreamPair | None:
    """The port of this sandbox that the tunnel's first line names."""
    async with asyncio.timeout(HEADER_SECONDS):
        port = int(await reader.readline())
    for address in (LOOPBACK, "::1"):
        try:
            ends = await asyncio.open_connection(address, port, limit=CHUNK)
        except OSError:
            continue
        writer.write(CONNECTED)
        return ends
    writer.write(CONNECT_FAILED)
    return None


async def connect_proxy(_: asyncio.StreamReader, __: asyncio.StreamWriter) -> StreamPair | None:
    """The proxy on the host."""
    return await asyncio.open_unix_connection(EGRESS / "proxy.sock", limit=CHUNK)


async def serve(listeners: list[tuple[socket.socket, Connector]]) -> None:
    """Forward every connection of these listeners."""
    open_connections = 0

    def forward(connect: Connector) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal open_connections
            open_connections += 1
            try:
                target = await connect(reader, writer) if open_connections <= MAX_CONNECTIONS else None
                if target is not None:
                    await relay((reader, writer), target, idle=IDLE_SECONDS)
            except (OSError, ValueError):
                pass  # the client sees the end of the connection
            finally:
                open_connections -= 1
                writer.close()

        return handle

    async with asyncio.TaskGroup() as group:
        for listener, connect in listeners:
            start = asyncio.start_unix_server if listener.family == socket.AF_UNIX else asyncio.start_server
            server = await start(forward(connect), sock=listener, limit=CHUNK)
            group.create_task(server.serve_forever())


def main() -> None:
    """Run until the sandbox ends."""
    tunnel, egress, *rest = (socket.socket(fileno=int(descriptor)) for descriptor in sys.argv[1:])
    folder = Path(os.environ["XDG_RUNTIME_DIR"])
    programs = [
        (listener, WebService(each, folder).connect) for listener, each in zip(rest, read_services(), strict=True)
    ]
    asyncio.run(serve([(tunnel, connect_port), (egress, connect_proxy), *programs]))


if __name__ == "__main__":
    main()
