"""Pictures of a suite's tasks: made once on a machine, kept, and for those who choose tasks alone."""

import base64
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.core.cache import cache

from annotation_app.accounts.services import user_ensure
from annotation_app.live import jobs
from annotation_app.live.task_pictures import pictures_make
from protocol.trajectory.tasks import Task, TaskVariant
from tests.integration.web.conftest import PASSWORD, Stack, task_named

pytestmark = pytest.mark.django_db(transaction=True)


async def test_pictures_are_made_once_when_they_are_first_looked_at(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued: list[dict[str, Any]] = []
    unknown = task_named("two").model_copy(update={"suite": "desktop", "name": "gone"})

    async def tasks(suite: str, variant: TaskVariant) -> tuple[Task, ...]:
        return task_named("one"), unknown

    for module in ("suite_api", "task_pictures"):
        monkeypatch.setattr(f"annotation_app.live.{module}.suite_tasks", tasks)
    monkeypatch.setattr(jobs.task_pictures_job, "delay", lambda suite, variant: queued.append(variant))
    await cache.aclear()

    def look(role: str = "researcher") -> Any:
        user = user_ensure(username=f"one-{role}", password=PASSWORD, name="One", roles=[role])
        return stack.world.client(user).get("/api/suites/desktop/pictures").json()

    assert (await sync_to_async(look)("reviewer"))["code"] == "forbidden"
    first = await sync_to_async(look)()
    assert first["pending"]
    assert {task["picture"] for task in first["tasks"]} == {""}
    await sync_to_async(look)()
    assert len(queued) == 1, "one job makes them"
    await pictures_make("desktop", TaskVariant.model_validate(queued[0]))
    whole = await sync_to_async(look)()
    assert not whole["pending"]
    made, missing = (task["picture"] for task in whole["tasks"])
    assert base64.b64decode(made.removeprefix("data:image/webp;base64,"))[8:12] == b"WEBP"
    assert missing == "", "its machine does not know it"
    assert len(queued) == 1


async def test_without_a_machine_there_is_no_picture_for_a_while(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation_app.live.task_pictures.MACHINE_WAIT_SECONDS", 0)
    await cache.aclear()
    await pictures_make("terminal", TaskVariant())
    user = await sync_to_async(user_ensure)(username="one-admin", password=PASSWORD, name="One", roles=["admin"])
    client = await sync_to_async(stack.world.client)(user)
    found = (await sync_to_async(client.get)("/api/suites/terminal/pictures")).json()
    assert not found["pending"]
    assert {task["picture"] for task in found["tasks"]} == {""}
