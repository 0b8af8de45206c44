"""Hosts that are lost: what claims, renewals and calls on their machines say, and when the host comes back."""

from typing import Any

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.conftest import RunningBridge, Shelf
from vm_bridge import client as client_module
from vm_bridge.client import BridgeClient
from vm_bridge.drivers.fake import FakeSandbox
from vm_bridge.errors import BridgeUnavailable, MachineGone, NoMachine, StaleLease
from vm_bridge.fleet import Waiting
from vm_bridge.ledger.leases import Ask, Leases
from vm_bridge.ledger.overview import Overview
from vm_bridge.ledger.scripts import Scripts
from vm_bridge.ledger.shelves import Shelves
from vm_bridge.machine import Lease

NOBODY = "http://127.0.0.1:9"
"""The URL of a host that does not answer."""
DIED = "the node of its host died"


@pytest.fixture
async def dead(redis: Redis, bridge: RunningBridge) -> Shelves:
    """A host beside the bridge, with one free machine, that has died unnoticed; the bridge has no machine yet."""
    shelves = Shelves(redis, Scripts(redis), "dead", NOBODY)
    await shelves.register(images=("desktop",), capacity=1)
    await shelves.shelve(FakeSandbox("desktop", name="m-dead"), above=0)
    return shelves


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that cannot be connected is not tried again."""
    monkeypatch.setattr(client_module, "PAUSES", ())


async def claim(leases: Leases, request: str) -> Lease:
    lease = await leases.claim(Ask(request, "desktop", "h"))
    assert isinstance(lease, Lease)
    return lease


async def test_a_renewal_is_one_with_its_answer(
    leases: Leases, shelf: Shelf, overview: Overview, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host is lost as soon as the ledger has renewed, before the answer is made."""
    await shelf.put("m-1")
    lease = await claim(leases, "r-1")
    run = Scripts.run

    async def run_then_lose(self: Scripts, name: str, *arguments: Any) -> Any:
        answer = await run(self, name, *arguments)
        await run(self, "quit", "host-1", DIED)
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(Scripts, "run", run_then_lose)
        renewed = await leases.extend("m-1", lease.fencing_token, ttl=600)
    assert (renewed.machine_id, renewed.host) == ("m-1", "host-1")
    assert renewed.expires_at > lease.expires_at
    with pytest.raises(MachineGone, match=DIED):
        await leases.extend("m-1", lease.fencing_token, ttl=600)


async def test_hosts_of_one_node_are_lost_together(
    leases: Leases, redis: Redis, shelf: Shelf, overview: Overview, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever is told of one host and claims at once is not given a machine of the other."""
    other = Shelves(redis, Scripts(redis), "host-2", "http://host-2")
    await other.register(images=("desktop",), capacity=10)
    await shelf.put("m-1")
    lease = await claim(leases, "r-1")
    await other.shelve(FakeSandbox("desktop", name="m-2"), above=0)
    given: list[Lease | Waiting] = []
    run = Scripts.run

    async def run_then_claim(self: Scripts, name: str, *arguments: Any) -> Any:
        answer = await run(self, name, *arguments)
        with monkeypatch.context() as patch:
            patch.setattr(Scripts, "run", run)
            with pytest.raises(NoMachine, match="no image"):
                given.append(await leases.claim(Ask("r-2", "desktop", "h")))
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(Scripts, "run", run_then_claim)
        await overview.hosts_lost([("host-1", DIED), ("host-2", DIED)])
    assert given == []
    with pytest.raises(MachineGone, match=DIED):
        await leases.extend("m-1", lease.fencing_token, ttl=60)


async def test_a_host_that_was_forgotten_shelves_nothing_before_it_registers(
    leases: Leases, shelf: Shelf, overview: Overview
) -> None:
    """A frozen node wakes in the middle of a reset: its machine would be free on a host that nobody watches."""
    await shelf.put("m-1")
    await overview.hosts_lost([("host-1", DIED)])
    await shelf.put("m-1")
    assert await overview.images() == ()
    await shelf.shelves.register(images=("desktop",), capacity=10)
    waiting = await leases.claim(Ask("r-1", "desktop", "h"))
    assert isinstance(waiting, Waiting)
    await shelf.put("m-1")
    assert isinstance(await leases.look("r-1"), Lease)


async def test_a_declined_machine_is_dropped_and_its_request_gets_another(leases: Leases, shelf: Shelf) -> None:
    await shelf.put("m-1", "m-2")
    first = await claim(leases, "r-1")
    await leases.decline("r-1", first.machine_id, first.fencing_token)
    assert ("drop", first.machine_id) in await shelf.work()
    with pytest.raises(MachineGone, match="did not answer"):
        await leases.extend(first.machine_id, first.fencing_token, ttl=60)
    second = await claim(leases, "r-1")
    assert {first.machine_id, second.machine_id} == {"m-1", "m-2"}
    await leases.decline("r-1", first.machine_id, first.fencing_token)
    again = await claim(leases, "r-1")
    assert (again.machine_id, again.fencing_token) == (second.machine_id, second.fencing_token)


async def test_a_machine_that_was_lost_meanwhile_can_be_declined(
    leases: Leases, shelf: Shelf, overview: Overview
) -> None:
    await shelf.put("m-1")
    first = await claim(leases, "r-1")
    await shelf.shelves.lose("m-1", "it died")
    await shelf.put("m-2")
    with pytest.raises(StaleLease):
        await leases.claim(Ask("r-1", "desktop", "h"))
    await leases.decline("r-1", "m-1", first.fencing_token)
    assert (await claim(leases, "r-1")).machine_id == "m-2"


async def test_a_claim_passes_over_a_machine_whose_host_does_not_answer(client: BridgeClient, dead: Shelves) -> None:
    lease = await client.allocate(image="desktop", holder="tests", request_id="r-1")
    assert lease.machine_id != "m-dead"
    await client.machine(lease).observe()
    again = await client.allocate(image="desktop", holder="tests", request_id="r-1")
    assert (again.machine_id, again.fencing_token) == (lease.machine_id, lease.fencing_token)


async def test_where_no_machine_answers_in_time_there_is_none(client: BridgeClient, dead: Shelves) -> None:
    with pytest.raises(NoMachine, match="no desktop answered"):
        await client.allocate(image="desktop", holder="tests", wait=0)
    assert [machine.holder for machine in await client.fleet.machines() if machine.holder] == []


async def test_calls_on_a_lost_host_say_why_it_is_gone(
    client: BridgeClient, bridge: RunningBridge, dead: Shelves, leases: Leases, overview: Overview
) -> None:
    lease = await claim(leases, "r-1")
    assert lease.host_url == NOBODY
    machine = client.machine(lease)
    with pytest.raises(BridgeUnavailable):
        await machine.observe()  # its lease still stands
    await overview.hosts_lost([("dead", DIED)])
    with pytest.raises(MachineGone, match=DIED):
        await machine.observe()
    with pytest.raises(MachineGone, match=DIED):
        await machine.files.list()
    with pytest.raises(MachineGone, match=DIED):
        async with machine.terminals.watch() as frames:
            await anext(frames)
    with pytest.raises(MachineGone, match=DIED):
        await client.record_start(lease)


async def test_where_the_manager_does_not_answer_either_nothing_more_is_said(
    client: BridgeClient, dead: Shelves, leases: Leases
) -> None:
    lease = await claim(leases, "r-1")
    async with BridgeClient(NOBODY, "a secret") as alone:
        with pytest.raises(BridgeUnavailable):
            await alone.machine(lease).observe()
