"""Hosts that are lost: what claims and renewals say, and when the host comes back."""

from typing import Any

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.conftest import Shelf
from vm_bridge.drivers.fake import FakeSandbox
from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.fleet import Waiting
from vm_bridge.ledger.leases import Ask, Leases
from vm_bridge.ledger.overview import Overview
from vm_bridge.ledger.scripts import Scripts
from vm_bridge.ledger.shelves import Shelves
from vm_bridge.machine import Lease

DIED = "the node of its host died"


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
