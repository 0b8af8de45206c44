"""A session of `./pilothouse openenv` over MCP: one machine, one episode at a time."""

import itertools
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

TOKEN_VARIABLE = "PILOTHOUSE_OPENENV_TOKEN"  # noqa: S105 - the name of a variable
TIMEOUT_SECONDS = 180.0
REFUSED_ACTIONS = ("invalid_request", "unknown_tool")
"""Reasons that are the policy's own; any other is the server's."""


class InvalidReply(Exception):
    """The policy's reply is no action that this machine takes."""


class ServerError(Exception):
    """The server, the machine or the verifier failed; the episode is no sample."""


@dataclass(frozen=True)
class Step:
    """What a call gave: the observation without its picture, the picture as a data URI, and the reward."""

    observation: Mapping[str, Any]
    picture: str | None
    reward: float
    done: bool


class Session:
    """Calls tools of one session."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http, self._numbers = http, itertools.count(1)

    async def open(self) -> None:
        """Begin the session. Raises ServerError."""
        response = await self._post("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
        self._http.headers["Mcp-Session-Id"] = response.headers["mcp-session-id"]

    async def tools(self) -> list[dict[str, Any]]:
        """The actions of the machine, with their schemas. Raises ServerError."""
        tools = (await self._post("tools/list", {})).json()["result"]["tools"]
        return [tool for tool in tools if tool["name"] != "start_task"]

    async def start(self, task: str, seed: int | None) -> Step:
        """Begin a task on a fresh machine. Raises ServerError."""
        arguments = {"task": task} if seed is None else {"task": task, "seed": seed}
        return await self._call("start_task", arguments)

    async def act(self, action: Mapping[str, Any]) -> Step:
        """Do one action. Raises InvalidReply, ServerError."""
        arguments = {name: value for name, value in action.items() if name != "kind"}
        return await self._call(str(action.get("kind", "")), arguments)

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> Step:
        body = (await self._post("tools/call", {"name": name, "arguments": dict(arguments)})).json()
        if "error" in body:
            reason = body["error"].get("data", {}).get("reason", "")
            raise (InvalidReply if reason in REFUSED_ACTIONS else ServerError)(body["error"]["message"])
        result = body["result"]
        step = result["structuredContent"]
        pictures = [part for part in result["content"] if part["type"] == "image"]
        picture = f"data:{pictures[0]['mimeType']};base64,{pictures[0]['data']}" if pictures else None
        return Step(step["observation"], picture, step.get("reward") or 0.0, step["done"])

    async def _post(self, method: str, params: Mapping[str, Any]) -> httpx.Response:
        request = {"jsonrpc": "2.0", "id": next(self._numbers), "method": method, "params": params}
        try:
            response = await self._http.post("/mcp", json=request)
        except httpx.HTTPError as error:
            raise ServerError(f"the server does not answer: {error or type(error).__name__}") from error
        if response.status_code != httpx.codes.OK:
            raise ServerError(f"the server answers {response.status_code}: {response.text[:300]}")
        return response


def http_client(base_url: str) -> dict[str, Any]:
    """The settings of a client that sends the token of the environment."""
    headers = {"Authorization": f"Bearer {os.environ.get(TOKEN_VARIABLE, '')}"}
    return {"base_url": base_url, "headers": headers, "timeout": TIMEOUT_SECONDS}


def list_tasks(base_url: str) -> list[dict[str, Any]]:
    """The tasks that the server offers. Raises httpx.HTTPError."""
    with httpx.Client(**http_client(base_url)) as http:
        response = http.post("/pilothouse/tasks", json={"split": "all"})
        response.raise_for_status()
        tasks: list[dict[str, Any]] = response.json()["tasks"]
        return tasks


@asynccontextmanager
async def session(base_url: str) -> AsyncIterator[Session]:
    """A session that ends with the block; its machine is given back. Raises ServerError."""
    async with httpx.AsyncClient(**http_client(base_url)) as http:
        opened = Session(http)
        await opened.open()
        try:
            yield opened
        finally:
            await http.delete("/mcp")
