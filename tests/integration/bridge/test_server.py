"""The HTTP face: who may call, what it refuses, and how the process ends."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.integration.bridge.conftest import SECRET, RunningBridge
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.server import MAX_BODY
from vm_bridge.machine import Lease


@pytest.fixture
async def http(bridge: RunningBridge) -> AsyncIterator[httpx.AsyncClient]:
    headers = {"Authorization": f"Bearer {SECRET}"}
    async with httpx.AsyncClient(base_url=bridge.url, headers=headers) as http:
        yield http


@pytest.fixture
async def lease(client: BridgeClient) -> Lease:
    return await client.allocate(image="desktop", holder="tests")


async def refusal(response: httpx.Response) -> tuple[int, str]:
    body = response.json()
    assert set(body) == {"code", "message"}
    return response.status_code, body["code"]


async def test_health_needs_no_secret(bridge: RunningBridge) -> None:
    async with httpx.AsyncClient() as http:
        assert (await http.get(f"{bridge.url}/healthz")).json() == {"ok": True}


@pytest.mark.parametrize("given", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": SECRET}])
async def test_calls_need_the_secret(bridge: RunningBridge, given: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=bridge.url, headers=given) as http:
        answer = await http.post("/v1/leases", json={"image": "desktop", "holder": "x"})
    assert await refusal(answer) == (401, "unauthorized")


async def test_machine_calls_need_a_token(http: httpx.AsyncClient, lease: Lease) -> None:
    url = f"/v1/machines/{lease.machine_id}/observe"
    assert await refusal(await http.post(url, json={})) == (422, "invalid")
    stale = {"X-Fencing-Token": str(lease.fencing_token + 1)}
    assert await refusal(await http.post(url, json={}, headers=stale)) == (409, "stale_lease")


@pytest.mark.parametrize(
    "body",
    [
        {"command_id": "command-1", "action": {"kind": "teleport"}},
        {"command_id": "command-1", "action": {"kind": "click", "x": "left", "y": 1}},
        {"command_id": "command-1", "action": {"kind": "click", "x": 1, "y": 1, "z": 1}},
        {"command_id": "command-1", "action": {"kind": "click", "x": 1, "y": 1}, "more": 1},
        {"command_id": "../../etc", "action": {"kind": "click", "x": 1, "y": 1}},
        {"action": {"kind": "click", "x": 1, "y": 1}},
        [],
    ],
)
async def test_a_body_that_is_not_meant_changes_nothing(
    http: httpx.AsyncClient, bridge: RunningBridge, lease: Lease, body: Any
) -> None:
    headers = {"X-Fencing-Token": str(lease.fencing_token)}
    answer = await http.post(f"/v1/machines/{lease.machine_id}/perform", json=body, headers=headers)
    assert await refusal(answer) == (422, "invalid")
    assert bridge.host.made[0].acts == []


@pytest.mark.parametrize("name", ["UPPER", "a%2Fb", "%2e%2e", "x" * 65, "a b"])
async def test_a_name_that_is_none_is_refused(http: httpx.AsyncClient, name: str) -> None:
    answer = await http.post(f"/v1/machines/{name}/hurry", headers={"X-Fencing-Token": "1"})
    assert (await refusal(answer))[0] in (404, 422)


async def test_an_unknown_machine_is_gone(http: httpx.AsyncClient) -> None:
    answer = await http.post("/v1/machines/nobody/hurry", headers={"X-Fencing-Token": "1"})
    assert await refusal(answer) == (410, "machine_gone")


async def test_a_huge_body_is_refused(http: httpx.AsyncClient, lease: Lease) -> None:
    headers = {"X-Fencing-Token": str(lease.fencing_token), "Content-Type": "application/json"}
    url = f"/v1/machines/{lease.machine_id}/perform"
    answer = await http.post(url, content=b" " * (MAX_BODY + 1), headers=headers)
    assert await refusal(answer) == (413, "too_large")


async def test_a_huge_body_of_unsaid_length_is_refused(http: httpx.AsyncClient, lease: Lease) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY // 65_536 + 1):
            yield b" " * 65_536

    headers = {"X-Fencing-Token": str(lease.fencing_token), "Content-Type": "application/json"}
    answer = await http.post(f"/v1/machines/{lease.machine_id}/perform", content=chunks(), headers=headers)
    assert await refusal(answer) == (413, "too_large")


@pytest.mark.parametrize(
    "body",
    [
        {"image": "desktop"},
        {"image": "desktop", "holder": "x", "ttl": "long"},
        {"image": "desktop", "holder": "x", "more": 1},
        {"image": "desktop", "holder": "x", "request_id": "not a name"},
        {"image": "desktop", "holder": "x", "wait": -1},
    ],
)
async def test_a_claim_that_is_not_meant_leases_nothing(
    http: httpx.AsyncClient, bridge: RunningBridge, body: Any
) -> None:
    assert await refusal(await http.post("/v1/leases", json=body)) == (422, "invalid")
    assert bridge.host.made == []


async def test_a_claim_may_come_in_pieces(http: httpx.AsyncClient) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b'{"image": "desktop",'
        yield b'"holder": "x"}'

    answer = await http.post("/v1/leases", content=pieces(), headers={"Content-Type": "application/json"})
    assert answer.json()["holder"] == "x"


@pytest.mark.parametrize("token", [None, "0", "many"])
async def test_a_release_needs_a_token(http: httpx.AsyncClient, lease: Lease, token: str | None) -> None:
    headers = {} if token is None else {"X-Fencing-Token": token}
    assert await refusal(await http.delete(f"/v1/leases/{lease.machine_id}", headers=headers)) == (422, "invalid")
    (machine,) = (await http.get("/v1/machines")).json()
    assert machine["state"] == "leased"


async def test_more_renewals_than_fit_are_refused(http: httpx.AsyncClient) -> None:
    held = {"machine_id": "m-1", "fencing_token": 1}
    for count in (0, 501):
        answer = await http.post("/v1/leases/renew", json={"leases": [held] * count})
        assert await refusal(answer) == (422, "invalid")
    renewals = (await http.post("/v1/leases/renew", json={"leases": [held] * 500})).json()
    assert {renewal["code"] for renewal in renewals} == {"machine_gone"}


async def test_the_openapi_document_names_the_calls(http: httpx.AsyncClient) -> None:
    paths = (await http.get("/openapi.json")).json()["paths"]
    assert "/v1/machines/{machine_id}/perform" in paths
    assert "/streams/webrtc" in paths


async def test_only_pages_of_the_web_app_may_read_streams(http: httpx.AsyncClient, bridge: RunningBridge) -> None:
    ask = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    ours = await http.options("/streams/webrtc", headers={**ask, "Origin": bridge.config.web_origins[0]})
    assert ours.headers["access-control-allow-origin"] == bridge.config.web_origins[0]
    theirs = await http.options("/streams/webrtc", headers={**ask, "Origin": "https://elsewhere.example"})
    assert "access-control-allow-origin" not in theirs.headers


async def test_the_process_ends_cleanly_on_sigterm(bridge_redis: str) -> None:
    environment = {
        **os.environ,
        "PILOTHOUSE_SECRET": SECRET,
        "PILOTHOUSE_REDIS_URL": bridge_redis,
        "PILOTHOUSE_MACHINES": "fake",
        "PILOTHOUSE_BRIDGE_BIND": "127.0.0.1:0",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "vm_bridge", env=environment, stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr
    async with asyncio.timeout(60):
        while b"running on" not in await process.stderr.readline():
            assert process.returncode is None
        process.send_signal(signal.SIGTERM)
        rest = await process.stderr.read()
        assert await process.wait() in (0, -signal.SIGTERM)
    assert b"Application shutdown complete" in rest
    assert SECRET.encode() not in rest


async def test_a_missing_key_is_named() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PILOTHOUSE_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "vm_bridge", env=environment, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(60):
        _, said = await process.communicate()
    assert process.returncode == 1
    assert b"PILOTHOUSE_BRIDGE_KEYS has no key" in said
