"""Hosts that are lost: what claims, renewals and calls on their machines say, and when the host comes back."""

from typing import Any

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.conftest import FakeInventory, RunningBridge
from vm_bridge.api import machine_client
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeUnavailable, MachineGone, NoMachine, StaleLease
from vm_bridge.fleet import QueuePosition
from vm_bridge.leases.fleet_overview import FleetOverview
from vm_bridge.leases.guard import RedisScripts
from vm_bridge.leases.inventory import HostInventory
from vm_bridge.leases.store import ClaimRequest, LeaseStore
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeSandbox

NOBODY = "http://127.0.0.1:9"
"""The URL of a host that does not answer."""
DIED = "the node of its host died"


@pytest.fixture
async def dead(redis: Redis, bridge: RunningBridge) -> HostInventory:
    """A host beside the bridge, with one free machine, that has died unnoticed; the bridge has no machine yet."""
    inventory = HostInventory(redis, RedisScripts(redis), "dead", NOBODY)
    await inventory.register(images=("desktop",), capacity=1)
    await inventory.add_free_machine(FakeSandbox("desktop", name="m-dead"), above=0)
    return inventory


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that cannot be connected is not tried again."""
    monkeypatch.setattr(machine_client, "RETRY_DELAYS_SECONDS", ())


async def claim(leases: LeaseStore, request: str) -> Lease:
    lease = await leases.claim(ClaimRequest(request, "desktop", "h"))
    assert isinstance(lease, Lease)
    return lease


async def test_a_renewal_is_one_with_its_answer(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host is lost as soon as the ledger has renewed, before the answer is made."""
    await fake_inventory.put("m-1")
    lease = await claim(leases, "r-1")
    run = RedisScripts.run

    async def run_then_lose(self: RedisScripts, name: str, *arguments: Any) -> Any:
        answer = await run(self, name, *arguments)
        await run(self, "quit", "host-1", DIED)
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(RedisScripts, "run", run_then_lose)
        renewed = await leases.extend("m-1", lease.fencing_token, ttl=600)
    assert (renewed.machine_id, renewed.host) == ("m-1", "host-1")
    assert renewed.expires_at > lease.expires_at
    with pytest.raises(MachineGone, match=DIED):
        await leases.extend("m-1", lease.fencing_token, ttl=600)


async def test_hosts_of_one_node_are_lost_together(
    leases: LeaseStore,
    redis: Redis,
    fake_inventory: FakeInventory,
    overview: FleetOverview,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever is told of one host and claims at once is not given a machine of the other."""
    other = HostInventory(redis, RedisScripts(redis), "host-2", "http://host-2")
    await other.register(images=("desktop",), capacity=10)
    await fake_inventory.put("m-1")
    lease = await claim(leases, "r-1")
    await other.add_free_machine(FakeSandbox("desktop", name="m-2"), above=0)
    given: list[Lease | QueuePosition] = []
    run = RedisScripts.run

    async def run_then_claim(self: RedisScripts, name: str, *arguments: Any) -> Any:
        answer = await run(self, name, *arguments)
        with monkeypatch.context() as patch:
            patch.setattr(RedisScripts, "run", run)
            with pytest.raises(NoMachine, match="no image"):
                given.append(await leases.claim(ClaimRequest("r-2", "desktop", "h")))
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(RedisScripts, "run", run_then_claim)
        await overview.mark_hosts_lost([("host-1", DIED), ("host-2", DIED)])
    assert given == []
    with pytest.raises(MachineGone, match=DIED):
        await leases.extend("m-1", lease.fencing_token, ttl=60)


async def test_a_lost_host_offers_no_machine_before_it_registers(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview
) -> None:
    """A frozen node wakes in the middle of a reset: its machine would be free on a host that nobody watches."""
    await fake_inventory.put("m-1")
    await overview.mark_hosts_lost([("host-1", DIED)])
    await fake_inventory.put("m-1")
    assert await overview.images() == ()
    await fake_inventory.inventory.register(images=("desktop",), capacity=10)
    waiting = await leases.claim(ClaimRequest("r-1", "desktop", "h"))
    assert isinstance(waiting, QueuePosition)
    await fake_inventory.put("m-1")
    assert isinstance(await leases.claim_status("r-1"), Lease)


async def test_a_declined_machine_is_dropped_and_its_request_gets_another(
    leases: LeaseStore, fake_inventory: FakeInventory
) -> None:
    await fake_inventory.put("m-1", "m-2")
    first = await claim(leases, "r-1")
    await leases.decline("r-1", first.machine_id, first.fencing_token)
    assert ("drop", first.machine_id) in await fake_inventory.work()
    with pytest.raises(MachineGone, match="did not answer"):
        await leases.extend(first.machine_id, first.fencing_token, ttl=60)
    second = await claim(leases, "r-1")
    assert {first.machine_id, second.machine_id} == {"m-1", "m-2"}
    await leases.decline("r-1", first.machine_id, first.fencing_token)
    again = await claim(leases, "r-1")
    assert (again.machine_id, again.fencing_token) == (second.machine_id, second.fencing_token)


async def test_a_machine_that_was_lost_meanwhile_can_be_declined(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview
) -> None:
    await fake_inventory.put("m-1")
    first = await claim(leases, "r-1")
    await fake_inventory.inventory.mark_lost("m-1", "it died")
    await fake_inventory.put("m-2")
    with pytest.raises(StaleLease):
        await leases.claim(ClaimRequest("r-1", "desktop", "h"))
    await leases.decline("r-1", "m-1", first.fencing_token)
    assert (await claim(leases, "r-1")).machine_id == "m-2"


async def test_a_claim_passes_over_a_machine_whose_host_does_not_answer(
    client: BridgeClient, dead: HostInventory
) -> None:
    lease = await client.allocate(image="desktop", holder="tests", request_id="r-1")
    assert lease.machine_id != "m-dead"
    await client.machine(lease).observe()
    again = await client.allocate(image="desktop", holder="tests", request_id="r-1")
    assert (again.machine_id, again.fencing_token) == (lease.machine_id, lease.fencing_token)


async def test_where_no_machine_answers_in_time_there_is_none(client: BridgeClient, dead: HostInventory) -> None:
    with pytest.raises(NoMachine, match="no desktop answered"):
        await client.allocate(image="desktop", holder="tests", wait=0)
    assert [machine.holder for machine in await client.fleet.machines() if machine.holder] == []


async def test_calls_on_a_lost_host_say_why_it_is_gone(
    client: BridgeClient, bridge: RunningBridge, dead: HostInventory, leases: LeaseStore, overview: FleetOverview
) -> None:
    lease = await claim(leases, "r-1")
    assert lease.host_url == NOBODY
    machine = client.machine(lease)
    with pytest.raises(BridgeUnavailable):
        await machine.observe()  # its lease still stands
    await overview.mark_hosts_lost([("dead", DIED)])
    with pytest.raises(MachineGone, match=DIED):
        await machine.observe()
    with pytest.raises(MachineGone, match=DIED):
        await machine.files.list()
    with pytest.raises(MachineGone, match=DIED):
        async with machine.terminals.watch() as frames:
            await anext(frames)
    with pytest.raises(MachineGone, match=DIED):
        await client.start_recording(lease)


async def test_where_the_manager_does_not_answer_either_nothing_more_is_said(
    client: BridgeClient, dead: HostInventory, leases: LeaseStore
) -> None:
    lease = await claim(leases, "r-1")
    async with BridgeClient(NOBODY, "a secret") as alone:
        with pytest.raises(BridgeUnavailable):
            await alone.machine(lease).observe()
