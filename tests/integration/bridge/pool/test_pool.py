"""The machines of a host over a real Redis: kept warm, reset, adopted, drained, and replaced when they die."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.pool_helpers import Bridge, bridge_over, sandbox_of
from tests.waiting import eventually
from vm_bridge import pool
from vm_bridge.errors import BridgeUnavailable, MachineGone, NoMachine, SandboxUnavailable, StaleLease
from vm_bridge.fleet import QueuePosition
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.guard import KEY_PREFIX
from vm_bridge.leases.store import ClaimRequest
from vm_bridge.machine import Machine
from vm_bridge.sandbox import Sandbox, Usage
from vm_bridge.simulators.fake.sandbox import FakeHost, FakeSandbox


@pytest.fixture
def fake_host() -> FakeHost:
    return FakeHost(("desktop", "phone"), capacity=2)


@pytest.fixture
def ended() -> list[str]:
    """The machines whose leases ended, as the pool told the streams."""
    return []


@pytest.fixture
async def bridge(fake_host: FakeHost, redis: Redis, ended: list[str]) -> AsyncIterator[Bridge]:
    async def end(machine_id: str) -> None:
        ended.append(machine_id)

    async with bridge_over(fake_host, redis, ended=end) as bridge:
        yield bridge


class ClumsyHost(FakeHost):
    """Fails in a way nobody foresaw, the first time."""

    failed = False

    async def create(self, image: str) -> Sandbox:
        if not self.failed:
            self.failed = True
            raise ArithmeticError("nobody thought of this")
        return await super().create(image)


class BrokenHost(FakeHost):
    """Cannot make anything."""

    async def create(self, image: str) -> Sandbox:
        raise NoMachine("a program is not installed")


async def test_a_lease_lets_its_holder_drive_one_machine(bridge: Bridge) -> None:
    lease = await bridge.lease()
    machine = await bridge.machine(lease)
    assert (await machine.observe()).width == lease.capabilities.width


async def test_no_two_hold_the_same_machine(bridge: Bridge) -> None:
    first, second = await asyncio.gather(bridge.lease(), bridge.lease())
    assert first.machine_id != second.machine_id
    with pytest.raises(NoMachine):
        await bridge.lease(wait=0.2)


async def test_a_released_machine_is_reset_before_the_next_has_it(
    bridge: Bridge, fake_host: FakeHost, ended: list[str]
) -> None:
    await bridge.warm(1)
    lease, other = await bridge.lease(), await bridge.lease()
    sandbox = sandbox_of(fake_host, lease)
    sandbox.inside.files["secret.txt"] = b"mine"
    await bridge.release(lease)
    again = await bridge.lease()
    assert other.machine_id != lease.machine_id
    assert again.machine_id == lease.machine_id
    assert (sandbox.inside.files, sandbox.resets, ended) == ({}, 1, [lease.machine_id])


async def test_who_waits_has_the_machine_as_soon_as_it_is_free(bridge: Bridge) -> None:
    held = [await bridge.lease(), await bridge.lease()]
    waiting = asyncio.create_task(bridge.lease(wait=10))
    await bridge.release(held[0])
    assert (await waiting).machine_id == held[0].machine_id


async def test_who_goes_away_while_waiting_leaves_the_machine_to_the_next(bridge: Bridge) -> None:
    held = [await bridge.lease(), await bridge.lease()]
    going = asyncio.Event()
    ask = ClaimRequest("impatient", "desktop", "somebody")
    impatient = asyncio.create_task(bridge.manager.allocate(ask, wait=60, wait_disconnect=going.wait))
    patient = asyncio.create_task(bridge.lease(wait=10))
    going.set()
    assert isinstance(await impatient, QueuePosition)
    await bridge.release(held[0])
    assert (await patient).machine_id == held[0].machine_id


async def test_an_ended_lease_drives_nothing(bridge: Bridge) -> None:
    lease = await bridge.lease()
    await bridge.release(lease)
    with pytest.raises(StaleLease):
        await bridge.machine(lease)


async def test_a_lease_that_runs_out_is_taken_back(bridge: Bridge, fake_host: FakeHost, ended: list[str]) -> None:
    lease = await bridge.lease(ttl=0.2)
    sandbox = sandbox_of(fake_host, lease)
    await eventually(lambda: sandbox.resets == 1)
    assert ended == [lease.machine_id]
    with pytest.raises(StaleLease, match="ran out"):
        await bridge.machine(lease)


async def test_a_renewed_lease_lasts(bridge: Bridge, fake_host: FakeHost) -> None:
    short, other = await bridge.lease(ttl=0.4), await bridge.lease(ttl=0.4)
    renewed = await bridge.manager.leases.extend(short.machine_id, short.fencing_token, ttl=60)
    assert renewed.expires_at > short.expires_at
    await eventually(lambda: sandbox_of(fake_host, other).resets == 1)
    await bridge.machine(short)


async def test_a_machine_that_died_under_its_lease_is_replaced_and_its_holder_told(
    bridge: Bridge, fake_host: FakeHost, ended: list[str]
) -> None:
    lease = await bridge.lease()
    sandbox_of(fake_host, lease).crash()
    await eventually(lambda: lease.machine_id in ended)
    with pytest.raises(MachineGone, match="died or hung"):
        await bridge.machine(lease)
    with pytest.raises(MachineGone, match="died or hung"):
        await bridge.manager.leases.extend(lease.machine_id, lease.fencing_token, ttl=60)
    assert (await bridge.lease()).machine_id != lease.machine_id


async def test_a_machine_that_died_idle_is_replaced(bridge: Bridge, fake_host: FakeHost) -> None:
    await bridge.warm(1)
    await eventually(lambda: len(fake_host.made) == 1)
    fake_host.made[0].crash()
    await eventually(lambda: len(fake_host.made) == 2)
    assert (await bridge.lease()).machine_id == fake_host.made[1].id


async def test_warm_keeps_so_many_ready(bridge: Bridge, fake_host: FakeHost) -> None:
    await bridge.warm(1)
    await eventually(lambda: len(fake_host.made) == 1)
    await bridge.lease()
    await eventually(lambda: len(fake_host.made) == 2)


async def test_the_operator_s_number_of_ready_machines_is_the_least(bridge: Bridge, fake_host: FakeHost) -> None:
    await bridge.warm(2)
    await bridge.manager.configure(warm={"desktop": 1}, quotas=())
    await eventually(lambda: len(fake_host.made) == 2)
    assert {image.name: image.target for image in await bridge.manager.overview.images()}["desktop"] == 2


async def test_an_idle_machine_makes_room_for_another_image(bridge: Bridge, fake_host: FakeHost) -> None:
    await bridge.warm(2)
    await eventually(lambda: len(fake_host.made) == 2)
    assert (await bridge.lease("phone")).image == "phone"


async def test_a_machine_nobody_wants_again_is_destroyed(bridge: Bridge, fake_host: FakeHost) -> None:
    held = [await bridge.lease(), await bridge.lease()]
    for lease in held:
        await bridge.release(lease)
    await eventually(lambda: sum(sandbox.screen.closed for sandbox in fake_host.made) == 1)


async def test_a_machine_nobody_held_is_taken_back_where_redis_lost_its_data(
    bridge: Bridge, fake_host: FakeHost, operator: Redis
) -> None:
    await bridge.warm(1)
    await eventually(lambda: len(fake_host.made) == 1)
    await operator.flushall()
    await eventually(lambda: fake_host.made[0].resets == 1)
    assert (await bridge.lease()).machine_id == fake_host.made[0].id


async def test_a_lease_is_put_back_where_redis_lost_its_data(
    bridge: Bridge, fake_host: FakeHost, redis: Redis, operator: Redis
) -> None:
    lease = await bridge.lease(user="ada", pool="p", session="s")
    await bridge.machine(lease)
    await eventually(lambda: lease.machine_id in bridge.pool._leases)
    await operator.flushall()
    with pytest.raises(BridgeUnavailable, match="put back"):
        await LeaseGuard(redis).check(lease.machine_id, lease.fencing_token)

    async def stands() -> Machine:
        async with asyncio.timeout(30):
            while True:
                with contextlib.suppress(BridgeUnavailable):
                    return await bridge.machine(lease)
                await asyncio.sleep(0.05)

    await stands()
    (row,) = await bridge.manager.overview.machines()
    assert (row.state, row.holder, row.user, row.pool, row.session) == ("leased", lease.holder, "ada", "p", "s")
    assert sandbox_of(fake_host, lease).resets == 0
    other = await bridge.lease()
    assert other.machine_id != lease.machine_id
    assert other.fencing_token > lease.fencing_token
    await bridge.release(lease)
    await eventually(lambda: sandbox_of(fake_host, lease).resets == 1)


async def test_a_lease_that_the_lease_store_ended_is_not_restored(bridge: Bridge, redis: Redis) -> None:
    """A host that was silent for too long is forgotten with all its machines: their holders were told."""
    lease = await bridge.lease()
    await bridge.machine(lease)
    await eventually(lambda: lease.machine_id in bridge.pool._leases)
    (host,) = await bridge.manager.overview.hosts()
    await bridge.manager.overview.mark_hosts_lost([(host.id, "it fell silent")])
    await eventually(lambda: lease.machine_id not in bridge.pool._leases)
    with pytest.raises(MachineGone, match="fell silent"):
        await LeaseGuard(redis).check(lease.machine_id, lease.fencing_token)


async def test_a_machine_unknown_to_the_lease_store_is_gone_at_once(redis: Redis) -> None:
    with pytest.raises(MachineGone):
        await LeaseGuard(redis).check("m-1", 2**52)


async def test_a_machine_whose_making_broke_does_not_count_as_coming(redis: Redis) -> None:
    host = ClumsyHost()
    async with bridge_over(host, redis) as bridge:
        await bridge.warm(1)
        await eventually(lambda: len(host.made) == 1)


async def test_who_waits_is_told_why_no_machine_can_be_made(redis: Redis) -> None:
    async with bridge_over(BrokenHost(), redis) as bridge:
        for _ in range(2):
            with pytest.raises(NoMachine, match="not installed"):
                await bridge.lease()


class BareHost(FakeHost):
    """Cannot put walls around anything."""

    async def create(self, image: str) -> Sandbox:
        raise SandboxUnavailable("bubblewrap is not installed")


async def test_who_waits_is_told_by_a_code_that_walls_cannot_be_had(redis: Redis) -> None:
    async with bridge_over(BareHost(), redis) as bridge:
        for _ in range(2):
            with pytest.raises(SandboxUnavailable, match="not installed"):
                await bridge.lease()


async def test_a_machine_whose_taking_back_broke_is_taken_back(fake_host: FakeHost, redis: Redis) -> None:
    told: list[str] = []

    async def fails_once(machine_id: str) -> None:
        told.append(machine_id)
        if len(told) == 1:
            raise ArithmeticError("no viewer can be told")

    async with bridge_over(fake_host, redis, ended=fails_once) as bridge:
        lease = await bridge.lease()
        await bridge.release(lease)
        await eventually(lambda: sandbox_of(fake_host, lease).resets == 1)
        assert (await bridge.lease()).machine_id == lease.machine_id


async def test_a_drained_host_ends_idle_machines_now_and_held_ones_later(bridge: Bridge, fake_host: FakeHost) -> None:
    await bridge.warm(1)
    lease = await bridge.lease()
    await eventually(lambda: len(fake_host.made) == 2)
    held, idle = sandbox_of(fake_host, lease), next(s for s in fake_host.made if s.id != lease.machine_id)
    await bridge.manager.overview.set_draining("host-1", True)
    await eventually(lambda: idle.screen.closed)
    await (await bridge.machine(lease)).observe()
    await bridge.release(lease)
    await eventually(lambda: held.screen.closed)
    with pytest.raises(NoMachine):
        await bridge.lease(wait=0.2)
    await bridge.manager.overview.set_draining("host-1", False)
    assert await bridge.lease()


async def test_an_operator_sees_what_machines_may_take_without_a_bound(
    bridge: Bridge, fake_host: FakeHost, operator: Redis
) -> None:
    (host,) = await bridge.manager.overview.hosts()
    assert host.unbounded is None, "nothing is known before there is a machine"
    lease = await bridge.lease()
    sandbox = sandbox_of(fake_host, lease)
    for unbounded in (), ("walls", "cpu"):
        sandbox.capabilities = sandbox.capabilities.model_copy(update={"unbounded": unbounded})
        await wait_for_limits(bridge, tuple(sorted(unbounded)))
    await operator.flushdb()
    await wait_for_limits(bridge, ("cpu", "walls"))


async def test_an_operator_sees_how_old_the_browser_is(
    fake_host: FakeHost, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where no machine was made, and after its package was updated while the bridge runs."""
    monkeypatch.setattr(pool, "USAGE_REPORT_SECONDS", 0.05)
    built = 1_700_000_000.0
    async with bridge_over(fake_host, redis, browser_built=lambda: built) as bridge, asyncio.timeout(30):
        for at in (built, built + 86_400):
            built = at
            while True:
                (host,) = await bridge.manager.overview.hosts()
                if host.browser_built == datetime.fromtimestamp(at, UTC):
                    break
                await asyncio.sleep(0.02)


