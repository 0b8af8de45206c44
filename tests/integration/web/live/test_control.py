"""One control lease: who has it, who may take it, what happens when its holder goes."""

import asyncio
from collections.abc import Callable
from uuid import uuid4

import pytest
from django.contrib.sessions.backends.cached_db import SessionStore
from django.contrib.sessions.models import Session

from annotation_app.accounts.models import User
from annotation_app.episodes import selectors, services
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors import trajectories
from annotation_app.live import rooms as registry_module
from annotation_app.live.consumers import FORBIDDEN, NOT_SIGNED_IN
from annotation_app.live.episode_driver import EpisodeDriver
from annotation_app.live.store import run_in_db_thread
from tests.integration.web.conftest import BOUND, SECRET, EpisodeSocket, Stack, policy_serve
from vm_bridge.api.client import BridgeClient
from vm_bridge.machine import Lease

ACT = {"type": "act", "thought": "because", "action": {"kind": "click", "x": 5, "y": 6}}


async def second_tab(stack: Stack, first: EpisodeSocket) -> EpisodeSocket:
    """Another socket of Ada's at the same episode, with its snapshot heard."""
    desk = await stack.desk(await run_in_db_thread(Episode.objects.get, pk=first.episode_id))
    await desk.until(type="snapshot")
    return desk


async def test_the_second_tab_only_watches(stack: Stack) -> None:
    first = await stack.deciding()
    second = await second_tab(stack, first)
    assert second.heard[-1]["control"] == "other"
    assert (await second.ask(**ACT, command_id=uuid4().hex))["code"] == "view_only"
    await first.ask(**ACT, command_id=uuid4().hex)
    assert (await second.until(type="step.added"))["step"]["index"] == 0, "it sees what happens"


async def test_a_command_that_was_taken_before_is_acknowledged_without_control(stack: Stack) -> None:
    first = await stack.deciding()
    command = {**ACT, "command_id": uuid4().hex}
    await first.ask(**command)
    second = await second_tab(stack, first)
    assert (await second.ask(**command))["type"] == "acknowledged"
    assert (await second.ask(**{**command, "thought": "another body"}))["code"] == "view_only"


async def test_control_is_taken_over_and_back(stack: Stack) -> None:
    first = await stack.deciding()
    second = await second_tab(stack, first)
    assert (await second.ask(type="control", command_id=uuid4().hex))["type"] == "acknowledged"
    taken = await first.until(type="control.changed", control="other")
    assert taken["holder"] == "Ada"
    assert (await first.ask(**ACT, command_id=uuid4().hex))["code"] == "view_only"
    assert (await second.ask(**ACT, command_id=uuid4().hex))["type"] == "acknowledged"
    await first.ask(type="control", command_id=uuid4().hex)
    assert (await second.until(type="control.changed", control="other"))["holder"] == "Ada"


async def test_a_reviewer_watches_and_cannot_steer(stack: Stack) -> None:
    first = await stack.deciding()
    watcher = await stack.desk(await run_in_db_thread(Episode.objects.get, pk=first.episode_id), stack.world.rosa)
    snapshot = await watcher.until(type="snapshot")
    assert snapshot["control"] == "other"
    assert (await watcher.ask(**ACT, command_id=uuid4().hex))["code"] == "view_only"
    assert (await watcher.ask(type="control", command_id=uuid4().hex))["code"] == "view_only"


