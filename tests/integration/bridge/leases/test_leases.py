"""Leases in a real Redis: claims, tokens, the fair queue, quotas, renewals, and what ends a lease."""

import asyncio

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.conftest import FakeInventory
from vm_bridge.errors import CommandConflict, MachineGone, NoMachine, StaleLease, UnknownClaim
from vm_bridge.fleet import QueuePosition, Quota
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.fleet_overview import FleetOverview
from vm_bridge.leases.guard import KEY_PREFIX
from vm_bridge.leases.store import ClaimRequest, LeaseStore
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.sandbox import FakeSandbox


async def lease_of(leases: LeaseStore, request: str, *, user: str = "", pool: str = "", ttl: float = 60.0) -> Lease:
    """A lease that is there at once."""
    lease = await leases.claim(
        ClaimRequest(request, "desktop", f"holder of {request}", user, pool, f"s-{request}", ttl)
    )
    assert isinstance(lease, Lease)
    return lease


async def place_of(leases: LeaseStore, request: str, *, user: str = "", pool: str = "") -> QueuePosition:
    """A place in the queue, where nothing is free."""
    waiting = await leases.claim(ClaimRequest(request, "desktop", f"holder of {request}", user, pool))
    assert isinstance(waiting, QueuePosition)
    return waiting


async def served(leases: LeaseStore, fake_inventory: FakeInventory, requests: list[str]) -> list[str]:
    """Who gets one machine after the other."""
    order = []
    for number in range(len(requests)):
        await fake_inventory.put(f"next-{number}")
        order += [r for r in requests if r not in order and isinstance(await leases.claim_status(r), Lease)]
    return order


async def vanish(operator: Redis, request: str, *, seconds: float) -> None:
    """As if who waits had last been heard of so long ago."""
    await operator.zincrby(f"{KEY_PREFIX}waiters", -seconds * 1000, request)


