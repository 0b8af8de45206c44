"""The manager as clients and operators see it: places in the queue, the overview, and what an operator changes."""

import asyncio

import httpx
import pytest

from tests.integration.bridge.conftest import SECRET, RunningBridge
from tests.integration.bridge.test_client import in_queue
from vm_bridge.api.client import BridgeClient
from vm_bridge.api.wire import AllocateRequest
from vm_bridge.errors import NoMachine, StaleLease, UnknownClaim, UnknownHost
from vm_bridge.fleet import QueuePosition, Quota
from vm_bridge.machine import Lease


@pytest.fixture
async def held(client: BridgeClient, bridge: RunningBridge) -> list[Lease]:
    """Every machine there is."""
    count = bridge.config.max_machines
    return [
        await client.allocate(image="desktop", holder=f"h-{n}", user="ada", pool="forms", session=f"s-{n}")
        for n in range(count)
    ]


def claim_request(name: str, *, wait: float = 0, user: str = "ben") -> AllocateRequest:
    return AllocateRequest(image="desktop", holder=name, user=user, request_id=name, wait=wait)


async def test_who_cannot_wait_is_told_the_place(client: BridgeClient, held: list[Lease]) -> None:
    first, second = await client.claim(claim_request("one")), await client.claim(claim_request("two", user="eve"))
    assert isinstance(first, QueuePosition)
    assert isinstance(second, QueuePosition)
    assert (first.position, second.position, second.waiting) == (1, 2, 2)
    assert await client.claim_status("one") == QueuePosition.model_validate({**dict(first), "waiting": 2})


async def test_a_place_is_kept_between_two_askings(client: BridgeClient, held: list[Lease]) -> None:
    await client.claim(claim_request("one"))
    with pytest.raises(NoMachine, match="place 2 of 2"):
        await client.allocate(image="desktop", holder="two", user="eve", request_id="two", wait=0.1)
    await client.release(held[0])
    await client.release(held[1])
    given = await client.allocate(image="desktop", holder="two", user="eve", request_id="two")
    assert isinstance(given, Lease)


async def test_without_a_request_of_ones_own_the_place_is_given_up(client: BridgeClient, held: list[Lease]) -> None:
    with pytest.raises(NoMachine, match="place 1 of 1"):
        await client.allocate(image="desktop", holder="one", wait=0)
    assert await client.fleet.queue() == ()


async def test_a_claim_can_be_given_up(client: BridgeClient, held: list[Lease]) -> None:
    await client.claim(claim_request("one"))
    for _ in range(2):
        await client.cancel_claim("one")
    with pytest.raises(UnknownClaim):
        await client.claim_status("one")


async def test_the_queue_shows_who_waits(client: BridgeClient, held: list[Lease]) -> None:
    await client.claim(claim_request("one"))
    (waiter,) = await client.fleet.queue()
    assert (waiter.request_id, waiter.position, waiter.user, waiter.image) == ("one", 1, "ben", "desktop")


async def test_leases_are_renewed_together(client: BridgeClient, held: list[Lease]) -> None:
    await client.release(held[0])
    renewals = await client.renew_many(held, ttl=600)
    assert [renewal.code for renewal in renewals] == ["stale_lease", *[None] * (len(held) - 1)]
    assert all(renewal.expires_at > held[1].expires_at for renewal in renewals if renewal.expires_at)


async def test_the_overview_shows_who_has_what(client: BridgeClient, held: list[Lease]) -> None:
    machines = {machine.id: machine for machine in await client.fleet.machines()}
    one = machines[held[0].machine_id]
    assert (one.kind, one.state, one.holder, one.user, one.pool, one.session) == (
        *("desktop", "leased", "h-0", "ada", "forms", "s-0"),
    )
    assert one.fencing_token == held[0].fencing_token
    assert one.expires_at
    assert [machine.id for machine in await client.fleet.machines() if machine.session == "s-0"] == [one.id]


async def test_a_thumbnail_needs_the_secret_and_no_lease(client: BridgeClient, held: list[Lease]) -> None:
    url = (await client.fleet.machines())[0].thumbnail
    assert url
    async with httpx.AsyncClient() as http:
        assert (await http.get(url)).status_code == 401
        answer = await http.get(url, headers={"Authorization": f"Bearer {SECRET}"})
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.content[:2] == b"\xff\xd8"


async def test_a_reclaimed_machine_tells_its_holder_why(client: BridgeClient, held: list[Lease]) -> None:
    await client.fleet.reclaim(held[0].machine_id, reason="the pool was closed")
    for call in (client.renew(held[0]), client.machine(held[0]).observe()):
        with pytest.raises(StaleLease, match="the pool was closed"):
            await call


async def test_a_host_is_drained_and_filled_again(
    client: BridgeClient, bridge: RunningBridge, held: list[Lease]
) -> None:
    (host,) = await client.fleet.hosts()
    assert (host.url, host.draining, host.machines) == (bridge.url, False, len(held))
    assert host.warnings == ("secret_shared",), "it was started with the one secret of earlier versions"
    await client.fleet.set_draining(host.id, draining=True)
    await client.machine(held[0]).observe()
    await client.release(held[0])
    waiting = asyncio.create_task(client.allocate(image="desktop", holder="next"))
    await in_queue(client, 1)
    await client.fleet.set_draining(host.id, draining=False)
    assert (await waiting).machine_id != held[0].machine_id
    with pytest.raises(UnknownHost):
        await client.fleet.set_draining("nowhere", draining=True)


async def test_quotas_are_set_and_lifted(client: BridgeClient) -> None:
    await client.fleet.set_quota(Quota(scope="user", name="ada", limit=1))
    await client.allocate(image="desktop", holder="one", user="ada")
    with pytest.raises(NoMachine, match="as many as you may have"):
        await client.allocate(image="desktop", holder="two", user="ada", wait=0)
    assert await client.fleet.quotas() == (Quota(scope="user", name="ada", limit=1, held=1),)
    await client.fleet.set_quota(Quota(scope="user", name="ada", limit=None))
    await client.allocate(image="desktop", holder="two", user="ada")


async def test_the_warm_target_can_be_lowered_by_an_operator_only(client: BridgeClient) -> None:
    await client.fleet.set_warm_target(image="desktop", count=2)
    await client.warm(image="desktop", count=1)
    assert (await client.fleet.images())[0].target == 2
    await client.fleet.set_warm_target(image="desktop", count=0)
    assert (await client.fleet.images())[0].target == 0


async def test_every_call_is_described(bridge: RunningBridge) -> None:
    async with httpx.AsyncClient() as http:
        paths = (await http.get(f"{bridge.url}/openapi.json")).json()["paths"]
    calls = [call for path, methods in paths.items() if path.startswith("/v1/") for call in methods.values()]
    assert calls
    assert all(call.get("description") and "default" in call["responses"] for call in calls)
