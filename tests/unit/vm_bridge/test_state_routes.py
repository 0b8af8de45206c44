"""Pictures and states over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest_asyncio

from protocol.actions.types import MoveTo
from protocol.blobs import BlobRef
from protocol.trajectory.observations import Observation
from vm_bridge.api.server import Bridge, create_api
from vm_bridge.api.state_routes import state_routes
from vm_bridge.api.wire import unpack_response
from vm_bridge.host_keys import MANAGER, CallSigner, CallVerifier, derive_key
from vm_bridge.machine import Machine
from vm_bridge.simulators.fake.sandbox import FakeSandbox

PATH = "/v1/machines/fake-1"


@pytest_asyncio.fixture
async def sandbox() -> FakeSandbox:
    return FakeSandbox("desktop")


@pytest_asyncio.fixture
async def client(sandbox: FakeSandbox) -> AsyncIterator[httpx.AsyncClient]:
    async def leased(_: str, token: int, driver: int | None) -> Machine:
        return sandbox.bind(token)

    async def ping() -> None:
        return None

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        yield

    key = derive_key("m" * 32, "host-1")
    bridge = Bridge(
        manager_callers=CallVerifier(MANAGER, ()),
        machine_callers=CallVerifier("host-1", (key,), audience="http://bridge"),
        web_origins=(),
        ping=ping,
        suite_tasks=lambda *_: (),
        machine_routers=(state_routes(leased),),
    )
    headers = {"Authorization": CallSigner("m" * 32).for_host("host-1", "http://bridge"), "X-Fencing-Token": "7"}
    transport = httpx.ASGITransport(create_api(bridge, lifespan))
    async with httpx.AsyncClient(transport=transport, base_url="http://bridge", headers=headers) as client:
        yield client


async def test_the_present_picture_and_then_only_that_it_is_the_same(
    client: httpx.AsyncClient, sandbox: FakeSandbox
) -> None:
    first = await client.get(f"{PATH}/screenshot")
    name = BlobRef.of(first.content, "image/jpeg").sha256
    assert first.headers["ETag"] == f'"{name}"'
    again = await client.get(f"{PATH}/screenshot", params={"since": name})
    assert (again.status_code, again.content) == (304, b"")
    await sandbox.bind(7).perform("command-1", MoveTo(x=5, y=5))
    changed = await client.get(f"{PATH}/screenshot", params={"since": name})
    assert changed.status_code == 200
    assert changed.content != first.content


async def test_who_has_no_right_gets_no_picture(client: httpx.AsyncClient, sandbox: FakeSandbox) -> None:
    await sandbox.bind(9).observe()
    assert (await client.get(f"{PATH}/screenshot")).json()["code"] == "stale_lease"
    wrong = {"Authorization": "Bearer wrong", "X-Fencing-Token": "9"}
    assert (await client.get(f"{PATH}/screenshot", headers=wrong)).status_code == 401
    assert (await client.get(f"{PATH}/screenshot", params={"since": "../secret"})).status_code in (409, 422)


async def test_a_state_is_kept_and_returned_to(client: httpx.AsyncClient, sandbox: FakeSandbox) -> None:
    kept = await client.post(f"{PATH}/snapshot")
    before = (await client.get(f"{PATH}/screenshot")).content
    await sandbox.bind(7).perform("command-1", MoveTo(x=5, y=5))
    text, blobs = unpack_response((await client.post(f"{PATH}/restore", json=kept.json())).content)
    picture = Observation.model_validate_json(text).screenshot
    assert picture is not None
    assert blobs[picture.sha256] == before
    missing = await client.post(f"{PATH}/restore", json={**kept.json(), "id": "none"})
    assert (missing.status_code, missing.json()["code"]) == (409, "cannot_restore")
