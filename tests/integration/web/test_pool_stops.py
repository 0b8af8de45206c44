"""A stopped pool and its secrets, before a live desk: nothing acts, nothing is lost, nothing is told."""

from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes.models import Command, Episode, Step
from annotation_app.episodes.selectors import episode_state
from annotation_app.live.threads import in_database
from annotation_app.pools import services
from tests.integration.web.conftest import PASSWORD, Stack

pytestmark = pytest.mark.django_db(transaction=True)


def admin() -> User:
    return user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])


def act(text: str, number: int) -> dict[str, Any]:
    """An override that types."""
    return {
        "type": "act",
        "command_id": f"act-{number:08d}",
        "thought": "I type it.",
        "action": {"kind": "type_text", "text": text},
    }


async def test_a_stopped_pool_pauses_its_desks_says_why_and_goes_on(stack: Stack) -> None:
    alex, pool = await in_database(admin), stack.world.pool
    desk = await stack.deciding()
    assert (await desk.ask(**act("first", 1)))["type"] == "acknowledged"
    await desk.until(type="step.added")

    assert await in_database(services.pool_stop, user=alex, pool_id=pool.pk, reason="wrong tasks") == 1
    told = await desk.until(type="episode.changed", status="paused")
    assert told["error"] == "An admin stopped this pool: wrong tasks"
    await desk.until(type="control.changed", control="mine")
    refused = await desk.ask(type="pause", command_id="resume-00001", on=False)
    assert (refused["type"], refused["code"]) == ("rejected", "pool_stopped")
    state = await in_database(episode_state, episode_id=desk.episode_id)
    assert len(state.steps) == 1

    await in_database(services.pool_start, user=alex, pool_id=pool.pk)
    await desk.until(type="episode.changed", error="")
    await desk.until(type="control.changed", control="mine")
    assert (await desk.ask(type="pause", command_id="resume-00002", on=False))["type"] == "acknowledged"
    assert (await desk.ask(**act("second", 2)))["type"] == "acknowledged"
    await desk.until(type="step.added")
    state = await in_database(episode_state, episode_id=desk.episode_id)
    assert len(state.steps) == 2


async def test_a_secret_reaches_the_machine_and_nothing_that_is_kept(stack: Stack) -> None:
    alex, pool = await in_database(admin), stack.world.pool
    await in_database(services.credential_set, user=alex, pool_id=pool.pk, name="SHOP", value="hunter2-hunter2")
    desk = await stack.deciding()
    assert (await desk.ask(**act("secret:SHOP", 1)))["type"] == "acknowledged"
    await desk.until(type="step.added")

    def kept() -> str:
        rows: list[object] = [*Step.objects.values_list("document", flat=True)]
        rows += [*Command.objects.values_list("intent", flat=True), *Episode.objects.values_list("desk", flat=True)]
        return "\n".join(map(repr, rows))

    stored = await in_database(kept)
    assert "secret:SHOP" in stored
    assert "hunter2" not in stored
    assert any("hunter2-hunter2" in sandbox.typed for sandbox in stack.host.made)
