"""The client of sandboxes, against a server whose answers are given here."""

import asyncio
import importlib
from typing import Any

import anyio
import httpx
import pytest

from annotation_app.operations.runtime.stack import ROOT

INPUT = b"longer than one part"
COMPLETED = {
    "timed_out": False,
    "failure": None,
    "returncode": 0,
    "stdout": {"data": "b2s=", "size": 2},
    "stderr": {"data": "", "size": 0},
}


class Server:
    """Takes standard input in parts and runs one command; every later upload fails."""

    def __init__(self, *, hangs: bool) -> None:
        self._hangs = hangs
        self._executed = False

    async def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/execute"):
            self._executed = True
            if self._hangs and request.method == "POST":
                await asyncio.sleep(60)
            return httpx.Response(200, json=COMPLETED)
        if self._executed:
            raise httpx.ConnectError("the server is gone")
        return httpx.Response(204)


async def execute(client: Any, server: Server) -> Any:
    transport = httpx.MockTransport(server)
    client._http = httpx.AsyncClient(transport=transport, base_url="http://sandboxes.test")
    return await client.execute(["cat"], stdin=INPUT, cwd=None, env={}, timeout=5, max_output_bytes=100)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A client that uploads standard input in parts."""
    monkeypatch.syspath_prepend(str(ROOT / "clients" / "sandboxes_pilothouse"))
    module = importlib.import_module("pilothouse_sandboxes.client")
    monkeypatch.setattr(module, "PART_BYTES", 8)
    return module.SandboxClient("http://sandboxes.test")


async def test_a_result_survives_a_failed_clean_up(client: Any) -> None:
    assert (await execute(client, Server(hangs=False))).stdout == b"ok"


async def test_a_cancellation_survives_a_failed_clean_up(client: Any) -> None:
    with anyio.move_on_after(0.2) as scope:
        await execute(client, Server(hangs=True))
    assert scope.cancelled_caught
