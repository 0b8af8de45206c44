"""A pool's episodes do their next step ahead on a twin, which is nobody's once the episode has ended."""

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from agent_backend.episode.prepared_uses import begin_use
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors.prepared_requests import PreparedRequestCost, prepared_request_costs
from annotation_app.episodes.services import episode_next, prepared_request_record
from annotation_app.live.store import run_in_db_thread
from annotation_app.tasks.models import Pool
from protocol.actions.types import TypeText
from tests.integration.web.conftest import SECRET, Stack, World
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.fleet import TWIN_HOLDER
from vm_bridge.simulators.fake.sandbox import FakeSandbox

READY = 3


async def warm(bridge: BridgeClient, stack: Stack) -> None:
    await bridge.warm(image="desktop", count=READY)
    await eventually(lambda: len(stack.host.made) >= READY)


async def twins(bridge: BridgeClient) -> list[str]:
    """The machines that are twins."""
    return [each.id for each in await bridge.fleet.machines() if (each.holder or "").startswith(TWIN_HOLDER)]


def allow_twins(*, pool: Pool) -> None:
    Pool.objects.filter(pk=pool.pk).update(speculation=True)


def acting(stack: Stack) -> list[FakeSandbox]:
    return [sandbox for sandbox in stack.host.made if sandbox.acts]


async def test_the_first_candidate_is_done_ahead_on_a_twin_and_then_on_the_machine(stack: Stack) -> None:
    await run_in_db_thread(allow_twins, pool=stack.world.pool)
    async with BridgeClient(stack.bridge_url, SECRET) as bridge:
        await warm(bridge, stack)
        desk = await stack.deciding()
        await eventually(lambda: acting(stack))
        (twin,) = acting(stack)
        assert [twin.id] == await twins(bridge)
        assert twin.acts == [TypeText(text="one")]

        best = desk.heard[-1]["proposals"][0]
        await desk.send(type="accept", command_id=uuid4().hex, proposal_id=best["id"], base_version=0)
        added = await desk.until(type="step.added")
        assert added["step"]["after"]["screenshot"] is not None
        offered = await desk.until(type="proposals.ready")
        assert offered["proposals"][0]["action"]["kind"] == "finish"
        assert [sandbox.acts for sandbox in acting(stack)] == [[TypeText(text="one")]] * 2

        await desk.send(type="finish", command_id=uuid4().hex, outcome="success", answer="", reason="")
        await desk.until(type="episode.changed", status="finished")
        await eventually(lambda: not twin.acts)
        assert await twins(bridge) == []
    (cost,) = await run_in_db_thread(costs)
    assert (cost.pool_id, cost.made, cost.used, cost.discarded) == (stack.world.pool.pk, 1, 1, 0)
    assert cost.seconds > 0 == cost.discarded_seconds


def costs() -> tuple[PreparedRequestCost, ...]:
    return prepared_request_costs(since=timezone.now() - timedelta(days=1))


def test_prepared_requests_are_counted_once_also_over_a_restart(world: World) -> None:
    episode = episode_next(user=world.ada)
    assert episode is not None
    Episode.objects.filter(pk=episode.pk).update(runner_token=2, runner_until=timezone.now() + timedelta(minutes=1))
    lost, waits, used = begin_use(), begin_use(), begin_use()
    ended = used.model_copy(update={"outcome": "used", "seconds": 1.5, "input_tokens": 900, "output_tokens": 40})
    thrown = begin_use().model_copy(update={"outcome": "discarded", "seconds": 0.5})
    for token, use in ((1, lost), (2, waits), (2, used), (2, ended), (2, ended), (2, thrown)):
        fields = use.model_dump(exclude={"id"})
        prepared_request_record(episode_id=episode.pk, token=token, request_id=use.id, **fields)
    (cost,) = costs()
    assert (cost.made, cost.used, cost.discarded) == (4, 1, 2), "one still waits"
    assert (cost.seconds, cost.discarded_seconds) == (2.0, 0.5)
    assert (cost.input_tokens, cost.output_tokens, cost.discarded_input_tokens, cost.uncounted) == (900, 40, 0, 3)


async def test_a_pool_has_no_twins_unless_it_is_told_to(stack: Stack) -> None:
    async with BridgeClient(stack.bridge_url, SECRET) as bridge:
        await warm(bridge, stack)
        desk = await stack.deciding()
        best = desk.heard[-1]["proposals"][0]
        await desk.send(type="accept", command_id=uuid4().hex, proposal_id=best["id"], base_version=0)
        await desk.until(type="proposals.ready")
        assert len(acting(stack)) == 1
        assert await twins(bridge) == []
