"""OSWorld's task files at a pool's door, with a real bridge asked which machines judge them."""

import json
from typing import Any

from django.test import Client

from annotation_app.accounts.services import user_ensure
from annotation_app.live.store import run_in_db_thread
from annotation_app.tasks.models import Task
from tests.integration.web.conftest import PASSWORD, Stack
from tests.integration.web.tasks.test_pools import post_pool, sent, upload

SAYS = {"type": "vm_command_line", "command": ["echo", "yes"]}
RULE = {"type": "rule", "rules": {"expected": "yes"}}


def file_of(name: str, **evaluator: Any) -> dict[str, Any]:
    judged = {"func": "exact_match", "result": SAYS, "expected": RULE} | evaluator
    return {"id": name, "instruction": f"Do {name}", "config": [], "evaluator": judged}


def as_jsonl(*files: dict[str, Any]) -> bytes:
    tasks = (
        {"id": one["id"], "instruction": one["instruction"], "parameters": {"osworld": {"evaluator": one["evaluator"]}}}
        for one in files
    )
    return "\n".join(map(json.dumps, tasks)).encode()


def admin(stack: Stack) -> Client:
    return stack.world.client(user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"]))


async def test_a_file_that_nobody_would_judge_is_refused_with_its_row(stack: Stack) -> None:
    def tried() -> None:
        alex = admin(stack)
        pool = post_pool(alex)["id"]
        both = (file_of("a"), file_of("b"))
        for data, kind in ((json.dumps(both).encode(), "osworld"), (as_jsonl(*both), "jsonl")):
            for preview in ("true", "false"):
                report = upload(alex, pool, data, kind, preview=preview)
                assert [(fault["row"], fault["code"]) for fault in report["faults"]] == [
                    (1, "unsupported_task"),
                    (2, "unsupported_task"),
                ]
                assert "image desktop" in report["faults"][0]["reason"]
                assert not report["added"]
        assert not Task.objects.filter(pool=pool).exists()

    await run_in_db_thread(tried)


async def test_their_machines_take_what_they_can_judge_and_the_pool_stays_theirs(stack: Stack) -> None:
    def tried() -> None:
        alex = admin(stack)
        pool = post_pool(alex, image="osworld")["id"]
        files = [file_of(f"t{number}") for number in range(20)]
        report = upload(alex, pool, json.dumps([*files, file_of("last", func="guess_well")]).encode(), "osworld")
        (fault,) = report["faults"]
        assert (fault["row"], fault["code"]) == (21, "unsupported_task")
        assert "guess_well" in fault["reason"]
        assert not Task.objects.filter(pool=pool).exists(), "nothing of it is added"
        assert upload(alex, pool, json.dumps(files).encode(), "osworld")["added"]
        body = {"pools": [{"id": pool, "version": 1}], "changes": {"image": "desktop"}}
        assert sent(alex, "PATCH", "/pools", body)["code"] == "unsupported_task"

    await run_in_db_thread(tried)


async def test_without_a_bridge_nothing_is_taken(stack: Stack, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"bridge_url": "http://127.0.0.1:9"})

    def tried() -> None:
        alex = admin(stack)
        pool = post_pool(alex, image="osworld")["id"]
        assert upload(alex, pool, json.dumps(file_of("a")).encode(), "osworld")["code"] == "bridge_unavailable"
        assert not Task.objects.filter(pool=pool).exists()

    await run_in_db_thread(tried)
