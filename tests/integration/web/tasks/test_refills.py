"""A pool whose policy fails at a kind of task gets more of it, within its quota, once."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes import services as episodes
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.services import policy_ensure
from annotation_app.refills import jobs, selectors, services, task_makers
from annotation_app.refills.models import Refill, RefillRule
from annotation_app.tasks.models import Pool, Tally, Task
from annotation_app.tasks.services import tasks_add
from protocol.trajectory.tasks import TaskVariant
from tests.integration.web.conftest import World
from tests.integration.web.tasks.test_task_sampling import root_make
from vm_bridge.suites.registry import list_suites, make_tasks


@pytest.fixture
def suites(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bridge's suites, asked in this process."""

    async def suite_tasks(suite: str, variant: TaskVariant) -> Any:
        return make_tasks(suite, variant)

    def find_maker() -> task_makers.SuiteMaker:
        return task_makers.SuiteMaker({suite.name: suite for suite in list_suites()})

    monkeypatch.setattr(task_makers, "suite_tasks", suite_tasks)
    monkeypatch.setattr(services, "find_suite_maker", find_maker)
    monkeypatch.setattr(selectors, "find_suite_maker", find_maker)


def failing_pool(world: World, **counts: int) -> PolicyRevision:
    """The pool has one task of two drills; its revision fails at `form` and is good at `press`."""
    revision = policy_ensure(name="m", revision="1", dialect="ui_tars_1_5", base_url="http://model/v1", model="m")
    Pool.objects.filter(pk=world.pool.pk).update(policy=revision, platform="browser")
    Task.objects.filter(pool=world.pool).delete()
    made = [task for task in make_tasks("drills", TaskVariant(seed=7)) if task.name in ("form", "press")]
    tasks_add(pool=world.pool, definitions=made)
    counts = {"accepted": 5, "overridden": 20, "succeeded": 4, "failed": 6, **counts}
    Tally.objects.create(pool=world.pool, revision=revision, kind="drills/form", **counts)
    Tally.objects.create(pool=world.pool, revision=revision, kind="drills/press", accepted=90, succeeded=1)
    return revision


def call(user: User, world: World, method: str, path: str = "", body: object = None) -> tuple[int, Any]:
    client = world.client(user)
    answer = client.generic(
        method, f"/api/pools/{world.pool.pk}/refill{path}", json.dumps(body), content_type="application/json"
    )
    return answer.status_code, answer.json()


RULE = {"active": True, "per_day": 6, "waiting_per_kind": 4, "need_at_least": 0.5}


