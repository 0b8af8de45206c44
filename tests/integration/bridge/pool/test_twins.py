"""Twins get what is left, and give it up first."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.pool_helpers import Bridge, bridge_over
from tests.waiting import LIMIT, PAUSE
from vm_bridge.errors import NoMachine, StaleLease
from vm_bridge.fleet import TWIN_HOLDER, Quota
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeHost

CAPACITY = 3


@pytest.fixture
async def bridge(redis: Redis) -> AsyncIterator[Bridge]:
    """A host with room for three machines, all of which stand ready."""
    async with bridge_over(FakeHost(("desktop", "phone"), capacity=CAPACITY), redis, capacity=CAPACITY) as running:
        await running.warm(CAPACITY)
        await ready(running, CAPACITY)
        yield running


async def free_desktops(bridge: Bridge) -> int:
    return next(each.free for each in await bridge.manager.overview.images() if each.name == "desktop")


async def ready(bridge: Bridge, count: int) -> None:
    """Wait until so many desktops are free."""
    async with asyncio.timeout(LIMIT):
        while await free_desktops(bridge) < count:  # noqa: ASYNC110 - another task's state sends no event
            await asyncio.sleep(PAUSE)


async def twin(bridge: Bridge, pool: str = "") -> Lease:
    return await bridge.lease(holder=f"{TWIN_HOLDER}episode", wait=0, pool=pool)


async def test_a_twin_leaves_a_machine_for_the_next_claim(bridge: Bridge) -> None:
    await bridge.lease()
    await twin(bridge)
    with pytest.raises(NoMachine):
        await twin(bridge)
    await bridge.lease(wait=0)


@pytest.mark.parametrize("image", ["desktop", "phone"])
async def test_a_claim_takes_the_place_of_a_twin(bridge: Bridge, image: str) -> None:
    first = await bridge.lease()
    spare = await twin(bridge)
    second = await bridge.lease()
    await bridge.lease(image)
    with pytest.raises(StaleLease, match="a claim needs the place"):
        await bridge.manager.lease_guard.check(spare.machine_id, spare.fencing_token)
    for lease in (first, second):
        await bridge.manager.lease_guard.check(lease.machine_id, lease.fencing_token)


async def test_a_claim_takes_the_place_of_a_twin_in_the_quota_of_its_pool(bridge: Bridge) -> None:
    await bridge.manager.overview.set_quota(Quota(scope="pool", name="small", limit=2))
    await bridge.lease(pool="small")
    spare = await twin(bridge, pool="small")
    await bridge.lease(pool="small")
    with pytest.raises(StaleLease):
        await bridge.manager.lease_guard.check(spare.machine_id, spare.fencing_token)


async def test_a_claim_beyond_its_own_quota_takes_nothing(bridge: Bridge) -> None:
    await bridge.manager.overview.set_quota(Quota(scope="user", name="ada", limit=1))
    await bridge.lease(user="ada")
    spare = await twin(bridge)
    with pytest.raises(NoMachine):
        await bridge.lease(user="ada", wait=0.01)
    await bridge.manager.lease_guard.check(spare.machine_id, spare.fencing_token)
