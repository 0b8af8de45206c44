"""A program's timer changes the screen after its step was shown: over the bridge, the database and the socket."""

import asyncio
from uuid import uuid4

from tests.integration.web.conftest import Stack
from tests.integration.web.live.test_episode_socket import state_of

CLICK = {"kind": "click", "x": 5, "y": 6}


async def test_what_was_offered_for_the_screen_before_it_cannot_be_accepted(stack: Stack) -> None:
    desk = await stack.deciding()
    timer = asyncio.Event()
    for sandbox in stack.host.made:
        sandbox.timer = timer
    await desk.ask(type="act", command_id=uuid4().hex, thought="I look", action=CLICK)
    shown = (await desk.until(type="step.added"))["step"]["after"]["screenshot"]
    old = (await desk.until(type="proposals.ready"))["proposals"][0]

    timer.set()
    redrawn = (await desk.until(type="proposals.withdrawn"))["observation"]["screenshot"]
    assert redrawn not in (None, shown)
    late = {"type": "accept", "proposal_id": old["id"], "base_version": 1}
    assert (await desk.ask(command_id=uuid4().hex, **late))["code"] == "unknown_proposal"
    if not (state := await state_of(desk)).proposals:
        await desk.until(type="proposals.ready")
        state = await state_of(desk)
    assert state.observation is not None
    assert state.observation.screenshot is not None
    assert state.observation.screenshot.sha256 == redrawn["sha256"]
    assert len(state.steps) == 1
    assert state.proposals[0].id != old["id"]
    await desk.send(type="accept", command_id=uuid4().hex, proposal_id=state.proposals[0].id, base_version=1)
    before = (await desk.until(type="step.added"))["step"]["before"]["screenshot"]
    assert before == redrawn
