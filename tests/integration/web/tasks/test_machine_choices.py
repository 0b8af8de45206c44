"""Machine images, suites and tasks that nobody has are refused where they are typed, and told where they are needed."""

import json
from typing import Any

from django.core.cache import cache
from django.test import Client

from annotation_app.accounts.services import user_ensure
from annotation_app.fleet.services import fleet_now
from annotation_app.health.selectors import health_page
from annotation_app.live.store import run_in_db_thread
from annotation_app.tasks.models import Pool, Task
from annotation_app.tasks.services import tasks_add
from protocol.trajectory.tasks import Task as TaskDefinition
from tests.integration.web.conftest import PASSWORD, Stack
from tests.integration.web.tasks.test_pools import post_pool, sent, upload
from tests.integration.web.tasks.test_task_files import admin


def rows(*tasks: dict[str, Any]) -> bytes:
    return "\n".join(json.dumps({"instruction": "Do it.", **task}) for task in tasks).encode()


async def test_waiting_tasks_of_a_suite_that_is_gone_are_told_on_pools_and_health(stack: Stack) -> None:
    def tried() -> None:
        cache.clear()
        alex, pool = admin(stack), stack.world.pool
        names = [("gone", "a"), ("gone", "b"), ("games", "chess"), ("games", "snake"), (None, None)]
        made = [
            TaskDefinition(id=f"{suite}/{name}", instruction='Say "suite":null.', suite=suite, name=name)
            for suite, name in names
        ]
        Task.objects.filter(pool=pool).delete()
        tasks_add(pool=pool, definitions=made)
        told = sent(alex, "GET", "/pools/board")["missing_suites"]
        here = [(row["name"], row["tasks"]) for row in told if row["pool"] == pool.pk]
        assert here == [("games/chess", 1), ("gone", 2)]
        user = user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])
        checks = [check for check in health_page(user=user).checks if check.kind == "suite"]
        found = {(check.subject, check.problem, check.detail) for check in checks}
        assert {("games/chess", "no_suite", pool.name), ("gone", "no_suite", pool.name)} <= found

    await run_in_db_thread(tried)


async def test_an_image_that_no_host_makes_is_refused_with_those_there_are(stack: Stack) -> None:
    def tried() -> None:
        alex = admin(stack)
        refused = sent(alex, "POST", "/pools", {"settings": {"name": "typo", "image": "dekstop"}})
        assert refused["code"] == "unknown_image"
        assert refused["extra"]["images"] == ["browser", "desktop", "osworld"]
        assert [each["field"] for each in refused["extra"]["fields"]] == ["image"]
        pool = post_pool(alex)
        body = {"pools": [{"id": pool["id"], "version": 1}], "changes": {"image": "dekstop", "priority": 3}}
        assert sent(alex, "PATCH", "/pools", body)["code"] == "unknown_image"
        assert sent(alex, "GET", f"/pools/{pool['id']}") == pool
        assert not Pool.objects.filter(name="typo").exists()

    await run_in_db_thread(tried)


async def test_the_choices_are_what_the_bridge_reports(stack: Stack, settings: Any) -> None:
    def choices(client: Client) -> Any:
        return sent(client, "GET", "/pools/choices")

    def tried() -> None:
        alex = admin(stack)
        found = choices(alex)
        assert found["reachable"]
        assert found["images"] == ["browser", "desktop", "osworld"]
        suites = {suite["name"]: suite for suite in found["suites"]}
        assert suites["desktop"]["platform"] == "desktop"
        assert "say_hello" in {task["name"] for task in suites["desktop"]["tasks"]}
        assert max(task["levels"] for task in suites["games"]["tasks"]) > 1
        assert choices(stack.world.client(stack.world.ada))["code"] == "forbidden"
        settings.ENV = settings.ENV.model_copy(update={"bridge_url": "http://127.0.0.1:9"})
        assert choices(alex) == {"reachable": False, "images": [], "suites": []}
        assert post_pool(alex, image="not-checked")["id"], "what cannot be known is taken"

    await run_in_db_thread(tried)


async def test_rows_that_name_no_suite_or_task_of_the_bridge_are_told(stack: Stack) -> None:
    def tried() -> None:
        alex = admin(stack)
        pool = post_pool(alex)["id"]
        data = rows(
            {"id": "right", "suite": "desktop", "name": "say_hello"},
            {"id": "suite", "suite": "desktpo", "name": "say_hello"},
            {"id": "name", "suite": "desktop", "name": "say_helo"},
            {"id": "none", "suite": "desktop"},
            {"id": "elsewhere", "suite": "games", "name": "2048"},
            {"id": "free"},
        )
        report = upload(alex, pool, data, "jsonl")
        told = {fault["row"]: (fault["code"], fault["reason"].partition(":")[0]) for fault in report["faults"]}
        assert told == {
            2: ("unknown_task", "suite"),
            3: ("unknown_task", "name"),
            4: ("unknown_task", "name"),
            5: ("unknown_task", "suite"),
        }
        assert not Task.objects.filter(pool=pool).exists()

    await run_in_db_thread(tried)


async def test_tasks_of_a_suite_are_chosen_by_name_level_and_seed(stack: Stack) -> None:
    def tried() -> None:
        alex = admin(stack)
        pool = post_pool(alex, platform="browser", image="browser")["id"]
        chosen = {"suite": "games", "tasks": ["2048", "snake"], "level": 2, "first_seed": 5, "seeds": 3}
        report = sent(alex, "POST", f"/pools/{pool}/suite", chosen)
        assert (report["added"], report["new"]) == (True, 6)
        made = [task.definition for task in Task.objects.filter(pool=pool)]
        assert {(task.name, task.seed) for task in made} == {(n, s) for n in ("2048", "snake") for s in (5, 6, 7)}
        assert {task.parameters["level"] for task in made} == {2}
        other = {**chosen, "seeds": 1, "size": [640, 480], "preview": True}
        report = sent(alex, "POST", f"/pools/{pool}/suite", other)
        assert (report["new"], report["first"][0]["key"]) == (2, "games/2048-l2-s5-640x480")
        for wrong, code in (
            ({"size": [320, 180]}, "unknown_variant"),
            ({"tasks": ["2047"]}, "unknown_task"),
            ({"level": 90}, "unknown_variant"),
            ({"suite": "gmaes"}, "not_found"),
        ):
            assert sent(alex, "POST", f"/pools/{pool}/suite", {**chosen, **wrong})["code"] == code

    await run_in_db_thread(tried)


async def test_an_image_that_no_host_makes_any_more_is_told_on_machines_and_health(stack: Stack) -> None:
    def tried() -> None:
        user = user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])
        assert fleet_now(user=user).missing == ()
        Pool.objects.filter(pk=stack.world.pool.pk).update(image="gone")
        Pool.objects.create(name="empty", image="gone-too")
        missing = {one.image: one.pools for one in fleet_now(user=user).missing}
        assert missing == {"gone": (stack.world.pool.name,), "gone-too": ("empty",)}
        (check,) = [check for check in health_page(user=user).checks if check.kind == "image"]
        assert (check.subject, check.state, check.problem) == ("gone", "down", "no_host")
        assert stack.world.pool.name in check.detail

    await run_in_db_thread(tried)