@pytest.fixture
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs are queued and nobody does them."""
    monkeypatch.setattr(jobs.refill_job, "delay", lambda _: None)


@pytest.mark.usefixtures("suites")
class TestRefill:
    def test_a_failing_kind_gets_tasks_and_the_page_says_what_became_of_them(self, world: World) -> None:
        revision, root = failing_pool(world), root_make()
        status, page = call(root, world, "POST", body=RULE)
        assert status == 200
        (planned,) = page["planned"]
        assert (planned["kind"]["name"], planned["count"], planned["reason"]) == ("form", 3, "fails"), "one waits"
        assert services.refill_run(pool_id=world.pool.pk) == 3
        kinds = [task.definition.seed for task in Task.objects.filter(pool=world.pool, kind="drills/form")]
        assert sorted(kinds) == [7, 8, 9, 10]
        (refill,) = Refill.objects.all()
        assert (refill.revision, refill.made, refill.added, refill.failed) == (revision, 3, 3, 6)
        (entry,) = AuditEntry.objects.filter(verb="tasks.refilled")
        assert (entry.actor, entry.source, entry.details) == (None, "part:refills", {"new": 3})
        solve_one(world)
        _, page = call(world.ravi, world, "GET")
        assert page["kinds"] == [{"kind": "drills/form", "made": 3, "added": 3, "done": 1, "solved": 1}]
        assert (page["added_in_24_hours"], page["entries"][0]["revision"]) == (3, "m 1")

    def test_a_second_run_adds_only_what_is_missing_within_the_quota(self, world: World) -> None:
        failing_pool(world)
        call(root_make(), world, "POST", body=RULE)
        assert [services.refill_run(pool_id=world.pool.pk) for _ in range(2)] == [3, 0]
        Task.objects.filter(pool=world.pool, kind="drills/form").update(state="done")
        assert [services.refill_run(pool_id=world.pool.pk) for _ in range(2)] == [3, 0], "6 in 24 hours"
        Refill.objects.update(created_at=timezone.now() - timedelta(hours=25))
        Task.objects.filter(pool=world.pool, kind="drills/form").update(state="done")
        assert services.refill_run(pool_id=world.pool.pk) == 4

    @pytest.mark.usefixtures("no_worker")
    def test_it_is_asked_for_by_an_admin_and_waits_until_it_is_made(self, world: World) -> None:
        failing_pool(world)
        root = root_make()
        assert call(world.ravi, world, "POST", body=RULE)[0] == 403
        assert call(world.ravi, world, "POST", "/now")[0] == 403
        assert call(world.ada, world, "GET")[0] == 403
        assert selectors.rules_due() == ()
        _, page = call(root, world, "POST", "/now")
        assert (page["pending"], page["settings"]["active"]) == (True, False)
        assert selectors.rules_due() == (world.pool.pk,), "whoever heard of it may have died"
        assert services.refill_run(pool_id=world.pool.pk) == 4
        assert selectors.rules_due() == ()
        assert call(root, world, "GET")[1]["pending"] is False

    def test_a_rule_rests_while_its_pool_does(self, world: World) -> None:
        failing_pool(world)
        call(root_make(), world, "POST", body=RULE)
        assert selectors.rules_due() == (world.pool.pk,)
        for change in ({"paused": True}, {"paused": False, "stopped_at": timezone.now()}):
            Pool.objects.filter(pk=world.pool.pk).update(**change)
            assert selectors.rules_due() == ()

    @pytest.mark.usefixtures("no_worker")
    def test_where_the_bridge_is_gone_nothing_is_added_and_it_is_said(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        failing_pool(world)
        root = root_make()
        call(root, world, "POST", "/now")
        for module in (services, selectors):
            monkeypatch.setattr(module, "find_suite_maker", lambda: None)
        assert services.refill_run(pool_id=world.pool.pk) == 0
        _, page = call(root, world, "GET")
        assert (page["reachable"], page["pending"], page["planned"]) == (False, True, [])
        assert "bridge does not answer" in page["error"]

    @pytest.mark.parametrize(
        ("field", "value"),
        [("per_day", 0), ("waiting_per_kind", 1_001), ("need_at_least", 1.5), ("need_at_least", "x")],
    )
    def test_bad_settings_name_their_field(self, world: World, field: str, value: object) -> None:
        status, answer = call(root_make(), world, "POST", body={**RULE, field: value})
        assert (status, answer["extra"]["fields"][0]["field"]) == (422, field)
        assert not RefillRule.objects.exists()


@pytest.mark.usefixtures("suites")
def test_two_at_once_add_what_one_would(committed: World) -> None:
    failing_pool(committed)
    call(root_make(), committed, "POST", body=RULE)

    def run(_: int) -> int:
        try:
            return services.refill_run(pool_id=committed.pool.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(run, range(4))) == 3
    assert Task.objects.filter(pool=committed.pool, kind="drills/form").count() == 4


def solve_one(world: World) -> None:
    """Somebody does one of the added tasks."""
    Task.objects.filter(pool=world.pool, refills__isnull=True).update(state="withdrawn")
    episode = episodes.episode_next(user=world.ada)
    assert episode is not None
    episodes.episode_change(episode_id=episode.id, token=None, fields={"status": "finished", "outcome": "success"})
