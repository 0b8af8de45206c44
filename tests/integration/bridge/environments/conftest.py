"""A server of environments over fake machines, and a client that speaks OpenEnv's socket."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from websockets.asyncio.client import ClientConnection, connect

from agent_backend.environments.access import TokenAccess
from agent_backend.environments.server import create_app
from agent_backend.environments.sessions import SessionRegistry
from agent_backend.environments.task_catalog import TaskCatalog
from agent_backend.rollout.__main__ import parse_arguments
from agent_backend.rollout.options import build_plan
from tests.waiting import LIMIT, PAUSE, eventually
from vm_bridge.api.client import BridgeClient

TOKEN = "a token of the tests only"
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
TASKS = (
    {"id": "type-hi", "instruction": "Type hi.", "suite": "fake", "name": "type", "parameters": {"text": "hi"}},
    {"id": "answer-no", "instruction": "Say no.", "suite": "fake", "name": "answer", "parameters": {"text": "no"}},
    {"id": "short", "instruction": "Type hi.", "suite": "fake", "name": "type", "parameters": {"text": "hi"}},
    {"id": "free", "instruction": "Look around."},
)


@dataclass(frozen=True, slots=True)
class EnvironmentServer:
    """Where it is, and its sessions."""

    url: str
    sessions: SessionRegistry


@pytest.fixture
def idle_seconds() -> float:
    """How long a session may be idle."""
    return 600.0


@pytest.fixture
async def environments(client: BridgeClient, tmp_path: Path, idle_seconds: float) -> AsyncIterator[EnvironmentServer]:
    """Two sessions over the fake machines of the bridge."""
    source = tmp_path / "tasks.jsonl"
    limits = {"short": {"max_steps": 2}}
    source.write_text("".join(json.dumps({**task, **limits.get(str(task["id"]), {})}) + "\n" for task in TASKS))
    words = ("--bridge", "http://127.0.0.1:1", "--tasks", str(source), "--expert", "--out", "unused")
    catalog = TaskCatalog(build_plan(parse_arguments(words)), client)
    sessions = SessionRegistry(client, catalog, max_sessions=2, idle_seconds=idle_seconds, machine_wait_seconds=5)
    app = create_app(sessions, TokenAccess(TOKEN), port=0, resources=contextlib.nullcontext())
    config = uvicorn.Config(
        app, port=0, ws="websockets-sansio", log_config=None, access_log=False, timeout_graceful_shutdown=1
    )
    server, listener = uvicorn.Server(config), config.bind_socket()
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await eventually(lambda: server.started or serving.done())
    yield EnvironmentServer(f"http://127.0.0.1:{listener.getsockname()[1]}", sessions)
    server.should_exit = True
    await serving
    listener.close()


class Client:
    """A socket that sends a message and waits for its reply."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, kind: str, /, **data: Any) -> dict[str, Any]:
        """The reply, an error too."""
        await self.socket.send(json.dumps({"type": kind, "data": data}))
        return await self.receive()

    async def receive(self) -> dict[str, Any]:
        """The next message."""
        reply: dict[str, Any] = json.loads(await self.socket.recv())
        return reply

    async def begin(self, task: str) -> dict[str, Any]:
        """The observation of a reset."""
        return await self.do("reset", task=task)

    async def act(self, kind: str, /, **fields: Any) -> dict[str, Any]:
        """The observation of a step."""
        return await self.do("step", **{"kind": kind, **fields})

    async def do(self, kind: str, /, **data: Any) -> dict[str, Any]:
        """What an observation message holds."""
        reply = await self.send(kind, **data)
        assert reply["type"] == "observation", reply
        found: dict[str, Any] = reply["data"]
        return found


@contextlib.asynccontextmanager
async def opened(server: EnvironmentServer, query: str = "") -> AsyncIterator[Client]:
    """A connected client."""
    url = f"{server.url.replace('http', 'ws')}/ws{query}"
    async with connect(url, additional_headers=HEADERS, proxy=None) as socket:
        yield Client(socket)


async def leased_machines(client: BridgeClient) -> int:
    """How many machines of the bridge somebody holds."""
    return sum(machine.holder is not None for machine in await client.fleet.machines())


async def until_returned(client: BridgeClient) -> None:
    """Return when nobody holds a machine."""
    async with asyncio.timeout(LIMIT):
        while await leased_machines(client):  # noqa: ASYNC110 - another program's state sends no event
            await asyncio.sleep(PAUSE)


def http(server: EnvironmentServer) -> httpx.AsyncClient:
    """A client of its HTTP routes, with the token."""
    return httpx.AsyncClient(base_url=server.url, headers=HEADERS, trust_env=False)
