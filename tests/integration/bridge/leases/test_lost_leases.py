"""Leases of hosts that are silent, emptied or forgotten."""

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.conftest import FakeInventory
from tests.integration.bridge.leases.test_leases import lease_of, place_of
from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.fleet import QueuePosition
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.fleet_overview import FleetOverview
from vm_bridge.leases.guard import KEY_PREFIX
from vm_bridge.leases.store import HOST_LOST_SECONDS, HOST_SILENT_SECONDS, ClaimRequest, LeaseStore
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeSandbox


async def silence(operator: Redis, *, seconds: float) -> None:
    """As if the host had last been heard of so long ago, while managers listened."""
    await operator.hset(f"{KEY_PREFIX}listening", mapping={"since": 1, "last": 10**15})
    await operator.zincrby(f"{KEY_PREFIX}hosts", -seconds * 1000, "host-1")


async def test_machines_of_a_silent_host_are_given_to_nobody(
    leases: LeaseStore, fake_inventory: FakeInventory, operator: Redis, overview: FleetOverview
) -> None:
    await fake_inventory.put("m-1")
    await silence(operator, seconds=HOST_SILENT_SECONDS + 1)
    await leases.expire()
    await place_of(leases, "r-1")
    assert [machine.state for machine in await overview.machines()] == ["stranded"]


@pytest.mark.parametrize("draining", [True, False])
async def test_what_a_host_that_is_emptied_adopts_ends_and_is_given_to_nobody(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview, draining: bool
) -> None:
    """It was drained while it adopted, when its idle machines were stranded."""
    await fake_inventory.put("m-1")
    await fake_inventory.inventory.register(images=("desktop",), capacity=10)
    await place_of(leases, "r-1")
    await overview.set_draining("host-1", draining)
    assert await fake_inventory.inventory.adopt(FakeSandbox("desktop", name="m-1")) == "stranded"
    assert isinstance(await leases.claim_status("r-1"), QueuePosition if draining else Lease)
    assert [machine.state for machine in await overview.machines()] == ["draining" if draining else "leased"]
    assert (("drop", "m-1") in await fake_inventory.work()) == draining


async def test_a_silence_to_which_nobody_listened_costs_nothing(
    leases: LeaseStore, fake_inventory: FakeInventory, operator: Redis, lease_guard: LeaseGuard
) -> None:
    await fake_inventory.put("m-1")
    lease = await lease_of(leases, "r-1", ttl=3600)
    await silence(operator, seconds=HOST_LOST_SECONDS + 1)
    await operator.delete(f"{KEY_PREFIX}listening")
    await leases.expire()
    await lease_guard.check("m-1", lease.fencing_token)


async def test_machines_of_a_host_that_stays_silent_are_lost(
    leases: LeaseStore, fake_inventory: FakeInventory, operator: Redis, overview: FleetOverview
) -> None:
    await fake_inventory.put("m-1")
    lease = await lease_of(leases, "r-1", ttl=3600)
    await silence(operator, seconds=HOST_LOST_SECONDS + 1)
    await leases.expire()
    with pytest.raises(MachineGone, match="fell silent"):
        await leases.extend("m-1", lease.fencing_token, ttl=60)
    assert (await overview.hosts(), await overview.machines()) == ((), ())
    with pytest.raises(NoMachine):
        await leases.claim(ClaimRequest("r-2", "desktop", "h"))


async def test_a_host_that_was_forgotten_is_known_again_only_as_a_whole(
    fake_inventory: FakeInventory, overview: FleetOverview
) -> None:
    await fake_inventory.inventory.deregister("its node died")
    await fake_inventory.inventory.report_host(unbounded='["cpu"]')  # it lives, and has not heard of it
    assert await overview.hosts() == ()
    assert not await fake_inventory.inventory.heartbeat(), "it is told to register"
    await fake_inventory.inventory.register(images=("desktop",), capacity=1)
    assert [host.id for host in await overview.hosts()] == ["host-1"]
