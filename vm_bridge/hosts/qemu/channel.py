"""The host's end of the line to a virtual machine: sockets in its folder that lead to the listeners inside."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.relay import CHUNK, StreamPair
from vm_bridge.virtual.handshake import host_handshake
from vm_bridge.virtual.multiplexer import Multiplexer, ProtocolViolation

RETRY_SECONDS = 0.1
SOCKET_NAMES = ("guest", "tunnel", "rfb")
"""What listens inside, and here in the folder as NAME.sock."""


class VirtualMachineChannel:
    """One machine's line. The doors stay as they are while the line behind them is renewed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._channels: Multiplexer | None = None
        self._running: asyncio.Task[None] | None = None
        self._servers: list[asyncio.Server] = []

    async def open(self) -> None:
        """Make the doors."""
        for name in SOCKET_NAMES:
            path = self._folder / f"{name}.sock"
            path.unlink(missing_ok=True)
            self._servers.append(await asyncio.start_unix_server(self._forwarder(name), path, limit=CHUNK))
            path.chmod(0o600)

    async def connect(self, seconds: float) -> None:
        """Reconnect. All earlier forwarded connections have ended. Raises MachineGone."""
        await self.hang_up()
        try:
            async with asyncio.timeout(seconds):
                line = await self._open_multiplexer()
        except TimeoutError:
            raise MachineGone("the virtual machine does not answer") from None
        self._channels = Multiplexer(line, {"proxy": self._dial_proxy}, first=0)
        self._running = asyncio.create_task(_run_multiplexer(self._channels))

    async def hang_up(self) -> None:
        """End everything that is led through the line. Idempotent."""
        channels, self._channels = self._channels, None
        running, self._running = self._running, None
        if channels is not None and running is not None:
            channels.close()
            await running

    async def close(self) -> None:
        """Take the doors away too."""
        for server in self._servers:
            server.close()
        await self.hang_up()

    async def _open_multiplexer(self) -> StreamPair:
        """A line on which the machine has said that it knows of us. Raises MachineGone when there is none."""
        while True:
            with suppress(BlockingIOError):  # QEMU has not come to take those that called before
                try:
                    reader, writer = await asyncio.open_unix_connection(self._folder / "line.sock", limit=CHUNK)
                except (FileNotFoundError, ConnectionError) as error:
                    raise MachineGone("the virtual machine has ended") from error
                try:
                    # A call that QEMU was too busy to take counts as taken until it is read from.
                    await host_handshake(reader, writer)
                except (asyncio.IncompleteReadError, OSError):
                    writer.close()
                except asyncio.CancelledError:
                    writer.close()
                    raise
                else:
                    return reader, writer
            await asyncio.sleep(RETRY_SECONDS)

    def _forwarder(self, name: str) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        async def came(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if self._channels is None:
                writer.close()
            else:
                self._channels.forward(name, (reader, writer))

        return came

    async def _dial_proxy(self) -> StreamPair:
        return await asyncio.open_unix_connection(self._folder / "egress" / "proxy.sock", limit=CHUNK)


async def _run_multiplexer(channels: Multiplexer) -> None:
    """Until the line ends; a machine that says what is no message is no longer listened to."""
    with suppress(ProtocolViolation):
        await channels.run()
    channels.close()
