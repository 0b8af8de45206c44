"""The Python kernel and the MCP servers of Windows, in a thread of the agent with an event loop of its own."""

import asyncio
import threading
from concurrent.futures import Future

from vm_bridge.guest.common.actions import ActionFailed
from vm_bridge.guest.common.machine_io import Message
from vm_bridge.guest.common.toolbox.calls import Calls, toolbox_calls
from vm_bridge.guest.common.toolbox.jupyter_kernel import JupyterKernel
from vm_bridge.guest.common.toolbox.mcp_servers import McpServers


class WindowsToolbox:
    """Started by the first call, which imports its libraries. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._calls: Calls = {}

    def call(self, op: str, *, timeout: float, **arguments: object) -> Message:
        """See `Toolbox.call`."""
        pending = self._submit(self._started(), op, dict(arguments))
        try:
            return pending.result(timeout)
        except TimeoutError:
            pending.cancel()
            raise ActionFailed("timed_out", f"the toolbox did not answer within {timeout:g} s") from None
        except ImportError as error:
            raise ActionFailed("not_installed", f"this Windows lacks the packages of the toolbox: {error}") from error

    def notify(self, op: str) -> None:
        """See `Toolbox.notify`."""
        if self._loop is not None:
            self._submit(self._loop, op, {})

    def _submit(self, loop: asyncio.AbstractEventLoop, op: str, arguments: Message) -> "Future[Message]":
        async def run() -> Message:
            return await self._calls[op](arguments)

        return asyncio.run_coroutine_threadsafe(run(), loop)

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._calls = toolbox_calls(JupyterKernel(), McpServers())
                self._loop = asyncio.new_event_loop()
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
            return self._loop
