"""The host's end of one line to a guest elsewhere: sockets in a folder that lead to the listeners inside."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import ClassVar

from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.relay import CHUNK, StreamPair
from vm_bridge.virtual.multiplexer import Multiplexer, ProtocolViolation


class GuestChannel(ABC):
    """The line of one machine. Its sockets stay as they are while the line behind them is renewed."""

    sockets: ClassVar[Mapping[str, str]] = {name: f"{name}.sock" for name in ("guest", "tunnel", "rfb")}
    """What listens inside, and the path of its socket below the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._channels: Multiplexer | None = None
        self._running: asyncio.Task[None] | None = None
        self._servers: list[asyncio.Server] = []

    async def open(self) -> None:
        """Make the sockets."""
        for name, relative in self.sockets.items():
            path = self._folder / relative
            path.unlink(missing_ok=True)
            self._servers.append(await asyncio.start_unix_server(self._forwarder(name), path, limit=CHUNK))
            path.chmod(0o600)

    async def connect(self, seconds: float) -> None:
        """Reconnect. All earlier forwarded connections have ended. Raises MachineGone."""
        await self.hang_up()
        try:
            async with asyncio.timeout(seconds):
                line = await self._open_line()
        except TimeoutError:
            raise MachineGone(self._silence()) from None
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
        """Close the sockets too."""
        for server in self._servers:
            server.close()
        await self.hang_up()

    @abstractmethod
    async def _open_line(self) -> StreamPair:
        """A line on which the machine has said that it knows of us; tried until the caller's time is over. Raises
        MachineGone when there is none."""

    @abstractmethod
    def _silence(self) -> str:
        """The message where no line could be opened in time."""

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
