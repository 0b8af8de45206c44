"""The MCP servers of a sandbox: started when first needed, spoken to with the official SDK, started again when dead."""

import asyncio
import json
from typing import Any

from vm_bridge.guest.act import ActFailed, bounded_text

START_SECONDS = 40.0
CALL_SECONDS = 30.0
"""Longest a tool may take."""
END_SECONDS = 10.0
MAX_TOOLS, MAX_DESCRIPTION, MAX_SCHEMA = 200, 2_000, 16_000
"""Most tools, and the most that is told of each (characters)."""
MAX_PICTURE = 4 * 1024 * 1024
"""Largest picture that is brought out (bytes, as base64)."""

Message = dict[str, Any]


class Server:
    """One server in the `mcpServers` shape: command, args, env. One task owns the connection, as its library wants."""

    def __init__(self, name: str, settings: Message) -> None:
        self.name, self.settings = name, settings
        self._client: asyncio.Future[Any] | None = None
        self._over = asyncio.Event()
        self._life: asyncio.Task[None] | None = None

    async def client(self) -> Any:
        """The SDK's client of the running server. Raises ActFailed when it does not start."""
        if self._client is None or self._over.is_set():
            self._over = asyncio.Event()
            self._client = asyncio.get_running_loop().create_future()
            self._life = asyncio.create_task(self._live(self._client, self._over))
        return await asyncio.shield(self._client)

    def end(self) -> None:
        """Let go of a server that died; the next call starts it again."""
        self._over.set()

    async def close(self) -> None:
        """End the server."""
        self.end()
        if self._life is not None:
            await asyncio.wait({self._life}, timeout=END_SECONDS)

    async def _live(self, ready: "asyncio.Future[Any]", over: asyncio.Event) -> None:
        from mcp import Client, StdioServerParameters

        try:
            parameters = StdioServerParameters.model_validate(self.settings)
            async with asyncio.timeout(START_SECONDS) as patience:
                async with Client(parameters, read_timeout_seconds=CALL_SECONDS, mode="legacy") as client:
                    patience.reschedule(None)
                    ready.set_result(client)
                    await over.wait()
        except Exception as error:  # noqa: BLE001 - a server may fail in any way; whoever waits for it is told
            over.set()
            if not ready.done():
                ready.set_exception(ActFailed("server_failed", f"the server {self.name} did not start: {_why(error)}"))
                ready.exception()


class Servers:
    """The configured servers by name."""

    def __init__(self) -> None:
        self._servers: dict[str, Server] = {}

    async def configure(self, call: Message) -> Message:
        """Have exactly these servers; those that stay as they were keep running."""
        wanted: dict[str, Message] = call["servers"]
        for name, server in tuple(self._servers.items()):
            if wanted.get(name) != server.settings:
                await self._servers.pop(name).close()
        for name, settings in wanted.items():
            self._servers.setdefault(name, Server(name, settings))
        return {}

    async def tools(self, _call: Message) -> Message:
        """The tools of every server, and why some servers have none to offer."""
        asked = {name: asyncio.create_task(_listed(server)) for name, server in self._servers.items()}
        tools: list[Message] = []
        failures: dict[str, str] = {}
        for name, task in asked.items():
            try:
                tools += await task
            except ActFailed as failure:
                failures[name] = str(failure)
        return {"tools": tools[:MAX_TOOLS], "failures": failures}

    async def call(self, call: Message) -> Message:
        """Call `server.tool`: what it said and the last picture it gave. Raises ActFailed."""
        name, _, tool = call["name"].partition(".")
        server = self._servers.get(name)
        if server is None or not tool:
            there = ", ".join(sorted(self._servers)) or "none"
            raise ActFailed("no_such_tool", f"{call['name']!r} is no tool; the servers are: {there}")
        result = await _asked(server, "call_tool", name=tool, arguments=call["arguments"])
        text, picture = _content(result)
        if result.is_error:
            raise ActFailed("tool_failed", f"{call['name']} failed", text)
        return {"text": text, "picture": picture}

    async def close(self) -> None:
        """End every server."""
        await asyncio.gather(*(server.close() for server in self._servers.values()))


async def _asked(server: Server, method: str, **arguments: Any) -> Any:
    from mcp import MCPError
    from mcp_types import CONNECTION_CLOSED

    try:
        return await getattr(await server.client(), method)(**arguments)
    except MCPError as error:
        if error.code != CONNECTION_CLOSED:
            raise ActFailed("tool_failed", f"{server.name}: {error.message}") from error
        server.end()
        message = f"the server {server.name} ended unexpectedly; the next call starts it again"
        raise ActFailed("server_ended", message) from error
    except (ValueError, RuntimeError) as error:  # an answer that is against the protocol
        raise ActFailed("tool_failed", f"{server.name}: {_why(error)}") from error


async def _listed(server: Server) -> list[Message]:
    tools: list[Message] = []
    cursor: str | None = None
    while len(tools) < MAX_TOOLS:
        page = await _asked(server, "list_tools", cursor=cursor)
        tools += [_told(server.name, tool) for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            break
    return tools[:MAX_TOOLS]


def _told(server: str, tool: Any) -> Message:
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


def _why(error: BaseException) -> str:
    """The innermost of what went wrong."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return (str(error) or type(error).__name__)[:500]
