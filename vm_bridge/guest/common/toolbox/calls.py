"""What a toolbox can be asked."""

from collections.abc import Awaitable, Callable

from vm_bridge.guest.common.machine_io import Message
from vm_bridge.guest.common.toolbox.jupyter_kernel import JupyterKernel
from vm_bridge.guest.common.toolbox.mcp_servers import McpServers

Calls = dict[str, Callable[[Message], Awaitable[Message]]]


def toolbox_calls(kernel: JupyterKernel, servers: McpServers) -> Calls:
    """Its calls by name; each raises ActionFailed."""
    return {
        "run_code": kernel.run,
        "interrupt": kernel.interrupt,
        "configure": servers.configure,
        "tools": servers.tools,
        "call_tool": servers.call,
    }
