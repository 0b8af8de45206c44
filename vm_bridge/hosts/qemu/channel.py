"""The host's end of the line to a virtual machine: sockets in its folder that lead to the listeners inside."""

import asyncio
from contextlib import suppress

from vm_bridge.errors import MachineGone
from vm_bridge.guest.common.relay import CHUNK, StreamPair
from vm_bridge.hosts.guest_channel import GuestChannel
from vm_bridge.virtual.handshake import host_handshake

RETRY_SECONDS = 0.1


class VirtualMachineChannel(GuestChannel):
    """One machine's line, through the socket of its QEMU."""

    async def _open_line(self) -> StreamPair:
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

    def _silence(self) -> str:
        return "the virtual machine does not answer"
