"""One sandbox's two ways through its wall, from the host's side: out through its proxy, in through its tunnel."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from vm_bridge.api.tickets import preview_path
from vm_bridge.guest.common.tunnel import CONNECTED
from vm_bridge.network.egress_proxy import EgressProxy

DIAL_TIMEOUT_SECONDS = 10.0
EgressFactory = Callable[[str, Sequence[str]], EgressProxy]


class SandboxNetwork:
    """Leads to whatever tree of processes the sandbox has at present."""

    def __init__(self, machine_id: str, make_egress: EgressFactory = EgressProxy) -> None:
        self._machine_id, self._make_egress = machine_id, make_egress
        self._egress: EgressProxy | None = None
        self._tunnel: Path | None = None

    async def attach(self, tree: Path, allowed: Sequence[str]) -> None:
        """Let the processes whose folder this is reach the allowed hosts, and nothing that was before any more."""
        await self.close()
        egress_folder = tree / "egress"
        (egress_folder / "prefix").write_text(preview_path(self._machine_id))
        self._egress = await self._make_egress(self._machine_id, allowed).open(egress_folder)
        self._tunnel = tree / "tunnel.sock"

    async def dial(self, port: int) -> socket.socket:
        """A connection to a port of the sandbox's loopback, not blocking.

        Raises ConnectionRefusedError when nothing listens there, another OSError when the sandbox has ended.
        """
        if self._tunnel is None:
            raise ConnectionResetError("the sandbox has ended")
        loop = asyncio.get_running_loop()
        with ExitStack() as undo:
            connection = undo.enter_context(socket.socket(socket.AF_UNIX))
            connection.setblocking(False)
            async with asyncio.timeout(DIAL_TIMEOUT_SECONDS):
                await loop.sock_connect(connection, str(self._tunnel))
                await loop.sock_sendall(connection, f"{port}\n".encode())
                answer = await loop.sock_recv(connection, 1)
            if answer != CONNECTED:
                raise ConnectionRefusedError(f"nothing listens on port {port}")
            undo.pop_all()
        return connection

    async def close(self) -> None:
        """End every connection to the outside. Idempotent."""
        egress, self._egress, self._tunnel = self._egress, None, None
        if egress is not None:
            await egress.close()