async def wait_for_limits(bridge: Bridge, unbounded: tuple[str, ...]) -> None:
    """Returns when the host says that its machines may take this much."""
    async with asyncio.timeout(30):
        while True:
            if [host.unbounded for host in await bridge.manager.overview.hosts()] == [unbounded]:
                return
            await asyncio.sleep(0.05)


async def test_an_unknown_image_is_refused_at_once(bridge: Bridge) -> None:
    with pytest.raises(NoMachine, match="toaster"):
        await bridge.lease("toaster")


async def test_closing_destroys_every_machine(fake_host: FakeHost, redis: Redis) -> None:
    async with bridge_over(fake_host, redis) as bridge:
        lease = await bridge.lease()
    assert not any([await sandbox.healthy() for sandbox in fake_host.made])
    with pytest.raises(MachineGone, match="shut down"):
        await LeaseGuard(redis).check(lease.machine_id, lease.fencing_token)


@pytest.mark.parametrize("verb", ["reset", "drop"])
async def test_what_was_to_be_done_to_a_machine_is_not_done_to_its_next_holder(
    bridge: Bridge, fake_host: FakeHost, redis: Redis, verb: str
) -> None:
    lease = await bridge.lease()
    await redis.rpush(f"{KEY_PREFIX}work:host-1", f"{verb} {lease.machine_id}", "want phone")
    await bridge.warm(1, "phone")
    await eventually(lambda: len(fake_host.made) == 2)
    await (await bridge.machine(lease)).observe()
    assert sandbox_of(fake_host, lease).resets == 0


class StumblingSandbox(FakeSandbox):
    """Fails in a way nobody foresaw when it is first asked what it costs."""

    asked = 0

    async def usage(self) -> Usage:
        self.asked += 1
        if self.asked == 1:
            raise ArithmeticError("nobody thought of this")
        return await super().usage()


class StumblingHost(FakeHost):
    """Makes these."""

    async def create(self, image: str) -> Sandbox:
        sandbox = StumblingSandbox(image)
        self.made.append(sandbox)
        return sandbox


async def test_a_round_that_failed_is_not_the_last(redis: Redis) -> None:
    host = StumblingHost()
    async with bridge_over(host, redis) as bridge:
        await bridge.lease()
        await eventually(lambda: isinstance(host.made[0], StumblingSandbox) and host.made[0].asked > 1, 30)
