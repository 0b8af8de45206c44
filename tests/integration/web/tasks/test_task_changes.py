"""Tasks of a pool are edited, withdrawn, deleted and made gold over HTTP."""

from typing import Any

import pytest
from django.test import Client

from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes.models import Episode
from annotation_app.episodes.services import episode_claim
from annotation_app.tasks.models import Task, TaskState
from tests.integration.web.conftest import PASSWORD, World
from tests.integration.web.tasks.test_pools import post_pool, sent, upload

CSV = b"id,instruction,gold\na,Do a,yes\nb,Do b,no\nc,Do c,\n"


@pytest.fixture
def alex(world: World) -> Client:
    """An admin's browser."""
    return world.client(user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"]))


@pytest.fixture
def tasks(alex: Client) -> dict[str, int]:
    """The tasks of a new pool, a to c, by their keys."""
    pool = post_pool(alex, open_to_all=True)["id"]
    assert upload(alex, pool, CSV)["added"]
    return {task.key: task.pk for task in Task.objects.filter(pool=pool)}


def pool_of(tasks: dict[str, int]) -> int:
    return int(Task.objects.values_list("pool_id", flat=True).get(pk=tasks["a"]))


def states(tasks: dict[str, int]) -> dict[str, str]:
    return dict(Task.objects.filter(pk__in=tasks.values()).values_list("key", "state"))


def bulk(client: Client, tasks: dict[str, int], what: str, *keys: str, **more: Any) -> Any:
    body = {"tasks": [tasks[key] for key in keys], **more}
    return sent(client, "POST", f"/pools/{pool_of(tasks)}/tasks/{what}", body)


def test_a_column_of_an_upload_marks_tasks_that_become_gold(alex: Client, tasks: dict[str, int]) -> None:
    rows = sent(alex, "GET", f"/pools/{pool_of(tasks)}/tasks")["items"]
    assert {row["key"]: row["gold_wanted"] for row in rows} == {"a": True, "b": False, "c": False}
    report = upload(alex, pool_of(tasks), b"id,instruction,gold\nd,Do d,maybe\n")
    assert report["faults"][0]["reason"] == "gold: it is true or false"
    assert bulk(alex, tasks, "gold", "a", "b") == {"tasks": 1}
    assert bulk(alex, tasks, "gold", "a", "b", "c", wanted=False) == {"tasks": 2}
    assert not Task.objects.filter(gold_wanted=True).exists()


def test_withdrawn_tasks_are_given_to_nobody_until_they_are_restored(
    alex: Client, tasks: dict[str, int], world: World
) -> None:
    assert bulk(alex, tasks, "withdrawal", "a", "b") == {"tasks": 2}
    assert bulk(alex, tasks, "withdrawal", "a") == {"tasks": 0}
    assert states(tasks) == {"a": "withdrawn", "b": "withdrawn", "c": "waiting"}
    assert sent(alex, "GET", f"/pools/{pool_of(tasks)}")["tasks"]["withdrawn"] == 2
    ada = world.client(world.ada)
    claimed = sent(ada, "POST", "/queue/next", {"pool_id": pool_of(tasks)})["episode_id"]
    assert Episode.objects.get(pk=claimed).task.key == "c"
    listed = sent(alex, "GET", f"/pools/{pool_of(tasks)}/tasks?state=withdrawn")["items"]
    assert [row["key"] for row in listed] == ["a", "b"]
    assert bulk(alex, tasks, "withdrawal", "a", "b", "c", withdrawn=False) == {"tasks": 2}
    assert states(tasks) == {"a": "waiting", "b": "waiting", "c": "claimed"}


def test_only_tasks_that_nobody_was_given_are_deleted_or_changed(
    alex: Client, tasks: dict[str, int], world: World
) -> None:
    given = episode_claim(user=world.ada, pool_id=pool_of(tasks))
    assert given is not None
    assert given.task.key == "a"
    edited = sent(alex, "PATCH", f"/tasks/{tasks['b']}", {"instruction": " Do b well ", "max_steps": 7})
    assert (edited["instruction"], edited["max_steps"], edited["key"]) == ("Do b well", 7, "b")
    assert sent(alex, "PATCH", f"/tasks/{tasks['a']}", {"instruction": "Other"})["code"] == "task_tried"
    wrong = sent(alex, "PATCH", f"/tasks/{tasks['b']}", {"max_steps": 0})
    assert wrong["code"] == "invalid"
    answer = bulk(alex, tasks, "deletion", "a", "b", "c")
    assert ([task["id"] for task in answer["deleted"]], answer["in_use"]) == (["b", "c"], 1)
    assert states(tasks) == {"a": TaskState.CLAIMED}
    verbs = set(AuditEntry.objects.values_list("verb", flat=True))
    assert {"task.changed", "tasks.deleted"} <= verbs


def test_an_accepted_episode_becomes_the_reference_of_a_marked_task(
    alex: Client, tasks: dict[str, int], world: World
) -> None:
    episode = episode_claim(user=world.ada, pool_id=pool_of(tasks))
    assert episode is not None
    Task.objects.filter(pk=tasks["a"]).update(held=0, finished=1, state=TaskState.DONE)
    Episode.objects.filter(pk=episode.pk).update(status="finished", outcome="success")
    assert [one["id"] for one in sent(alex, "GET", f"/tasks/{tasks['a']}/references")] == [str(episode.pk)]
    rosa = world.client(world.rosa)
    answer = sent(rosa, "POST", f"/episodes/{episode.pk}/review", {"decision": "accept", "reason": ""})
    assert "code" not in (answer or {}), answer
    task = Task.objects.get(pk=tasks["a"])
    assert (task.gold_id, task.gold_wanted, task.state) == (episode.pk, False, TaskState.DONE)
    assert sent(rosa, "POST", f"/tasks/{tasks['a']}/gold", {"episode": None}) is None
    assert Task.objects.get(pk=tasks["a"]).gold_id is None


def test_only_admins_change_tasks(tasks: dict[str, int], world: World) -> None:
    for user in (world.ada, world.rosa, world.ravi):
        client = world.client(user)
        for what in ("withdrawal", "gold", "deletion"):
            assert bulk(client, tasks, what, "a")["code"] == "forbidden"
        assert sent(client, "PATCH", f"/tasks/{tasks['a']}", {"max_steps": 3})["code"] == "forbidden"
    assert states(tasks) == dict.fromkeys("abc", "waiting")
