"""A stopped pool and its secrets, before a live desk: nothing acts, nothing is lost, nothing is told."""

from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes.models import Command, Episode, Step
from annotation_app.episodes.selectors.trajectories import episode_state
from annotation_app.live.store import run_in_db_thread
from annotation_app.pools import services
from annotation_app.tasks.models import Task
from annotation_app.tasks.services import tasks_add
from protocol.actions.secrets import SecretUse
from tests.integration.web.conftest import PASSWORD, Stack, World, sign_in_task

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
    alex, pool = await run_in_db_thread(admin), stack.world.pool
    desk = await stack.deciding()
    assert (await desk.ask(**act("first", 1)))["type"] == "acknowledged"
    await desk.until(type="step.added")

    assert await run_in_db_thread(services.pool_stop, user=alex, pool_id=pool.pk, reason="wrong tasks") == 1
    told = await desk.until(type="episode.changed", status="paused")
    assert told["error"] == "An admin stopped this pool: wrong tasks"
    await desk.until(type="control.changed", control="mine")
    refused = await desk.ask(type="pause", command_id="resume-00001", on=False)
    assert (refused["type"], refused["code"]) == ("rejected", "pool_stopped")
    state = await run_in_db_thread(episode_state, episode_id=desk.episode_id)
    assert len(state.steps) == 1

    await run_in_db_thread(services.pool_start, user=alex, pool_id=pool.pk)
    await desk.until(type="episode.changed", error="")
    await desk.until(type="control.changed", control="mine")
    assert (await desk.ask(type="pause", command_id="resume-00002", on=False))["type"] == "acknowledged"
    assert (await desk.ask(**act("second", 2)))["type"] == "acknowledged"
    await desk.until(type="step.added")
    state = await run_in_db_thread(episode_state, episode_id=desk.episode_id)
    assert len(state.steps) == 2


async def test_a_secret_reaches_the_machine_and_nothing_that_is_kept(stack: Stack) -> None:
    alex, pool = await run_in_db_thread(admin), stack.world.pool
    await run_in_db_thread(services.credential_set, user=alex, pool_id=pool.pk, name="SHOP", value="hunter2-hunter2")
    desk = await stack.deciding()
    assert (await desk.ask(**act("secret:SHOP", 1)))["type"] == "acknowledged"
    await desk.until(type="step.added")

    def kept() -> str:
        rows: list[object] = [*Step.objects.values_list("document", flat=True)]
        rows += [*Command.objects.values_list("intent", flat=True), *Episode.objects.values_list("desk", flat=True)]
        return "\n".join(map(repr, rows))

    stored = await run_in_db_thread(kept)
    assert "secret:SHOP" in stored
    assert "hunter2" not in stored
    assert any("hunter2-hunter2" in sandbox.typed for sandbox in stack.host.made)


async def test_a_policy_types_a_secret_once_the_annotator_has_confirmed_it(stack: Stack) -> None:
    """The whole way: asked at the desk, kept in the record, typed on the machine after the answer alone."""
    alex, pool = await run_in_db_thread(admin), stack.world.pool
    await run_in_db_thread(services.credential_set, user=alex, pool_id=pool.pk, name="SHOP", value="hunter2-hunter2")
    await run_in_db_thread(Task.objects.all().delete)
    await run_in_db_thread(tasks_add, pool=pool, definitions=[sign_in_task()])
    desk = await stack.desk(await stack.episode())
    ready = await desk.until(type="proposals.ready")
    proposal = next(one for one in ready["proposals"] if one["action"] == {"kind": "type_text", "text": "secret:SHOP"})
    accepting = {"type": "accept", "proposal_id": proposal["id"], "base_version": 0}

    refused = await desk.ask(**accepting, command_id="accept-0001")
    assert (refused["type"], refused["code"]) == ("rejected", "secret_unconfirmed")
    (asked,) = (await run_in_db_thread(episode_state, episode_id=desk.episode_id)).secret_requests
    assert (asked.uses, asked.autopilot) == ((SecretUse(name="SHOP", host=""),), False)
    assert not any(sandbox.typed for sandbox in stack.host.made)
    answer = {"type": "secrets", "proposal_id": proposal["id"], "allow": True, "command_id": "secrets-0001"}
    assert (await desk.ask(**answer))["type"] == "acknowledged"
    assert (await desk.ask(**accepting, command_id="accept-0002"))["type"] == "acknowledged"
    await desk.until(type="step.added")
    assert any("hunter2-hunter2" in sandbox.typed for sandbox in stack.host.made)
    note = await run_in_db_thread(Command.objects.get, command_id="secrets-0001")
    assert note.note == "allowed SHOP at an unknown host"


async def test_a_secret_that_may_not_be_used_here_is_refused_in_the_step(stack: Stack) -> None:
    alex, pool = await run_in_db_thread(admin), stack.world.pool
    bound = {"hosts": ("shop.test",), "confirm": False}
    setting = {"user": alex, "pool_id": pool.pk, "name": "SHOP"}
    await run_in_db_thread(services.credential_set, **setting, value="hunter2-hunter2", rules=bound)
    desk = await stack.deciding()
    assert (await desk.ask(**act("secret:SHOP", 1)))["type"] == "acknowledged"
    step = (await desk.until(type="step.added"))["step"]
    assert step["error"]["code"] == "secret_refused"
    assert "at shop.test only" in step["error"]["message"]
    assert not any(sandbox.typed for sandbox in stack.host.made)


@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ({"confirm": False}, "hosts_missing"),
        ({"hosts": ["shop.test/path"]}, "invalid"),
        ({"hosts": ["https://shop.test"]}, "invalid"),
        ({"kinds": ["finish"]}, "invalid"),
        ({"applications": ["a\nb"]}, "invalid"),
        ({"applications": ["XTerm"], "confirm": False, "hosts": [], "kinds": ["type_text"]}, ""),
        ({"kinds": []}, "invalid"),
        ({"hosts": ["Shop.Test:8443", "*.example.org"], "confirm": False, "kinds": ["type_text", "call_tool"]}, ""),
    ],
)
async def test_an_admin_binds_a_secret(committed: World, rules: dict[str, Any], code: str) -> None:
    alex, pool = await run_in_db_thread(admin), committed.pool

    def change() -> tuple[list[str], Any]:
        client, url = committed.client(alex), f"/api/pools/{pool.pk}/credentials/SHOP"
        codes = []
        for body in ({"hosts": ["a.test"]}, {"value": "hunter2"}, rules):
            answer = client.post(url, body, content_type="application/json")
            codes.append("" if answer.status_code == 204 else answer.json()["code"])
        return codes, client.get(f"/api/pools/{pool.pk}").json()["credential_rules"]

    codes, kept = await run_in_db_thread(change)
    assert codes == ["value_missing", "", code]
    if code:
        assert kept == [{"name": "SHOP", "kinds": ["type_text"], "hosts": [], "applications": [], "confirm": True}]
    else:
        bound = {name: [word.lower() for word in rules.get(name, [])] for name in ("kinds", "hosts", "applications")}
        assert kept == [{"name": "SHOP", "confirm": False, **bound}]
