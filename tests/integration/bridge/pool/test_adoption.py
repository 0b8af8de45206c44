"""What a bridge does with the machines that the one before it left."""

import asyncio
from collections.abc import Collection
from pathlib import Path

import pytest
from redis.asyncio import Redis

from protocol.actions.types import TypeText
from tests.integration.bridge.pool_helpers import Bridge, bridge_over, no_viewers, sandbox_of
from tests.waiting import eventually
from vm_bridge.errors import MachineGone, NoMachine, StaleLease
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.guard import KEY_PREFIX, RedisScripts
from vm_bridge.leases.inventory import HostInventory, LeaseRecord, MachineDescription
from vm_bridge.leases.lease_file import LeaseFile
from vm_bridge.leases.manager import LeaseManager
from vm_bridge.pool import MachinePool
from vm_bridge.sandbox import Sandbox
from vm_bridge.simulators.fake.sandbox import FakeHost


async def test_the_next_bridge_adopts_what_an_earlier_one_left(fake_host: FakeHost, redis: Redis) -> None:
    async with bridge_over(fake_host, redis, leave=True) as bridge:
        lease = await bridge.lease()
        await (await bridge.machine(lease)).perform("command-1", TypeText(text="half done"))
    sandbox = sandbox_of(fake_host, lease)
    async with bridge_over(fake_host, redis) as bridge:
        await (await bridge.machine(lease)).observe()
        await bridge.manager.leases.extend(lease.machine_id, lease.fencing_token, ttl=60)
        assert (sandbox.typed, sandbox.resets) == ("half done", 0)


class SlowToAdopt(FakeHost):
    """Finds what was left when `found` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.found = asyncio.Event()

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        await self.found.wait()
        return await super().adopt(ids)


async def test_a_host_that_adopts_lives_and_gives_nobody_its_idle_machines(redis: Redis) -> None:
    """However long it takes: as after an upgrade, or where a machine that was left does not answer."""
    host = SlowToAdopt()
    host.found.set()
    async with bridge_over(host, redis, leave=True) as bridge:
        await bridge.warm(1)
        held = await bridge.lease()
        await eventually(lambda: len(host.made) == 2)
        await wait_for_states(bridge, {"leased", "free"})
    host.found.clear()
    pool = MachinePool(
        host,
        LeaseGuard(redis),
        HostInventory(redis, RedisScripts(redis), "host-1", "http://host-1"),
        capacity=2,
        ended=no_viewers,
    )
    starting = asyncio.create_task(pool.start())
    manager = LeaseManager(redis)
    async with manager.running():
        bridge = Bridge(pool, manager)
        await wait_for_states(bridge, {"leased", "stranded"})
        beats: set[float | None] = set()
        async with asyncio.timeout(30):
            while len(beats) < 3:
                beats.add(await redis.zscore(f"{KEY_PREFIX}hosts", "host-1"))
                await asyncio.sleep(0.05)
        with pytest.raises(NoMachine):
            await bridge.lease(wait=0.2)
        host.found.set()
        await starting
        assert (await bridge.lease()).machine_id != held.machine_id
        await (await bridge.machine(held)).observe()
    await pool.close()


async def wait_for_states(bridge: Bridge, states: set[str]) -> None:
    """Returns when the machines are seen in these states."""
    async with asyncio.timeout(30):
        while True:
            if {machine.state for machine in await bridge.manager.overview.machines()} == states:
                return
            await asyncio.sleep(0.05)


async def test_what_did_not_outlive_its_bridge_is_told_as_lost(fake_host: FakeHost, redis: Redis) -> None:
    async with bridge_over(fake_host, redis, leave=True) as bridge:
        lease = await bridge.lease()
    sandbox_of(fake_host, lease).crash()
    async with bridge_over(fake_host, redis) as bridge:
        with pytest.raises(MachineGone, match="did not outlive"):
            await bridge.machine(lease)


async def test_a_machine_released_while_no_bridge_ran_is_reset(fake_host: FakeHost, redis: Redis) -> None:
    async with bridge_over(fake_host, redis, leave=True) as bridge:
        lease = await bridge.lease()
    await LeaseManager(redis).leases.release(lease.machine_id, lease.fencing_token)
    async with bridge_over(fake_host, redis):
        await eventually(lambda: sandbox_of(fake_host, lease).resets == 1)


async def test_leases_are_put_back_where_redis_lost_its_data_while_no_bridge_ran(
    fake_host: FakeHost, redis: Redis, operator: Redis, tmp_path: Path
) -> None:
    lease_file = LeaseFile(tmp_path / "leases.json")
    async with bridge_over(fake_host, redis, leave=True, lease_file=lease_file) as bridge:
        held, lost = await bridge.lease(), await bridge.lease()
        for lease in (held, lost):
            await bridge.machine(lease)
        await eventually(lambda: len(lease_file.read()) == 2)
    await operator.flushall()
    sandbox_of(fake_host, lost).crash()
    async with bridge_over(fake_host, redis, lease_file=LeaseFile(tmp_path / "leases.json")) as bridge:
        await bridge.machine(held)
        with pytest.raises(MachineGone, match="did not outlive"):
            await bridge.machine(lost)
        extended = await bridge.manager.leases.extend(held.machine_id, held.fencing_token, ttl=60)
        assert extended.holder == held.holder
    assert sandbox_of(fake_host, held).resets == 0
    assert lease_file.read() == {}


async def test_a_lease_that_ended_before_redis_lost_nothing_is_not_put_back(
    fake_host: FakeHost, redis: Redis, tmp_path: Path
) -> None:
    lease_file = LeaseFile(tmp_path / "leases.json")
    async with bridge_over(fake_host, redis, leave=True, lease_file=lease_file) as bridge:
        lease = await bridge.lease()
        await bridge.machine(lease)
        await eventually(lambda: len(lease_file.read()) == 1)
    await LeaseManager(redis).leases.release(lease.machine_id, lease.fencing_token)
    async with bridge_over(fake_host, redis, lease_file=lease_file) as bridge:
        with pytest.raises(StaleLease):
            await bridge.machine(lease)


def test_leases_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    file = tmp_path / "leases.json"
    for text in ("", "[]", '{"leases": [{}]}', '{"capabilities": [], "leases": 3}'):
        file.write_text(text)
        assert LeaseFile(file).read() == {}


def test_leases_on_disk_are_those_of_the_last_write(tmp_path: Path) -> None:
    described = []

    def describe(machine_id: str) -> MachineDescription:
        described.append(machine_id)
        return MachineDescription(machine_id, "desktop", "", f'{{"of": "{machine_id[0]}"}}')

    first, other = (LeaseRecord(token, "r", "ada", "", "", "s") for token in (1, 2))
    file = LeaseFile(tmp_path / "leases.json")
    file.write({"a1": first, "b1": first}, describe)
    file.write({"a1": first, "b1": other, "a2": first}, describe)
    file.write({"a1": first, "b1": other, "a2": first}, describe)
    assert described == ["a1", "b1", "b1", "a2"], "an entry that stays is not made again"
    read = LeaseFile(tmp_path / "leases.json").read()
    assert {name: record for name, (_, record) in read.items()} == {"a1": first, "b1": other, "a2": first}
    assert {name: machine.capabilities for name, (machine, _) in read.items()} == {
        "a1": '{"of": "a"}',
        "b1": '{"of": "b"}',
        "a2": '{"of": "a"}',
    }
