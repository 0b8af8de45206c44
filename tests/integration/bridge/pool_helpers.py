"""Pools of tests: one host's machines over a real Redis, with a manager beside it."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import Redis

from vm_bridge.errors import NoMachine
from vm_bridge.fleet import QueuePosition
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.guard import RedisScripts
from vm_bridge.leases.inventory import HostInventory
from vm_bridge.leases.lease_file import LeaseFile
from vm_bridge.leases.manager import LeaseManager
from vm_bridge.leases.store import ClaimRequest
from vm_bridge.machine import Lease, Machine
from vm_bridge.pool import MachinePool
from vm_bridge.simulators.fake.sandbox import FakeHost, FakeSandbox

NUMBERS = itertools.count()


async def never() -> object:
    """Who asks stays."""
    return await asyncio.get_running_loop().create_future()


@dataclass(frozen=True, slots=True)
class Bridge:
    """A pool that runs, with a manager beside it."""

    pool: MachinePool
    manager: LeaseManager

    async def lease(
        self, image: str = "desktop", *, holder: str = "somebody", ttl: float = 60, wait: float = 5, **of: str
    ) -> Lease:
        """Raises NoMachine when none is free in time. `of`: user, pool, session."""
        ask = ClaimRequest(f"request-{next(NUMBERS)}", image, holder, ttl=ttl, **of)
        given = await self.manager.allocate(ask, wait=wait, wait_disconnect=never)
        if isinstance(given, QueuePosition):
            await self.manager.leases.cancel(ask.request)
            raise NoMachine("none is free")
        return given

    async def release(self, lease: Lease) -> None:
        await self.manager.leases.release(lease.machine_id, lease.fencing_token)

    async def machine(self, lease: Lease) -> Machine:
        return await self.pool.machine(lease.machine_id, lease.fencing_token)

    async def warm(self, count: int, image: str = "desktop") -> None:
        await self.manager.overview.set_warm_target(image, count, at_least=False)


async def no_viewers(machine_id: str) -> None:
    """What the pool tells when nobody looks at a machine."""


@asynccontextmanager
async def bridge_over(
    host: FakeHost,
    redis: Redis,
    *,
    ended: Callable[[str], Awaitable[None]] = no_viewers,
    leave: bool = False,
    lease_file: LeaseFile | None = None,
    browser_built: Callable[[], float | None] = lambda: None,
    capacity: int = 2,
) -> AsyncIterator[Bridge]:
    """A bridge that runs, and with `leave` leaves its machines behind."""
    inventory = HostInventory(redis, RedisScripts(redis), "host-1", "http://host-1")
    pool = MachinePool(
        host,
        LeaseGuard(redis),
        inventory,
        capacity=capacity,
        ended=ended,
        lease_file=lease_file,
        browser_built=browser_built,
    )
    manager = LeaseManager(redis)
    await pool.start()
    async with manager.running():
        yield Bridge(pool, manager)
    await pool.close(leave=leave)


def sandbox_of(host: FakeHost, lease: Lease) -> FakeSandbox:
    return next(sandbox for sandbox in host.made if sandbox.id == lease.machine_id)
