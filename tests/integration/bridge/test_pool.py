"""Leases over a real Redis: claims, fences, expiry, fairness, warm machines, and machines that die."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import pytest
from redis.asyncio import Redis

from tests.waiting import eventually
from vm_bridge.drivers.fake import FakeHost, FakeSandbox
from vm_bridge.errors import MachineGone, NoMachine, StaleLease
from vm_bridge.ledger import Ledger
from vm_bridge.machine import Lease
from vm_bridge.pool import Pool
from vm_bridge.sandbox import Sandbox


@pytest.fixture
def fake_host() -> FakeHost:
    return FakeHost(("desktop", "phone"), capacity=2)


@pytest.fixture
def ended() -> list[str]:
    """The machines whose leases ended, as the pool told the streams."""
    return []


@pytest.fixture
async def pool(fake_host: FakeHost, ledger: Ledger, ended: list[str]) -> AsyncIterator[Pool]:
    async def end(machine_id: str) -> None:
        ended.append(machine_id)

    async with pool_of(fake_host, ledger, ended=end) as pool:
        yield pool


class ClumsyHost(FakeHost):
    """Fails in a way nobody foresaw, the first time."""

    failed = False

    async def create(self, image: str) -> Sandbox:
        if not self.failed:
            self.failed = True
            raise ArithmeticError("nobody thought of this")
        return await super().create(image)


async def nobody_watches(machine_id: str) -> None:
    """What the pool tells when nobody looks at a machine."""


@asynccontextmanager
async def pool_of(
    host: FakeHost,
    ledger: Ledger,
    *,
    warm: Mapping[str, int] = {},
    ended: Callable[[str], Awaitable[None]] = nobody_watches,
) -> AsyncIterator[Pool]:
    """A pool that runs."""
    pool = Pool(host, ledger, host_url="http://host", capacity=2, warm=warm, ended=ended)
    await pool.start()
    yield pool
    await pool.close()


async def lease_of(pool: Pool, image: str = "desktop", *, ttl: float = 60, wait: float = 5) -> Lease:
    return await pool.allocate(image=image, holder="somebody", ttl=ttl, wait=wait)


def sandbox_of(host: FakeHost, lease: Lease) -> FakeSandbox:
    return next(sandbox for sandbox in host.made if sandbox.id == lease.machine_id)


async def test_a_lease_lets_its_holder_drive_one_machine(pool: Pool) -> None:
    lease = await lease_of(pool)
    machine = await pool.machine(lease.machine_id, lease.fencing_token)
    assert (await machine.observe()).width == lease.capabilities.width
    assert (lease.holder, lease.image, lease.host_url) == ("somebody", "desktop", "http://host")


async def test_no_two_hold_the_same_machine(pool: Pool) -> None:
    first, second = await asyncio.gather(lease_of(pool), lease_of(pool))
    assert first.machine_id != second.machine_id
    with pytest.raises(NoMachine):
        await lease_of(pool, wait=0.2)


async def test_every_token_is_higher_than_those_before(pool: Pool) -> None:
    tokens = []
    for _ in range(4):
        lease = await lease_of(pool)
        tokens.append(lease.fencing_token)
        await pool.release(lease.machine_id, lease.fencing_token)
    assert tokens == sorted(set(tokens))


async def test_tokens_rise_even_when_redis_forgot_the_fence(pool: Pool, bridge_redis: str) -> None:
    before = await lease_of(pool)
    async with Redis.from_url(bridge_redis) as redis:
        await redis.delete("pilothouse:bridge:fence")
    after = await lease_of(pool)
    assert after.fencing_token > before.fencing_token


async def test_who_waits_is_served_first_come_first_served(pool: Pool) -> None:
    held = [await lease_of(pool), await lease_of(pool)]
    order: list[int] = []

    async def wait(number: int) -> None:
        await lease_of(pool)
        order.append(number)

    waiting = []
    for number in range(2):
        waiting.append(asyncio.create_task(wait(number)))
        await eventually(lambda: len(pool._shelves["desktop"].waiting) == len(waiting))
    for lease in held:
        await pool.release(lease.machine_id, lease.fencing_token)
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.gather(*waiting)
    assert order == [0, 1]


async def test_a_released_machine_is_reset_before_the_next_has_it(
    pool: Pool, ledger: Ledger, fake_host: FakeHost, ended: list[str]
) -> None:
    await pool.warm("desktop", 1)
    lease = await lease_of(pool)
    sandbox = sandbox_of(fake_host, lease)
    sandbox.files["secret.txt"] = "mine"
    other = await lease_of(pool)
    await pool.release(lease.machine_id, lease.fencing_token)
    again = await lease_of(pool)
    assert other.machine_id != lease.machine_id
    assert again.machine_id == lease.machine_id
    assert (sandbox.files, sandbox.resets, ended) == ({}, 1, [lease.machine_id])


async def test_releasing_twice_changes_nothing(pool: Pool) -> None:
    lease = await lease_of(pool)
    await pool.release(lease.machine_id, lease.fencing_token)
    again = await lease_of(pool)
    await pool.release(lease.machine_id, lease.fencing_token)
    await pool.machine(again.machine_id, again.fencing_token)


async def test_an_ended_lease_drives_nothing_and_cannot_be_renewed(pool: Pool) -> None:
    lease = await lease_of(pool)
    await pool.release(lease.machine_id, lease.fencing_token)
    with pytest.raises(StaleLease):
        await pool.machine(lease.machine_id, lease.fencing_token)
    with pytest.raises(StaleLease):
        await pool.renew(lease.machine_id, lease.fencing_token, ttl=60)


async def test_a_lease_that_runs_out_is_taken_back(pool: Pool, fake_host: FakeHost, ended: list[str]) -> None:
    lease = await lease_of(pool, ttl=0.2)
    sandbox = sandbox_of(fake_host, lease)
    await eventually(lambda: sandbox.resets == 1)
    assert ended == [lease.machine_id]
    with pytest.raises(StaleLease):
        await pool.machine(lease.machine_id, lease.fencing_token)


async def test_a_renewed_lease_lasts(pool: Pool, fake_host: FakeHost) -> None:
    short, other = await lease_of(pool, ttl=0.4), await lease_of(pool, ttl=0.4)
    renewed = await pool.renew(short.machine_id, short.fencing_token, ttl=60)
    assert renewed.expires_at > short.expires_at
    await eventually(lambda: sandbox_of(fake_host, other).resets == 1)
    await pool.machine(short.machine_id, short.fencing_token)


async def test_a_machine_that_died_under_its_lease_is_replaced(pool: Pool, fake_host: FakeHost) -> None:
    lease = await lease_of(pool)
    sandbox_of(fake_host, lease).crash()
    machine = await pool.machine(lease.machine_id, lease.fencing_token)
    with pytest.raises(MachineGone):
        await machine.observe()
    await pool.release(lease.machine_id, lease.fencing_token)
    again = await lease_of(pool)
    assert again.machine_id != lease.machine_id


async def test_a_machine_that_died_idle_is_replaced(pool: Pool, fake_host: FakeHost) -> None:
    await pool.warm("desktop", 1)
    await eventually(lambda: len(fake_host.made) == 1)
    fake_host.made[0].crash()
    await eventually(lambda: len(fake_host.made) == 2)
    assert (await lease_of(pool)).machine_id == fake_host.made[1].id


async def test_warm_keeps_so_many_ready(pool: Pool, fake_host: FakeHost, ledger: Ledger) -> None:
    await pool.warm("desktop", 1)
    await eventually(lambda: len(fake_host.made) == 1)
    await lease_of(pool)
    await eventually(lambda: len(fake_host.made) == 2)


async def test_the_operator_s_number_of_ready_machines_is_the_least(fake_host: FakeHost, ledger: Ledger) -> None:
    async with pool_of(fake_host, ledger, warm={"desktop": 2}) as pool:
        await pool.warm("desktop", 1)
        await eventually(lambda: len(fake_host.made) == 2)


async def test_an_idle_machine_makes_room_for_another_image(pool: Pool, fake_host: FakeHost) -> None:
    await pool.warm("desktop", 2)
    await eventually(lambda: len(fake_host.made) == 2)
    lease = await lease_of(pool, "phone")
    assert lease.image == "phone"


async def test_a_machine_lost_from_redis_is_taken_back(pool: Pool, fake_host: FakeHost, bridge_redis: str) -> None:
    lease = await lease_of(pool)
    async with Redis.from_url(bridge_redis) as redis:
        await redis.flushall()
    await eventually(lambda: sandbox_of(fake_host, lease).resets == 1)
    again = await lease_of(pool)
    assert (again.machine_id, again.fencing_token > lease.fencing_token) == (lease.machine_id, True)


async def test_a_machine_whose_making_broke_does_not_count_as_coming(ledger: Ledger) -> None:
    host = ClumsyHost()
    async with pool_of(host, ledger, warm={"desktop": 1}):
        await eventually(lambda: len(host.made) == 1)


async def test_a_machine_whose_taking_back_broke_is_taken_back(fake_host: FakeHost, ledger: Ledger) -> None:
    told: list[str] = []

    async def fails_once(machine_id: str) -> None:
        told.append(machine_id)
        if len(told) == 1:
            raise ArithmeticError("no viewer can be told")

    async with pool_of(fake_host, ledger, ended=fails_once) as pool:
        lease = await lease_of(pool)
        await pool.release(lease.machine_id, lease.fencing_token)
        await eventually(lambda: sandbox_of(fake_host, lease).resets == 1)
        assert (await lease_of(pool)).machine_id == lease.machine_id


async def test_an_unknown_image_is_refused_at_once(pool: Pool) -> None:
    with pytest.raises(NoMachine, match="toaster"):
        await lease_of(pool, "toaster")


async def test_closing_destroys_every_machine(fake_host: FakeHost, pool: Pool) -> None:
    await lease_of(pool)
    await pool.close()
    assert not any([await sandbox.healthy() for sandbox in fake_host.made])
