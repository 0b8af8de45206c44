"""The desk's socket over the whole path: real database, real bridge over HTTP, scripted model over HTTP."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from annotation_app.episodes import selectors, services
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import trajectories
from annotation_app.live.store import run_in_db_thread
from annotation_app.tasks.models import Assignment
from protocol.messages.events import EpisodeState
from tests.integration.web.conftest import BOUND, SECRET, EpisodeSocket, Stack, policy_serve
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import MachineGone, StaleLease
from vm_bridge.machine import Lease


def command_id() -> str:
    return uuid4().hex


def run_out(episode_id: UUID) -> None:
    """Let the lease on this episode's task end now."""
    ended = timezone.now() - timedelta(seconds=1)
    Assignment.objects.filter(episode__id=episode_id).update(expires_at=ended)
    services.leases_expire()


async def renew_for_ever(bridge: BridgeClient, lease: Lease) -> None:
    """Raises StaleLease once the bridge knows this lease no more."""
    while True:
        await bridge.renew(lease)


async def state_of(desk: EpisodeSocket) -> EpisodeState:
    """What the database holds of a desk's episode."""
    state: EpisodeState = await run_in_db_thread(trajectories.episode_state, episode_id=desk.episode_id)
    return state


async def test_a_failure_names_the_policy_that_failed(stack: Stack) -> None:
    absent = f"{stack.bridge_url}/v1"  # it answers 404 to requests for completions
    await run_in_db_thread(policy_serve, pools=[stack.world.pool], url=absent, revision="absent")
    episode = await stack.episode()
    desk = await stack.desk(episode)
    failed = await desk.until(type="proposals.thinking", thinking="failed")
    assert failed["policy"]["revision"] == "absent"
    assert "404" in failed["message"]
    later = (await (await stack.desk(episode)).until(type="snapshot"))["state"]
    assert (later["thinking"], later["thinking_policy"]["revision"]) == ("failed", "absent")

    await run_in_db_thread(policy_serve, pools=[stack.world.pool], url=stack.model_url, revision="present")
    ready = await desk.until(type="proposals.ready")
    assert ready["policy"]["revision"] == "present"
    heard = [event for event in desk.heard if event["type"] == "proposals.thinking"]
    assert {event["policy"]["revision"] for event in heard if event["message"]} == {"absent"}


async def test_an_episode_is_worked_on_and_finished(stack: Stack) -> None:
    desk = await stack.deciding()
    assert desk.heard[0]["type"] == "snapshot"
    ready = desk.heard[-1]
    best = ready["proposals"][0]
    assert best["action"] == {"kind": "type_text", "text": "one"}
    assert best["policy"]["scripted"] is True

    accepted = command_id()
    await desk.send(type="accept", command_id=accepted, proposal_id=best["id"], base_version=0)
    started = await desk.until(type="step.started")
    assert started["pending"]["command_id"] == accepted
    added = await desk.until(type="step.added")
    assert (added["step"]["decision"], added["step"]["proposal_id"]) == ("accept", best["id"])

    await desk.until(type="proposals.ready")
    await desk.send(type="continue", request=7, thought="It is")
    continued = await desk.until(type="text.continued")
    assert (continued["request"], continued["text"], continued["code"]) == (7, " done.", "")
    written = {"thought": "It is open", "continued_characters": 5}
    answer = await desk.ask(type="act", command_id=command_id(), **written, action={"kind": "click", "x": 5, "y": 6})
    assert answer["type"] == "acknowledged"
    overridden = await desk.until(type="step.added")
    assert (overridden["step"]["index"], overridden["step"]["decision"]) == (1, "override")

    await desk.send(type="finish", command_id=command_id(), outcome="success", answer="42", reason="seen")
    ended = await desk.until(type="episode.changed", status="finished")
    assert (ended["outcome"], ended["verdict"]["success"]) == ("success", True)
    state = await state_of(desk)
    assert [step.decision for step in state.steps] == ["accept", "override"]
    assert [step.continued_characters for step in state.steps] == [0, 5]
    brief = await run_in_db_thread(trajectories.episode_state, episode_id=desk.episode_id, with_steps=False)
    assert (brief.steps, brief) == ((), state.model_copy(update={"steps": ()}))
    trajectory = await run_in_db_thread(trajectories.episode_trajectory, episode_id=desk.episode_id)
    assert [len(offered) for offered in trajectory.proposals] == [2, 1]
    assert (trajectory.terminated, trajectory.truncated) == (True, False)


async def test_events_carry_versions_without_gaps(stack: Stack) -> None:
    desk = await stack.deciding()
    await desk.ask(type="act", command_id=command_id(), thought="why", action={"kind": "click", "x": 5, "y": 6})
    await desk.until(type="proposals.ready")
    versions = [event["version"] for event in desk.heard if "version" in event]
    assert versions == list(range(1, len(versions) + 1))


async def test_the_machine_is_released_when_the_episode_ends(stack: Stack) -> None:
    desk = await stack.deciding()
    stored = await run_in_db_thread(selectors.machine_of, episode_id=desk.episode_id)
    lease = Lease.model_validate_json(stored.lease)
    async with BridgeClient(stack.bridge_url, SECRET) as bridge:
        await bridge.renew(lease)
        await desk.ask(type="leave", command_id=command_id(), how="release")
        await desk.until(type="control.changed", control="nobody")
        with pytest.raises((StaleLease, MachineGone)):
            await bridge.renew(lease)
    assert (await run_in_db_thread(selectors.machine_of, episode_id=desk.episode_id)).lease == ""


async def test_an_expired_lease_ends_the_episode_and_frees_its_machine(stack: Stack) -> None:
    desk = await stack.deciding()
    stored = await run_in_db_thread(selectors.machine_of, episode_id=desk.episode_id)
    await run_in_db_thread(run_out, episode_id=desk.episode_id)
    await desk.until(type="episode.changed", status="left")
    await desk.until(type="control.changed")
    async with BridgeClient(stack.bridge_url, SECRET) as bridge:
        with pytest.raises((StaleLease, MachineGone)):
            await asyncio.wait_for(renew_for_ever(bridge, Lease.model_validate_json(stored.lease)), BOUND)
    assert (await desk.ask(type="resample", command_id=command_id()))["code"] in ("view_only", "not_running")


async def test_a_reload_resumes_with_control(stack: Stack) -> None:
    first = await stack.deciding()
    await first.close()
    second = await stack.desk(await run_in_db_thread(Episode.objects.get, pk=first.episode_id))
    snapshot = await second.until(type="snapshot")
    assert snapshot["control"] == "mine"
    assert snapshot["state"]["proposals"], "nothing was asked again"


async def test_a_resent_command_is_done_once(stack: Stack) -> None:
    desk = await stack.deciding()
    act = {"type": "act", "command_id": command_id(), "thought": "w", "action": {"kind": "click", "x": 5, "y": 6}}
    assert (await desk.ask(**act))["type"] == "acknowledged"
    await desk.until(type="step.added")
    assert (await desk.ask(**act))["type"] == "acknowledged"
    assert len((await state_of(desk)).steps) == 1


async def test_pings_are_answered_with_the_version(stack: Stack) -> None:
    desk = await stack.deciding()
    version = desk.heard[-1]["version"]
    await desk.send(type="ping", at=12.5)
    pong = await desk.until(type="pong")
    assert (pong["at"], pong["version"]) == (12.5, version)
