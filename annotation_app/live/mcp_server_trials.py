"""Test a pool's MCP server on a free machine of the pool's image, before its tasks use it."""

import asyncio
import contextlib
from collections.abc import Mapping
from typing import Literal
from uuid import uuid4

from django.conf import settings

from protocol.actions.types import CallTool
from protocol.base import FrozenModel
from protocol.trajectory.mcp_servers import AnyMcpServer, add_mcp_servers, fill_server_secrets
from protocol.trajectory.tasks import Task
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Machine

MACHINE_TTL_SECONDS = 90.0
MACHINE_WAIT_SECONDS = 10.0
"""How long a trial waits for a free machine (seconds)."""
TRIAL_SECONDS = 75.0
"""How long a server may take to start and to list its tools (seconds)."""
START_FAILURES = ("server_failed", "server_ended")
TRIAL_TASK = Task(id="mcp-server-trial", instruction="List the tools of an MCP server.")


class ServerTool(FrozenModel):
    """A tool that a server lists."""

    name: str
    description: str


class ServerTrial(FrozenModel):
    """Result of a trial: the server's tools, why it failed, or why no machine was available."""

    outcome: Literal["works", "failed", "no_machine"]
    tools: tuple[ServerTool, ...] = ()
    reason: str = ""


async def try_server(
    *, image: str, pool: str, name: str, server: AnyMcpServer, secrets: Mapping[str, str]
) -> ServerTrial:
    """Start a server, or connect to it, as an episode would, and list its tools. `secrets` maps names to values."""
    task = fill_server_secrets(add_mcp_servers(TRIAL_TASK, {name: server}), lambda secret, _host: secrets[secret])
    async with BridgeClient(settings.ENV.bridge_url, settings.ENV.bridge_master) as bridge:
        try:
            lease = await bridge.allocate(
                image=image,
                holder=f"trial:{uuid4().hex}",
                pool=pool,
                request_id=uuid4().hex,
                ttl=MACHINE_TTL_SECONDS,
                wait=MACHINE_WAIT_SECONDS,
            )
        except BridgeError as error:
            return ServerTrial(outcome="no_machine", reason=str(error))
        try:
            async with asyncio.timeout(TRIAL_SECONDS):
                return await _list_tools(bridge.machine(lease), name, task)
        except TimeoutError:
            return ServerTrial(outcome="failed", reason=f"it did not answer within {TRIAL_SECONDS:g} seconds")
        except BridgeError as error:
            return ServerTrial(outcome="failed", reason=str(error))
        finally:
            with contextlib.suppress(BridgeError):  # its lease expires by itself
                await bridge.release(lease)


async def _list_tools(machine: Machine, name: str, task: Task) -> ServerTrial:
    """Raises BridgeError."""
    await machine.prepare(task)
    if "call_tool" not in machine.capabilities.kinds:
        return ServerTrial(outcome="failed", reason="machines of this image have no tools")
    prefix = f"{name}."
    tools = tuple(
        ServerTool(name=tool.name.removeprefix(prefix), description=tool.description)
        for tool in await machine.tools()
        if tool.name.startswith(prefix)
    )
    if not tools:  # a call shows whether the server has no tools or did not start
        called = await machine.perform(
            f"trial-{uuid4().hex}", CallTool(name=f"{prefix}none", arguments={}), settle=False
        )
        if called.error is not None and called.error.code in START_FAILURES:
            return ServerTrial(outcome="failed", reason=called.error.message)
    return ServerTrial(outcome="works", tools=tools)
