"""A pool's episodes do their next step ahead on a twin, which is nobody's once the episode has ended."""

from uuid import uuid4

from annotation_app.live.store import run_in_db_thread
from annotation_app.tasks.models import Pool
from protocol.actions.types import TypeText
from tests.integration.web.conftest import SECRET, Stack
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


async def test_a_pool_has_no_twins_unless_it_is_told_to(stack: Stack) -> None:
    async with BridgeClient(stack.bridge_url, SECRET) as bridge:
        await warm(bridge, stack)
        desk = await stack.deciding()
        best = desk.heard[-1]["proposals"][0]
        await desk.send(type="accept", command_id=uuid4().hex, proposal_id=best["id"], base_version=0)
        await desk.until(type="proposals.ready")
        assert len(acting(stack)) == 1
        assert await twins(bridge) == []