async def test_of_many_at_once_each_has_a_machine_of_its_own(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    await fake_inventory.put(*(f"m-{number}" for number in range(20)))
    given = await asyncio.gather(*(leases.claim(ClaimRequest(f"r-{n}", "desktop", "h")) for n in range(30)))
    held = [lease.machine_id for lease in given if isinstance(lease, Lease)]
    assert (len(held), len(set(held))) == (20, 20)


async def test_a_lease_says_whose_it_is_and_where_its_calls_go(
    leases: LeaseStore, fake_inventory: FakeInventory
) -> None:
    await fake_inventory.put("m-1")
    lease = await lease_of(leases, "r-1")
    assert (lease.machine_id, lease.holder) == ("m-1", "holder of r-1")
    assert (lease.host, lease.host_url) == ("host-1", "http://host-1")


async def test_asking_again_gives_the_same_lease(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    await fake_inventory.put("m-1", "m-2")
    first, again = await lease_of(leases, "r-1"), await lease_of(leases, "r-1")
    assert (again.machine_id, again.fencing_token) == (first.machine_id, first.fencing_token)
    with pytest.raises(CommandConflict):
        await leases.claim(ClaimRequest("r-1", "phone", "h"))


async def test_asking_again_after_the_end_gives_nothing(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    await fake_inventory.put("m-1", "m-2")
    lease = await lease_of(leases, "r-1")
    await leases.release(lease.machine_id, lease.fencing_token)
    with pytest.raises(StaleLease):
        await leases.claim(ClaimRequest("r-1", "desktop", "h"))


async def test_tokens_rise_even_when_redis_forgets_everything(
    leases: LeaseStore, fake_inventory: FakeInventory, operator: Redis
) -> None:
    await fake_inventory.put("m-1", "m-2")
    tokens = [(await lease_of(leases, f"r-{n}")).fencing_token for n in range(2)]
    await operator.flushall()
    await fake_inventory.inventory.register(images=("desktop",), capacity=1)
    await fake_inventory.put("m-1")
    tokens.append((await lease_of(leases, "r-3")).fencing_token)
    assert tokens == sorted(set(tokens))


async def test_tokens_rise_above_what_a_host_has_seen(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    await fake_inventory.put("m-1")
    far = (await lease_of(leases, "r-1")).fencing_token + 10**9
    await fake_inventory.inventory.add_free_machine(FakeSandbox("desktop", name="m-2"), above=far)
    assert (await lease_of(leases, "r-2")).fencing_token > far


async def test_who_waits_is_told_the_place_and_served_in_order(
    leases: LeaseStore, fake_inventory: FakeInventory
) -> None:
    places = [(await place_of(leases, request)).position for request in ("r-1", "r-2", "r-3")]
    assert places == [1, 2, 3]
    assert await served(leases, fake_inventory, ["r-1", "r-2", "r-3"]) == ["r-1", "r-2", "r-3"]


async def test_who_asks_for_many_does_not_starve_who_asks_for_one(
    leases: LeaseStore, fake_inventory: FakeInventory
) -> None:
    many = [f"many-{n}" for n in range(5)]
    for request in many:
        await place_of(leases, request, user="greedy")
    await place_of(leases, "one", user="modest")
    assert (await served(leases, fake_inventory, [*many, "one"])).index("one") <= 1


async def test_two_who_ask_for_many_take_turns(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    requests = [f"{user}-{n}" for user in ("a", "b") for n in range(4)]
    for request in requests:
        await place_of(leases, request, user=request[0])
    assert "".join(request[0] for request in await served(leases, fake_inventory, requests)) == "abababab"


async def test_the_wait_is_estimated_by_the_pace(
    leases: LeaseStore, fake_inventory: FakeInventory, operator: Redis
) -> None:
    for number in range(4):
        assert (await place_of(leases, f"r-{number}")).estimated_seconds is None
    await fake_inventory.put("m-1")
    await operator.hincrby(f"{KEY_PREFIX}pace:desktop", "last", -10_000)
    await fake_inventory.put("m-2")
    second = await place_of(leases, "r-3")
    assert second.position == 2
    assert second.estimated_seconds == pytest.approx(20, abs=2)


async def test_who_vanished_is_passed_over_and_keeps_the_place_for_a_moment(
    leases: LeaseStore, fake_inventory: FakeInventory, operator: Redis
) -> None:
    for request in ("gone", "there"):
        await place_of(leases, request)
    await leases.mark_waiter_gone("gone")
    await fake_inventory.put("m-1")
    assert isinstance(await leases.claim_status("there"), Lease)
    assert (await place_of(leases, "gone")).position == 1, "it came back"
    await vanish(operator, "gone", seconds=30)
    await leases.expire()
    with pytest.raises(UnknownClaim):
        await leases.claim_status("gone")


async def test_a_user_whose_claims_vanished_is_not_charged_for_them(
    leases: LeaseStore, fake_inventory: FakeInventory, operator: Redis
) -> None:
    for number in range(5):
        await place_of(leases, f"gone-{number}", user="a")
    await place_of(leases, "keeps-the-queue", user="b")
    for number in range(5):
        await vanish(operator, f"gone-{number}", seconds=30)
    await leases.expire()
    await place_of(leases, "b-2", user="b")
    await place_of(leases, "back", user="a")
    assert (await served(leases, fake_inventory, ["keeps-the-queue", "b-2", "back"])).index("back") <= 1


async def test_a_machine_given_to_who_vanished_runs_out_soon(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    await place_of(leases, "r-1")
    await fake_inventory.put("m-1")
    lease = await leases.claim_status("r-1")
    assert isinstance(lease, Lease)
    picked_up = await lease_of(leases, "r-1")
    assert (picked_up.expires_at - lease.expires_at).total_seconds() > 40


async def test_a_user_holds_no_more_than_the_quota(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview
) -> None:
    await overview.set_quota(Quota(scope="user", name="ada", limit=1))
    await fake_inventory.put("m-1", "m-2", "m-3")
    first = await lease_of(leases, "r-1", user="ada")
    assert (await place_of(leases, "r-2", user="ada")).why == "user_quota"
    await lease_of(leases, "r-3", user="ben")
    await leases.release(first.machine_id, first.fencing_token)
    assert isinstance(await leases.claim_status("r-2"), Lease)


async def test_who_is_over_quota_keeps_nobody_else_waiting(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview
) -> None:
    await overview.set_quota(Quota(scope="pool", name="*", limit=1))
    await fake_inventory.put("m-1", "m-2")
    await lease_of(leases, "r-1", pool="one")
    assert (await place_of(leases, "r-2", pool="one")).why == "pool_quota"
    second = await leases.claim(ClaimRequest("r-3", "desktop", "h", "", "two"))
    assert isinstance(second, Lease)


async def test_a_lifted_quota_serves_who_waited_for_it(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview
) -> None:
    await overview.set_quota(Quota(scope="user", name="*", limit=0))
    await fake_inventory.put("m-1")
    await place_of(leases, "r-1", user="ada")
    await overview.set_quota(Quota(scope="user", name="*", limit=None))
    assert isinstance(await leases.claim_status("r-1"), Lease)


async def test_written_quotas_are_set_when_they_changed(overview: FleetOverview) -> None:
    written = [Quota(scope="user", name="*", limit=4)]
    await overview.configure_quotas(written)
    by_call = Quota(scope="user", name="*", limit=9)
    await overview.set_quota(by_call)
    await overview.configure_quotas(written)
    assert await overview.quotas() == (by_call,)
    await overview.configure_quotas([Quota(scope="user", name="*", limit=5)])
    assert [quota.limit for quota in await overview.quotas()] == [5]


async def test_many_leases_are_renewed_at_once_each_with_its_own_answer(
    leases: LeaseStore, fake_inventory: FakeInventory
) -> None:
    await fake_inventory.put("m-1", "m-2")
    kept, ended = await lease_of(leases, "r-1"), await lease_of(leases, "r-2")
    await leases.release(ended.machine_id, ended.fencing_token)
    held = [(lease.machine_id, lease.fencing_token) for lease in (kept, ended)]
    renewed, refused = await leases.renew([*held], ttl=120)
    assert renewed.expires_at
    assert renewed.expires_at > kept.expires_at
    assert (refused.expires_at, refused.code) == (None, "stale_lease")


async def test_a_lease_that_ran_out_is_ended_and_its_host_told(
    leases: LeaseStore, fake_inventory: FakeInventory, lease_guard: LeaseGuard
) -> None:
    await fake_inventory.put("m-1")
    lease = await lease_of(leases, "r-1", ttl=0)
    with pytest.raises(StaleLease):
        await lease_guard.check("m-1", lease.fencing_token)
    assert (await leases.expire())[0] == 1
    assert ("reset", "m-1") in await fake_inventory.work()
    with pytest.raises(StaleLease, match="ran out"):
        await leases.extend("m-1", lease.fencing_token, ttl=60)


async def test_several_reapers_end_a_lease_once(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    await fake_inventory.put(*(f"m-{number}" for number in range(10)))
    for number in range(10):
        await lease_of(leases, f"r-{number}", ttl=0)
    ended = await asyncio.gather(*(leases.expire() for _ in range(5)))
    assert sum(count for count, _ in ended) == 10
    assert len(await fake_inventory.work()) == 10


async def test_the_reaper_knows_when_the_next_lease_ends(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    await fake_inventory.put("m-1")
    assert await leases.expire() == (0, None)
    await lease_of(leases, "r-1", ttl=60)
    _, rest = await leases.expire()
    assert rest
    assert 50 < rest <= 60


async def test_releasing_twice_ends_one_lease(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview
) -> None:
    await fake_inventory.put("m-1")
    lease = await lease_of(leases, "r-1", user="ada")
    await overview.set_quota(Quota(scope="user", name="ada", limit=5))
    for _ in range(2):
        await leases.release(lease.machine_id, lease.fencing_token)
    assert (await overview.quotas())[0].held == 0
    assert len(await fake_inventory.work()) == 1


async def test_a_cancelled_request_gives_back_what_it_got(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    await fake_inventory.put("m-1")
    await lease_of(leases, "r-1")
    await leases.cancel("r-1")
    assert await fake_inventory.work() == [("reset", "m-1")]
    await place_of(leases, "r-2")
    await leases.cancel("r-2")
    with pytest.raises(UnknownClaim):
        await leases.claim_status("r-2")


async def test_a_holder_is_told_why_its_machine_was_taken(
    leases: LeaseStore, fake_inventory: FakeInventory, lease_guard: LeaseGuard
) -> None:
    await fake_inventory.put("m-1")
    lease = await lease_of(leases, "r-1")
    assert await leases.reclaim("m-1", "needed for a demonstration")
    with pytest.raises(StaleLease, match="needed for a demonstration"):
        await lease_guard.check("m-1", lease.fencing_token)
    assert not await leases.reclaim("m-1", "again")


async def test_a_holder_is_told_that_its_machine_died(
    leases: LeaseStore, fake_inventory: FakeInventory, lease_guard: LeaseGuard, overview: FleetOverview
) -> None:
    await fake_inventory.put("m-1")
    lease = await lease_of(leases, "r-1")
    await fake_inventory.inventory.mark_lost("m-1", "m-1 hung")
    with pytest.raises(MachineGone, match="m-1 hung"):
        await lease_guard.check("m-1", lease.fencing_token)
    with pytest.raises(MachineGone, match="m-1 hung"):
        await leases.extend("m-1", lease.fencing_token, ttl=60)
    (loss,) = await overview.losses()
    assert (loss.machine_id, loss.session, loss.reason) == ("m-1", "s-r-1", "m-1 hung")


async def test_a_session_knows_its_machine(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview
) -> None:
    await fake_inventory.put("m-1", "m-2")
    lease = await lease_of(leases, "r-1")
    (machine,) = await overview.machines(session="s-r-1")
    assert (machine.id, machine.state, machine.fencing_token) == (lease.machine_id, "leased", lease.fencing_token)
    await leases.release(lease.machine_id, lease.fencing_token)
    assert await overview.machines(session="s-r-1") == ()


async def test_a_queue_has_an_end(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    for number in range(200):
        await place_of(leases, f"r-{number}", user="greedy")
    with pytest.raises(NoMachine, match="too many"):
        await place_of(leases, "r-200", user="greedy")
    await place_of(leases, "other", user="modest")


async def test_who_listens_hears_of_what_was_given(leases: LeaseStore, fake_inventory: FakeInventory) -> None:
    heard: asyncio.Queue[str | None] = asyncio.Queue(100)

    async def listen() -> None:
        async for request in leases.notifications():
            heard.put_nowait(request)

    listening = asyncio.create_task(listen())
    async with asyncio.timeout(15):
        assert await heard.get() is None, "it listens"
        await place_of(leases, "r-1")
        await fake_inventory.put("m-1")
        while (request := await heard.get()) is None:
            pass
    listening.cancel()
    assert request == "r-1"


async def spares(fake_inventory: FakeInventory, round_: str) -> int:
    """How many machines the host begins to make now, each counted as coming."""
    names = (f"{round_}-{number}" for number in range(20))
    begun = [await fake_inventory.inventory.reserve_creation("desktop", name, urgent=False) for name in names]
    return sum(begun)


async def test_as_many_are_kept_warm_as_people_came_within_a_minute(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview, operator: Redis
) -> None:
    await fake_inventory.put("m-0", "m-1", "m-2")
    await overview.set_warm_target("desktop", 1, at_least=True)
    for number, (user, pool) in enumerate((("", "forms"), ("rollout", ""), ("sandbox", ""))):
        await lease_of(leases, f"r-{number}", user=user, pool=pool)
    assert await spares(fake_inventory, "programs") == 1, "claims of programs do not count"
    await fake_inventory.put(*(f"m-{number}" for number in range(3, 8)))
    for number in range(5):
        await lease_of(leases, f"p-{number}", user=f"person-{number}", pool="forms")
    assert await spares(fake_inventory, "busy") == 3, "for five people at most four, and one is on its way"
    for name in ("programs-0", "busy-0", "busy-1", "busy-2"):
        await fake_inventory.inventory.mark_lost(name, "it was not needed")
    for number in range(5):
        await operator.zincrby(f"{KEY_PREFIX}claimed:desktop", -60_000, f"person-{number}")
    assert await spares(fake_inventory, "quiet") == 1, "a minute later as many as ever"
    assert await operator.exists(f"{KEY_PREFIX}claimed:desktop") == 0, "old claims are deleted"


async def test_no_second_machine_is_kept_warm_for_people_who_wait(
    leases: LeaseStore, fake_inventory: FakeInventory, overview: FleetOverview
) -> None:
    await fake_inventory.put("m-1")
    await overview.set_warm_target("desktop", 1, at_least=True)
    await lease_of(leases, "r-0", user="person-0", pool="forms")
    for number in range(1, 5):
        await place_of(leases, f"r-{number}", user=f"person-{number}", pool="forms")
    assert await spares(fake_inventory, "crowd") == 5, "four who wait, and one spare"
