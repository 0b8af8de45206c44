"""A machine says itself how long a reset of it may take."""

import asyncio

from redis.asyncio import Redis

from tests.integration.bridge.pool_helpers import bridge_over
from tests.waiting import eventually
from vm_bridge.sandbox import Sandbox
from vm_bridge.simulators.fake.sandbox import FakeHost, FakeSandbox


class EndlessSandbox(FakeSandbox):
    """Its reset never ends by itself, and it says that it soon does."""

    reset_seconds = 0.2
    resetting = cut_short = False

    async def reset(self) -> None:
        self.resetting = True
        try:
            await asyncio.Event().wait()
        finally:
            self.cut_short = True


class EndlessHost(FakeHost):
    """Makes these."""

    async def create(self, image: str) -> Sandbox:
        sandbox = EndlessSandbox(image, name=f"endless-{len(self.made)}")
        self.made.append(sandbox)
        return sandbox


async def test_a_reset_is_given_up_when_the_machine_said_and_the_machine_replaced(redis: Redis) -> None:
    host = EndlessHost()
    async with bridge_over(host, redis) as bridge:
        lease = await bridge.lease()
        await bridge.release(lease)
        first = host.made[0]
        assert isinstance(first, EndlessSandbox)
        await eventually(lambda: first.cut_short)
        assert (await bridge.lease()).machine_id != lease.machine_id
        assert not await first.healthy()
