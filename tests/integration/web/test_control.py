"""One control lease: who has it, who may take it, what happens when its holder goes."""

from uuid import uuid4

import pytest

from annotation_app.episodes import services
from annotation_app.episodes.models import Episode
from annotation_app.live import registry as registry_module
from annotation_app.live.threads import in_database
from tests.integration.web.conftest import Desk, Stack, policy_serve

ACT = {"type": "act", "thought": "because", "action": {"kind": "click", "x": 5, "y": 6}}


async def second_tab(stack: Stack, first: Desk) -> Desk:
    """Another socket of Ada's at the same episode, with its snapshot heard."""
    desk = await stack.desk(await in_database(Episode.objects.get, pk=first.episode_id))
    await desk.until(type="snapshot")
    return desk


async def test_the_second_tab_only_watches(stack: Stack) -> None:
    first = await stack.deciding()
    second = await second_tab(stack, first)
    assert second.heard[-1]["control"] == "other"
    assert (await second.ask(**ACT, command_id=uuid4().hex))["code"] == "view_only"
    await first.ask(**ACT, command_id=uuid4().hex)
    assert (await second.until(type="step.added"))["step"]["index"] == 0, "it sees what happens"


async def test_control_is_taken_over_and_back(stack: Stack) -> None:
    first = await stack.deciding()
    second = await second_tab(stack, first)
    assert (await second.ask(type="control", command_id=uuid4().hex))["type"] == "acknowledged"
    taken = await first.until(type="control.changed", control="other")
    assert taken["holder"] == "ada"
    assert (await first.ask(**ACT, command_id=uuid4().hex))["code"] == "view_only"
    assert (await second.ask(**ACT, command_id=uuid4().hex))["type"] == "acknowledged"
    await first.ask(type="control", command_id=uuid4().hex)
    assert (await second.until(type="control.changed", control="other"))["holder"] == "ada"


async def test_a_reviewer_watches_and_cannot_steer(stack: Stack) -> None:
    first = await stack.deciding()
    watcher = await stack.desk(await in_database(Episode.objects.get, pk=first.episode_id), stack.world.rosa)
    snapshot = await watcher.until(type="snapshot")
    assert snapshot["control"] == "other"
    assert (await watcher.ask(**ACT, command_id=uuid4().hex))["code"] == "view_only"
    assert (await watcher.ask(type="control", command_id=uuid4().hex))["code"] == "view_only"


async def test_control_waits_for_its_holder_then_goes_on(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    first = await stack.deciding()
    second = await second_tab(stack, first)
    await first.close()
    assert (await second.ask(**ACT, command_id=uuid4().hex))["code"] == "view_only", "within the grace"
    monkeypatch.setattr(registry_module, "CONTROL_GRACE", 0.0)
    assert (await second.until(type="control.changed", control="mine"))["holder"] == "ada"


async def test_another_process_takes_the_episode_over(stack: Stack) -> None:
    """The other process is played by the service it would call."""
    first = await stack.deciding()
    token = await in_database(services.runner_take, episode_id=first.episode_id, runner="elsewhere:1:abcd", seconds=60)
    assert (await first.until(type="control.changed", control="other"))["holder"] == ""
    assert (await first.ask(**ACT, command_id=uuid4().hex))["code"] in ("view_only", "not_running")
    assert (await first.ask(type="control", command_id=uuid4().hex))["type"] == "acknowledged"
    assert (await first.ask(**ACT, command_id=uuid4().hex))["type"] == "acknowledged"
    episode = await in_database(Episode.objects.get, pk=first.episode_id)
    assert episode.runner_token > token


async def test_a_process_without_the_annotator_gives_way(stack: Stack) -> None:
    first = await stack.deciding()
    await first.close()
    token = await in_database(
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
    assert await in_database(services.runner_acquire, **acquire, dead=lambda runner: False) is None
    assert await in_database(services.runner_acquire, **acquire, dead=lambda runner: True) is not None


async def test_autopilot_stops_when_nobody_watches(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = await stack.deciding()
    watcher = await stack.desk(await in_database(Episode.objects.get, pk=desk.episode_id), stack.world.rosa)
    await desk.ask(type="autopilot", command_id=uuid4().hex, on=True)
    await desk.close()
    monkeypatch.setattr(registry_module, "CONTROL_GRACE", 0.0)
    await watcher.until(type="episode.changed", autopilot=False)


async def test_a_new_policy_revision_takes_over_at_the_decision_point(stack: Stack) -> None:
    desk = await stack.deciding()
    assert desk.heard[-1]["policy"]["revision"] == "1"
    await in_database(policy_serve, pools=[stack.world.pool], url=stack.model_url, revision="2")
    withdrawn = await desk.until(type="proposals.withdrawn")
    assert withdrawn["reason"]
    assert (await desk.until(type="proposals.ready"))["policy"]["revision"] == "2"