async def test_control_waits_for_its_holder_then_goes_on(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await stack.deciding()
    second = await second_tab(stack, first)
    await first.close()
    assert (await second.ask(**ACT, command_id=uuid4().hex))["code"] == "view_only", "within the grace"
    monkeypatch.setattr(registry_module, "CONTROL_GRACE_SECONDS", 0.0)
    assert (await second.until(type="control.changed", control="mine"))["holder"] == "Ada"


async def test_another_process_takes_the_episode_over(stack: Stack) -> None:
    """The other process is played by the service it would call."""
    first = await stack.deciding()
    token = await run_in_db_thread(
        services.runner_take_over, episode_id=first.episode_id, runner="elsewhere:1:abcd", seconds=60
    )
    assert (await first.until(type="control.changed", control="other"))["holder"] == ""
    assert (await first.ask(**ACT, command_id=uuid4().hex))["code"] in ("view_only", "not_running")
    assert (await first.ask(type="control", command_id=uuid4().hex))["type"] == "acknowledged"
    assert (await first.ask(**ACT, command_id=uuid4().hex))["type"] == "acknowledged"
    episode = await run_in_db_thread(Episode.objects.get, pk=first.episode_id)
    assert episode.runner_token > token


async def test_a_machine_refuses_the_process_that_drove_its_episode_before(stack: Stack) -> None:
    first = await stack.deciding()
    stored = await run_in_db_thread(selectors.machine_of, episode_id=first.episode_id)
    lease = Lease.model_validate_json(stored.lease)
    token = await run_in_db_thread(selectors.runner_token, episode_id=first.episode_id)
    async with BridgeClient(stack.bridge_url, SECRET) as bridge:
        await bridge.machine(lease, driver=token + 1).observe()
    await first.ask(**ACT, command_id=uuid4().hex)
    failed = await first.until(type="episode.changed", status="failed")
    assert "another process" in failed["error"]
    assert [machine.acts for machine in stack.host.made if machine.acts] == []


async def test_a_process_without_the_annotator_gives_way(stack: Stack) -> None:
    first = await stack.deciding()
    await first.close()
    token = await run_in_db_thread(
        services.runner_acquire,
        episode_id=first.episode_id,
        runner="elsewhere:1:abcd",
        seconds=60,
        dead=lambda runner: False,
    )
    assert token is not None


async def test_a_process_with_the_annotator_does_not(stack: Stack) -> None:
    first = await stack.deciding()
    acquire = {"episode_id": first.episode_id, "runner": "elsewhere:1:abcd", "seconds": 60}
    assert await run_in_db_thread(services.runner_acquire, **acquire, dead=lambda runner: False) is None
    assert await run_in_db_thread(services.runner_acquire, **acquire, dead=lambda runner: True) is not None


async def test_autopilot_stops_when_nobody_watches(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = await stack.deciding()
    watcher = await stack.desk(await run_in_db_thread(Episode.objects.get, pk=desk.episode_id), stack.world.rosa)
    await desk.ask(type="autopilot", command_id=uuid4().hex, on=True)
    await desk.close()
    monkeypatch.setattr(registry_module, "CONTROL_GRACE_SECONDS", 0.0)
    await watcher.until(type="episode.changed", autopilot=False)


async def test_a_new_policy_revision_takes_over_at_the_decision_point(stack: Stack) -> None:
    desk = await stack.deciding()
    assert desk.heard[-1]["policy"]["revision"] == "1"
    await run_in_db_thread(policy_serve, pools=[stack.world.pool], url=stack.model_url, revision="2")
    withdrawn = await desk.until(type="proposals.withdrawn")
    assert withdrawn["reason"]
    assert (await desk.until(type="proposals.ready"))["policy"]["revision"] == "2"


async def test_a_socket_that_breaks_leaves_no_seat(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    episode = await stack.episode()

    def fail(**arguments: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(services, "runner_attendance_set", fail)
        first = await stack.desk(episode)
        with pytest.raises(OSError, match="the disk is full"):
            await asyncio.wait_for(first.socket.future, BOUND)
        stack.desks.clear()
    second = await stack.desk(episode)
    assert (await second.until(type="snapshot"))["control"] == "mine", "nobody sits in its way"


async def test_the_beat_goes_on_whatever_breaks_it(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "HEARTBEAT_SECONDS", 0.05)
    desk = await stack.deciding()
    broken = asyncio.Event()

    def fail(**arguments: object) -> None:
        loop.call_soon_threadsafe(broken.set)
        raise OSError("too many open files")

    loop = asyncio.get_running_loop()
    for service in (services, "runners_renew"), (selectors, "policy_server_of"):
        broken.clear()
        with monkeypatch.context() as patched:
            patched.setattr(*service, fail)
            await asyncio.wait_for(broken.wait(), BOUND)
    await run_in_db_thread(policy_serve, pools=[stack.world.pool], url=stack.model_url, revision="2")
    assert (await desk.until(type="proposals.ready"))["policy"]["revision"] == "2"


async def test_a_machine_that_does_not_answer_delays_no_other_desk(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_module, "HEARTBEAT_SECONDS", 0.05)
    stuck = await stack.deciding()
    asked, never = asyncio.Event(), asyncio.Event()
    renew = EpisodeDriver.renew_lease

    async def hang(driver: EpisodeDriver) -> None:
        if driver.episode_id != stuck.episode_id:
            return await renew(driver)
        asked.set()
        await never.wait()

    monkeypatch.setattr(EpisodeDriver, "renew_lease", hang)
    await asyncio.wait_for(asked.wait(), BOUND)
    other = await stack.desk(await stack.episode(stack.world.ben), stack.world.ben)
    await other.until(type="proposals.ready")
    await run_in_db_thread(policy_serve, pools=[stack.world.pool], url=stack.model_url, revision="2")
    assert (await other.until(type="proposals.ready"))["policy"]["revision"] == "2"


def sign_out(user: User) -> None:
    for session in Session.objects.all():
        if session.get_decoded()["_auth_user_id"] == str(user.pk):
            SessionStore(session.session_key).delete()


def deactivate(user: User) -> None:
    User.objects.filter(pk=user.pk).update(is_active=False)


def demote(user: User) -> None:
    User.objects.filter(pk=user.pk).update(roles=[])


@pytest.mark.parametrize(
    ("lose", "code"), [(sign_out, NOT_SIGNED_IN), (deactivate, NOT_SIGNED_IN), (demote, FORBIDDEN)]
)
async def test_whoever_loses_the_right_to_steer_is_sent_away(
    stack: Stack, monkeypatch: pytest.MonkeyPatch, lose: Callable[[User], None], code: int
) -> None:
    monkeypatch.setattr(registry_module, "HEARTBEAT_SECONDS", 0.05)
    desk = await stack.deciding()
    await run_in_db_thread(lose, user=stack.world.ada)
    assert await desk.closed() == code
    await desk.send(**ACT, command_id=uuid4().hex)
    await desk.close()
    state = await run_in_db_thread(trajectories.episode_state, episode_id=desk.episode_id)
    assert state.steps == (), "what they still sent was not done"
