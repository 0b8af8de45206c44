"""A pool whose Redis fails at any of its calls loses no room: what it could not say or hear is put right later."""

from typing import Any

import pytest
from redis.asyncio import Redis
from redis.exceptions import ConnectionError as RedisAway

from tests.integration.bridge.pool_helpers import bridge_over
from tests.waiting import eventually
from vm_bridge import creation_backoff, pool
from vm_bridge.errors import NoMachine
from vm_bridge.leases.inventory import HostInventory
from vm_bridge.machine import Lease
from vm_bridge.sandbox import Sandbox
from vm_bridge.simulators.fake.sandbox import FakeHost

CAPACITY = 2
FAILURES = CAPACITY + 1
"""More in a row than there is room for."""
WAIT = 20.0
CALLS = (
    "heartbeat",
    "work",
    "reserve_creation",
    "report_creation_failure",
    "add_free_machine",
    "withdraw_free_machine",
    "mark_lost",
    "machine_records",
    "in_use",
)
RARE = {"report_creation_failure", "withdraw_free_machine", "mark_lost"}
"""Calls that are asked for once or twice."""


class UnsteadyHost(FakeHost):
    """Fails to make the first machines, so often that somebody is told."""

    failures = 0

    async def create(self, image: str) -> Sandbox:
        if self.failures < creation_backoff.MAX_FAILURES:
            self.failures += 1
            raise NoMachine("a program does not start")
        return await super().create(image)


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEARTBEAT_SECONDS", "RESTOCK_SECONDS", "HEALTH_CHECK_SECONDS"):
        monkeypatch.setattr(pool, name, 0.05)
    monkeypatch.setattr(creation_backoff, "RETRY_AFTER_SECONDS", 0.05)


@pytest.mark.parametrize("heard", [False, True], ids=["the call is lost", "the answer is lost"])
@pytest.mark.parametrize("call", CALLS)
async def test_every_place_is_leased_again_after_redis_was_away(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, call: str, heard: bool
) -> None:
    done, failures = getattr(HostInventory, call), 0

    async def unsteady(inventory: HostInventory, *args: Any, **kwargs: Any) -> Any:
        nonlocal failures
        if failures == FAILURES:
            return await done(inventory, *args, **kwargs)
        failures += 1
        if heard:
            await done(inventory, *args, **kwargs)
        raise RedisAway("Redis is away")

    monkeypatch.setattr(HostInventory, call, unsteady)
    async with bridge_over(UnsteadyHost(("desktop", "phone"), capacity=CAPACITY), redis) as bridge:
        await bridge.warm(1)
        told: list[str] = []
        for image in ("desktop", "phone", "desktop"):
            held: list[Lease] = []
            while len(held) < CAPACITY:
                try:
                    held.append(await bridge.lease(image, wait=WAIT))
                except NoMachine as error:
                    told.append(str(error))
            for lease in held:
                await bridge.release(lease)
        assert all("does not start" in words for words in told), "who waits first is told why there was none"
        await eventually(lambda: failures == FAILURES or call in RARE, WAIT)
