"""What needs big libraries, in a process of its own; see `vm_bridge.guest.linux.machine_io.TOOLBOX`.

It keeps the Jupyter kernel of `run_code` and the MCP servers of `call_tool`, each started when first needed.
"""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from vm_bridge.guest.common import wire
from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.toolbox.calls import toolbox_calls
from vm_bridge.guest.common.toolbox.jupyter_kernel import JupyterKernel
from vm_bridge.guest.common.toolbox.mcp_servers import McpServers
from vm_bridge.guest.linux.helper_process import failure_message

Message = dict[str, Any]


async def serve_calls(link: socket.socket) -> None:
    """Do calls beside each other until the guest's end closes."""
    kernel, servers = JupyterKernel(), McpServers()
    calls = toolbox_calls(kernel, servers)
    link.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=link, limit=wire.MAX_FRAME)
    running = set[asyncio.Task[None]]()
    with suppress(asyncio.IncompleteReadError, OSError):
        while True:
            length = wire.body_length(await reader.readexactly(wire.HEADER.size))
            message = wire.decode(await reader.readexactly(length))
            task = asyncio.create_task(_do(calls[message["op"]], message, writer))
            running.add(task)
            task.add_done_callback(running.discard)
    await servers.close()
    await kernel.close()


async def _do(call: Callable[[Message], Awaitable[Message]], message: Message, writer: asyncio.StreamWriter) -> None:
    try:
        answer: Message = {"result": await call(message)}
    except ActionFailed as failure:
        answer = failure_message(failure)
    writer.write(wire.encode({"id": message["id"], **answer}))
    await writer.drain()


def main() -> None:
    """Serve the guest until it closes its end."""
    link = socket.socket(fileno=int(sys.argv[1]))
    link.set_inheritable(False)
    asyncio.run(serve_calls(link))


if __name__ == "__main__":
    main()
