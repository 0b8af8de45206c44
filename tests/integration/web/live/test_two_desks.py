"""Two people at work on the machines of one bridge at the same time: each trajectory holds its own acts only."""

import asyncio
from typing import Any
from uuid import uuid4

from annotation_app.episodes.selectors import trajectories
from annotation_app.live.store import run_in_db_thread
from protocol.actions.types import Action, Gesture, TypeText
from protocol.trajectory.trajectories import Trajectory
from tests.integration.web.conftest import EpisodeSocket, Stack

ACTS = 4


async def command(desk: EpisodeSocket, **fields: Any) -> None:
    assert (await desk.ask(command_id=uuid4().hex, **fields))["type"] == "acknowledged"


async def work(desk: EpisodeSocket, name: str) -> None:
    """Type by acts, then by hand."""
    for number in range(ACTS):
        await command(desk, type="act", thought=name, action={"kind": "type_text", "text": f"{name}{number} "})
        await desk.until(type="step.added")
    await command(desk, type="takeover", on=True, thought=name)
    await command(desk, type="input", inputs=[{"kind": "type_text", "text": f"{name} by hand"}])
    await command(desk, type="takeover", on=False, thought=name)


def texts(action: Action) -> list[str]:
    inputs = [timed.input for timed in action.inputs] if isinstance(action, Gesture) else [action]
    return [one.text for one in inputs if isinstance(one, TypeText)]


async def test_two_desks_on_one_bridge_record_their_own_acts_only(stack: Stack) -> None:
    ada = await stack.deciding()
    ben = await stack.desk(await stack.episode(stack.world.ben), stack.world.ben)
    await ben.until(type="proposals.ready")
    await asyncio.gather(work(ada, "ada"), work(ben, "ben"))
    shown: list[set[str]] = []
    for desk, name in ((ada, "ada"), (ben, "ben")):
        recorded: Trajectory = await run_in_db_thread(trajectories.episode_trajectory, episode_id=desk.episode_id)
        typed = [text for step in recorded.steps for text in texts(step.action)]
        assert typed == [*(f"{name}{number} " for number in range(ACTS)), f"{name} by hand"]
        assert {step.thought for step in recorded.steps} == {name}
        looks = [look for step in recorded.steps for look in (step.before, step.after) if look is not None]
        shown.append({look.screenshot.sha256 for look in looks[1:] if look.screenshot is not None})
    on_machines = [sandbox.typed for sandbox in stack.host.made if sandbox.typed]
    assert sorted(text[:3] for text in on_machines) == ["ada", "ben"]
    assert not any("ada" in text and "ben" in text for text in on_machines)
    assert not shown[0] & shown[1], "no screen of the other machine"
