"""A host whose room is taken by idle machines: claims of another image get all of it, whatever fails meanwhile."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.pool_helpers import Bridge, bridge_over
from tests.waiting import eventually
from vm_bridge.errors import MachineGone, NoMachine
from vm_bridge.fleet import QueuePosition
from vm_bridge.leases.store import ClaimRequest
from vm_bridge.sandbox import Sandbox
from vm_bridge.simulators.fake.sandbox import FakeHost

CAPACITY = 2


class StumblingHost(FakeHost):
    """Fails to start as many machines in a row as are to fail."""

    failures = 0

    async def create(self, image: str) -> Sandbox:
        if self.failures:
            self.failures -= 1
            raise MachineGone("the guest was killed while it started")
        return await super().create(image)


@pytest.fixture
def host() -> StumblingHost:
    return StumblingHost(("desktop", "phone"), capacity=CAPACITY)


@pytest.fixture
async def bridge(host: StumblingHost, redis: Redis) -> AsyncIterator[Bridge]:
    """One with an idle desktop in each of its places."""
    async with bridge_over(host, redis) as bridge:
        await bridge.warm(CAPACITY)
        await eventually(lambda: len(host.made) == CAPACITY)
        yield bridge


async def claim_all(bridge: Bridge) -> list[str]:
    """The images of as many phones as there is room for, claimed at once."""
    claims = [bridge.lease("phone", wait=20) for _ in range(CAPACITY)]
    return [lease.image for lease in await asyncio.gather(*claims)]


@pytest.mark.parametrize("failures", [0, 1, 2])
async def test_all_idle_machines_make_room_though_a_start_fails(
    bridge: Bridge, host: StumblingHost, failures: int
) -> None:
    host.failures = failures
    assert await claim_all(bridge) == ["phone"] * CAPACITY


async def test_all_idle_machines_make_room_where_redis_lost_its_data(bridge: Bridge, operator: Redis) -> None:
    await operator.flushall()
    waiting = [ClaimRequest(f"request-after-loss-{number}", "phone", "somebody") for number in range(CAPACITY)]

    async def granted(claim: ClaimRequest) -> None:
        while True:
            try:
                given = await bridge.manager.leases.claim(claim)
            except NoMachine:  # the host has not registered again
                given = None
            if given is not None and not isinstance(given, QueuePosition):
                return
            await asyncio.sleep(0.05)

    async with asyncio.timeout(30):
        await asyncio.gather(*map(granted, waiting))
