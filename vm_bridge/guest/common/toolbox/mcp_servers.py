"""The MCP servers of a sandbox: started when first needed, spoken to with the official SDK, started again when dead."""

import asyncio
import json
from contextlib import AsyncExitStack
from typing import Any

from vm_bridge.guest.common.actions import ActionFailed, bounded_text

START_SECONDS = 40.0
CALL_SECONDS = 30.0
"""Longest a tool may take."""
STREAM_SECONDS = 300.0
"""Longest silence of a stream over HTTP."""
END_SECONDS = 10.0
MAX_TOOLS, MAX_DESCRIPTION, MAX_SCHEMA = 200, 2_000, 16_000
"""Most tools, and the most that is told of each (characters)."""
MAX_PICTURE = 4 * 1024 * 1024
"""Largest picture that is brought out (bytes, as base64)."""

Message = dict[str, Any]


class McpServer:
    """One server in the `mcpServers` shape: command, args, env, or url and headers where it answers over streamable
    HTTP. One task owns the connection, as its library wants."""

    def __init__(self, name: str, settings: Message) -> None:
        self.name, self.settings = name, settings
        self._client: asyncio.Future[Any] | None = None
        self._stop_requested = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def client(self) -> Any:
        """The SDK's client of the running server. Raises ActionFailed when it does not start."""
        if self._client is None or self._stop_requested.is_set():
            self._stop_requested = asyncio.Event()
            self._client = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._client, self._stop_requested))
        return await asyncio.shield(self._client)

    def end(self) -> None:
        """Let go of a server that died; the next call starts it again."""
        self._stop_requested.set()

    async def close(self) -> None:
        """End the server."""
        self.end()
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=END_SECONDS)

    async def _run(self, ready: "asyncio.Future[Any]", stop_requested: asyncio.Event) -> None:
        from mcp import Client

        try:
            async with asyncio.timeout(START_SECONDS) as patience, AsyncExitStack() as stack:
                transport = await _transport(self.settings, stack)
                async with Client(transport, read_timeout_seconds=CALL_SECONDS, mode="legacy") as client:
                    patience.reschedule(None)
                    ready.set_result(client)
                    await stop_requested.wait()
        except Exception as error:  # noqa: BLE001 - a server may fail in any way; whoever waits for it is told
            stop_requested.set()
            if not ready.done():
                ready.set_exception(
                    ActionFailed("server_failed", f"the server {self.name} did not start: {_root_cause(error)}")
                )
                ready.exception()


async def _transport(settings: Message, stack: AsyncExitStack) -> Any:
    """The transport for the SDK's client; the stack closes it."""
    import httpx2
    from mcp import StdioServerParameters
    from mcp.client.streamable_http import streamable_http_client

    if "url" not in settings:
        return StdioServerParameters.model_validate(settings)
    timeout = httpx2.Timeout(CALL_SECONDS, read=STREAM_SECONDS)
    http = await stack.enter_async_context(httpx2.AsyncClient(headers=settings.get("headers"), timeout=timeout))
    return streamable_http_client(settings["url"], http_client=http)


class McpServers:
    """The configured servers by name."""

    def __init__(self) -> None:
        self._servers: dict[str, McpServer] = {}

    async def configure(self, call: Message) -> Message:
        """Have exactly these servers; those that stay as they were keep running."""
        wanted: dict[str, Message] = call["servers"]
        for name, server in tuple(self._servers.items()):
            if wanted.get(name) != server.settings:
                await self._servers.pop(name).close()
        for name, settings in wanted.items():
            self._servers.setdefault(name, McpServer(name, settings))
        return {}

    async def tools(self, _call: Message) -> Message:
        """The tools of every server, and why some servers have none to offer."""
        pending = {name: asyncio.create_task(_list_tools(server)) for name, server in self._servers.items()}
        tools: list[Message] = []
        failures: dict[str, str] = {}
        for name, task in pending.items():
            try:
                tools += await task
            except ActionFailed as failure:
                failures[name] = str(failure)
        return {"tools": tools[:MAX_TOOLS], "failures": failures}

    async def call(self, call: Message) -> Message:
        """Call `server.tool`: what it said and the last picture it gave. Raises ActionFailed."""
        name, _, tool = call["name"].partition(".")
        server = self._servers.get(name)
        if server is None or not tool:
            available = ", ".join(sorted(self._servers)) or "none"
            raise ActionFailed("no_such_tool", f"{call['name']!r} is no tool; the servers are: {available}")
        result = await _request(server, "call_tool", name=tool, arguments=call["arguments"])
        text, picture = _content(result)
        if result.is_error:
            raise ActionFailed("tool_failed", f"{call['name']} failed", text)
        return {"text": text, "picture": picture}

    async def close(self) -> None:
        """End every server."""
        await asyncio.gather(*(server.close() for server in self._servers.values()))


async def _request(server: McpServer, method: str, **arguments: Any) -> Any:
    from mcp import MCPError
    from mcp_types import CONNECTION_CLOSED

    try:
        return await getattr(await server.client(), method)(**arguments)
    except MCPError as error:
        if error.code != CONNECTION_CLOSED:
            raise ActionFailed("tool_failed", f"{server.name}: {error.message}") from error
        server.end()
        message = f"the server {server.name} ended unexpectedly; the next call starts it again"
        raise ActionFailed("server_ended", message) from error
    except (ValueError, RuntimeError) as error:  # an answer that is against the protocol
        raise ActionFailed("tool_failed", f"{server.name}: {_root_cause(error)}") from error


async def _list_tools(server: McpServer) -> list[Message]:
    tools: list[Message] = []
    cursor: str | None = None
    while len(tools) < MAX_TOOLS:
        page = await _request(server, "list_tools", cursor=cursor)
        tools += [_tool_description(server.name, tool) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            break
    return tools[:MAX_TOOLS]


def _tool_description(server: str, tool: Any) -> Message:
    schema = tool.input_schema if len(json.dumps(tool.input_schema)) <= MAX_SCHEMA else {"type": "object"}
    description = (tool.description or tool.title or "")[:MAX_DESCRIPTION]
    return {"name": f"{server}.{tool.name}"[:200], "description": description, "parameters": schema}


def _content(result: Any) -> tuple[str, str | None]:
    """The text of a result and its last picture; what is neither is named."""
    texts, picture = [], None
    for part in result.content:
        if part.type == "text":
            texts.append(part.text)
        elif part.type == "image" and part.mime_type == "image/png" and len(part.data) <= MAX_PICTURE:
            picture = part.data
        else:
            texts.append(f"[{part.type}]")
    if not texts and result.structured_content is not None:
        texts.append(json.dumps(result.structured_content, ensure_ascii=False))
    return bounded_text("\n".join(texts).encode("utf-8", "replace")), picture


def _root_cause(error: BaseException) -> str:
    """The innermost of what went wrong."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error) or type(error).__name__)[:500]
