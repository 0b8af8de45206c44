"""Numbers and texts that JSON or PostgreSQL cannot hold: refused at every door, harmless in older databases."""

import json
from typing import Any

import pytest
from django.contrib.admin import site
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.db import connection
from django.http import HttpRequest
from django.test import Client

from annotation_app.accounts.services import user_ensure
from annotation_app.judges.models import Judge
from annotation_app.live.store import run_in_db_thread
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Task
from tests.integration.web.conftest import PASSWORD, Stack, World
from tests.integration.web.tasks.test_pools import post_pool, upload

VALUES = ("NaN", "-Infinity", "1e999", '"\\ud83d"')


def strict(text: str | bytes) -> Any:
    """JSON as browsers read it."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def posted(client: Client, method: str, path: str, body: str) -> tuple[int, Any]:
    answer = client.generic(method, f"/api{path}", body, content_type="application/json")
    return answer.status_code, strict(answer.content)


@pytest.fixture
def alex(world: World) -> Client:
    """An admin's browser, of the staff."""
    return world.client(user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"], staff=True))


@pytest.mark.parametrize("value", VALUES)
def test_the_api_refuses_them_and_names_the_field(alex: Client, value: str) -> None:
    bodies = {
        ("PATCH", "/me", "preferences.theme"): '{"preferences": {"theme": %s}}',
        ("POST", "/policies", "sampling.stop.1"): '{"name": "p", "sampling": {"stop": ["a", %s]}}',
        ("POST", "/exports", "filters.reward_min"): '{"filters": {"reward_min": %s}}',
        ("POST", "/pools", "settings.name"): '{"settings": {"name": %s}}',
    }
    for (method, path, field), body in bodies.items():
        status, told = posted(alex, method, path, body % value)
        assert (status, told["code"]) == (422, "invalid"), path
        assert [one["field"] for one in told["extra"]["fields"]] == [field]


def test_a_nul_where_postgresql_keeps_none_is_no_fault_of_the_server(alex: Client) -> None:
    revision = {
        "name": "p",
        "revision": "1",
        "dialect": "ui_tars_1_5",
        "base_url": "http://127.0.0.1:1/v1",
        "model": "m",
        "sampling": {"stop": ["\x00"]},
    }
    status, told = posted(alex, "POST", "/policies", json.dumps(revision))
    assert (status, told["code"]) == (422, "invalid")


@pytest.mark.parametrize("value", VALUES)
def test_uploads_and_the_command_refuse_them(alex: Client, world: World, value: str, tmp_path: Any) -> None:
    pool = post_pool(alex)["id"]
    quoted = value.replace('"', '""')
    line = f'{{"id": "x", "instruction": "Do", "parameters": {{"a": {value}}}}}'
    for kind, data in (
        ("jsonl", line),
        ("csv", f'instruction,parameters\nDo,"{{""a"": {quoted}}}"\n'),
        ("osworld", f'{{"id": "x", "instruction": "Do", "evaluator": {{"a": {value}}}}}'),
    ):
        report = upload(alex, pool, data.encode(), kind)
        assert not report["added"], kind
        assert report["faults"][0]["reason"].startswith("parameters."), kind
    file = tmp_path / "tasks.jsonl"
    file.write_text(line)
    with pytest.raises(CommandError, match="line 1"):
        call_command("load_tasks", world.pool.name, file)
    assert not Task.objects.filter(key="x").exists()


def spoil(task: Task) -> None:
    """Let a task's definition be what an earlier release could store."""
    definition = f'{{"id": "{task.key}", "instruction": "Type one", "parameters": {{"a": NaN, "text": "one"}}}}'
    with connection.cursor() as cursor:
        cursor.execute("UPDATE tasks_task SET definition = %s WHERE id = %s", [definition, task.pk])


async def test_the_desk_of_a_task_that_holds_one_opens(stack: Stack) -> None:
    await run_in_db_thread(lambda: spoil(Task.objects.get(pool=stack.world.pool, key="one")))
    desk = await stack.desk(await stack.episode())
    snapshot = strict(await desk.socket.receive_from(timeout=30))
    assert snapshot["type"] == "snapshot"
    assert snapshot["state"]["task"]["parameters"] == {"a": None, "text": "one", "screenshot": "jpeg"}


@pytest.mark.parametrize("value", [*VALUES, '"nul \\u0000"'])
@pytest.mark.parametrize(("model", "name"), [(PolicyRevision, "sampling"), (Judge, "settings")])
def test_the_admin_refuses_them_in_json(model: Any, name: str, value: str) -> None:
    field = site.get_model_admin(model).formfield_for_dbfield(model._meta.get_field(name), HttpRequest())
    assert field is not None
    with pytest.raises(ValidationError):
        field.clean(f'{{"stop": ["a", {value}]}}')
    assert field.clean('{"stop": ["a \\\\u0000", 1.5]}') == {"stop": ["a \\u0000", 1.5]}


def test_an_admin_edits_and_deletes_a_task_that_holds_one(alex: Client, world: World) -> None:
    task = Task.objects.get(pool=world.pool, key="one")
    spoil(task)
    page = f"/admin/tasks/task/{task.pk}"
    assert alex.get(f"{page}/change/").status_code == 200
    assert alex.post(f"{page}/change/", {"state": "broken", "position": 7}).status_code == 302
    task.refresh_from_db()
    assert (task.state, task.position) == ("broken", 7)
    with connection.cursor() as cursor:
        cursor.execute("SELECT definition FROM tasks_task WHERE id = %s", [task.pk])
        assert strict(cursor.fetchone()[0])["parameters"]["a"] is None
    assert alex.post(f"{page}/delete/", {"post": "yes"}).status_code == 302
    assert not Task.objects.filter(pk=task.pk).exists()
