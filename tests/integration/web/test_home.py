"""Home: what needs each role, from few queries, and how the last day went."""

import json
import time
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes import services as episodes
from annotation_app.episodes.models import Command, Episode, Step
from annotation_app.exports.models import Export
from annotation_app.flywheel.models import Turn, Wheel
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.health import history, uptime
from annotation_app.health.part_status import HEARTBEAT_TIMEOUT_SECONDS
from annotation_app.health.schemas import Check
from annotation_app.home.selectors import HEALTH_TIMEOUT, RECENT, home_page
from annotation_app.home.selectors.hours import CACHE_KEY
from annotation_app.notifications.models import Notice
from annotation_app.notifications.services.notices import admins_notify
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policy_of
from annotation_app.policies.services import evaluation_store, policy_ensure
from annotation_app.promotions.models import GateDecision
from annotation_app.settings.base import CACHES
from annotation_app.tasks.models import Assignment, Pool, Task
from tests.contract.test_store import step
from tests.integration.web.conftest import PASSWORD, World
from tests.unit.annotation_app.test_gate import report

MAX_QUERIES = 12


@pytest.fixture
def alma(world: World) -> User:
    cache.clear()
    return user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])


def kinds(world: World, user: User) -> list[str]:
    return [item["kind"] for item in world.client(user).get("/api/home").json()["items"]]


def item_of(world: World, user: User, kind: str) -> dict[str, Any]:
    (found,) = [each for each in world.client(user).get("/api/home").json()["items"] if each["kind"] == kind]
    return dict(found)


def finished_by(user: User) -> Episode:
    """An episode that was begun and finished just now."""
    episode = episodes.episode_next(user=user)
    assert episode is not None
    Episode.objects.filter(pk=episode.pk).update(status="finished", outcome="success", finished_at=timezone.now())
    return episode


def test_nothing_needs_anybody_at_first(world: World, alma: User) -> None:
    assert kinds(world, alma) == []
    hours = world.client(alma).get("/api/home").json()["hours"]
    assert len(hours) == 24
    assert {(hour["acts"], hour["override"]) for hour in hours} == {(0, None)}


def test_annotators_have_their_queue(world: World) -> None:
    answer = world.client(world.ada).get("/api/home")
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


def test_help_reviews_and_a_pool_that_runs_dry(world: World, alma: User) -> None:
    finished_by(world.ada)
    waiting = episodes.episode_next(user=world.ben)
    assert waiting is not None
    Episode.objects.filter(pk=waiting.pk).update(help_requested=True)
    Command.objects.create(command_id="help", episode_id=waiting.pk, digest="d", note="The file is empty.")
    Task.objects.filter(state="waiting").update(state="done")
    for user in (alma, world.rosa):
        helped = item_of(world, user, "help")
        assert (helped["subject"], helped["episode"], helped["message"]) == (
            "Ben",
            str(waiting.pk),
            "The file is empty.",
        )
        assert item_of(world, user, "reviews")["count"] == 1
    dry = item_of(world, alma, "pool")
    assert (dry["subject"], dry["waiting"], dry["done_last_day"]) == ("real", 0, 1)
    assert kinds(world, alma)[0] == "help", "the most urgent first"
    assert "pool" not in kinds(world, world.rosa), "reviewers mend no pools"


def test_many_who_ask_for_help_are_counted(world: World, alma: User) -> None:
    episode = episodes.episode_next(user=world.ben)
    assert episode is not None
    tasks = Task.objects.filter(pool=world.pool)
    for number in range(6):
        assignment = Assignment.objects.create(
            task=tasks[number % 3], annotator=world.ada, state="expired", expires_at=timezone.now()
        )
        Episode.objects.create(
            task=assignment.task, annotator=world.ada, assignment=assignment, status="running", help_requested=True,
            desk=episode.desk,
        )  # fmt: skip
    assert kinds(world, alma).count("help") == 5
    assert item_of(world, alma, "more_help")["count"] == 1


def check(**fields: Any) -> Check:
    return Check.model_validate(
        {"name": "x", "kind": "web", "state": "ok", "seconds": 0.1, "since": timezone.now(), **fields}
    )


def test_parts_that_fail_come_from_the_last_look(world: World, alma: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uptime, "STARTED_AT", time.monotonic() - HEARTBEAT_TIMEOUT_SECONDS)
    checks = (
        check(kind="web"),
        check(kind="backup", state="warn", problem="no_backup"),
        check(kind="disk", state="warn", problem="disk_filling"),
        check(kind="model", subject="tars 1", state="down", problem="no_model", detail="tars"),
    )
    history.record_checks(timezone.now(), checks)
    for user in (alma, world.ravi):
        found = world.client(user).get("/api/home").json()["items"]
        assert [(each["part"], each["subject"], each["down"]) for each in found] == [
            ("model", "tars 1", True),
            ("disk", "", False),
        ]
    assert kinds(world, world.rosa) == []
    history.record_checks(timezone.now() - 2 * HEALTH_TIMEOUT, checks)
    assert kinds(world, alma) == ["health_unknown"]
    monkeypatch.setattr(uptime, "STARTED_AT", time.monotonic())
    assert kinds(world, alma) == [], "these checks are of before the start"


def test_without_redis_home_says_so_and_shows_the_rest(world: World, alma: User, settings: Any) -> None:
    finished_by(world.ada)
    settings.CACHES = {"default": {**CACHES["default"], "LOCATION": "redis://127.0.0.1:9/0"}}
    part = item_of(world, alma, "part")
    assert (part["part"], part["problem"], part["down"]) == ("redis", "unreachable", True)
    assert "reviews" in kinds(world, alma)
    assert len(world.client(alma).get("/api/home").json()["hours"]) == 24


def test_a_policy_that_is_overridden_more_than_before(world: World, alma: User) -> None:
    policy_ensure(name="tars", revision="1", base_url="http://m/v1", model="m", dialect="ui_tars_1_5")
    world.pool.policy = policy_ensure(name="tars", revision="1", base_url="http://m/v1")
    world.pool.save()
    episode = episodes.episode_next(user=world.ada)
    assert episode is not None
    now = timezone.now()
    document = step(0)
    rows = [
        Step(
            episode_id=episode.pk, index=number, command_id=uuid4().hex, actor="human", policy="tars 1",
            decision="override" if late and number % 2 else "accept", document=document,
            created_at=now - timedelta(hours=1 if late else 12),
        )
        for number, late in ((number, number >= 40) for number in range(80))
    ]  # fmt: skip
    Step.objects.bulk_create(rows)
    fell = item_of(world, alma, "policy_overridden")
    assert (fell["subject"], fell["before"]["successes"], fell["after"]["successes"]) == ("tars 1", 0, 20)
    hours = world.client(alma).get("/api/home").json()["hours"]
    assert sum(hour["acts"] for hour in hours) == 80
    assert json.loads(json.dumps(cache.get(CACHE_KEY))), "the cache of the web app keeps JSON"


def test_a_failed_job_is_listed_until_it_is_done_again(world: World, alma: User) -> None:
    ended = {"requested_by": world.ravi, "finished_at": timezone.now()}
    Export.objects.create(**ended, status="failed", error="The disk is full.")
    failed = item_of(world, alma, "job")
    assert (failed["job"], failed["subject"], failed["detail"]) == ("export", "ravi", "The disk is full.")
    assert kinds(world, world.ravi) == ["job"]
    other = user_ensure(username="rene", password=PASSWORD, name="Rene", roles=["researcher"])
    assert kinds(world, other) == [], "researchers see their own jobs"
    Export.objects.create(**ended, status="done")
    assert kinds(world, alma) == []


def test_a_degraded_policy_until_the_notice_is_read(world: World, alma: User) -> None:
    admins_notify(kind="policy.degraded", subject="policy:x", details={"policy": "tars 1", "reason": "It is slow."})
    found = item_of(world, alma, "policy_degraded")
    assert (found["subject"], found["detail"]) == ("tars 1", "It is slow.")
    Notice.objects.filter(user=alma).update(read_at=timezone.now())
    assert kinds(world, alma) == []


def test_a_cycle_that_failed_until_the_next_is_begun(world: World, alma: User) -> None:
    recipe = Recipe(
        policy="toy",
        start="/start",
        sft=LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0)),
        trials=GateTrials(world="toy", first_seed=900, seeds=10),
    )
    wheel = Wheel.objects.create(name="daily", pool=world.pool, owner=alma, recipe=recipe)
    made = Turn.objects.create(wheel=wheel, number=1, recipe=recipe, state="failed", requested_by=alma)
    found = item_of(world, alma, "cycle")
    assert (found["subject"], found["number"], found["cycle"]) == ("daily", 1, str(made.pk))
    Turn.objects.create(wheel=wheel, number=2, recipe=recipe, state="running", requested_by=alma)
    assert kinds(world, alma) == []


def test_a_gate_that_decided_until_its_revision_is_promoted_or_retired(world: World, alma: User) -> None:
    old, new = (policy_ensure(name="tars", revision=number, base_url="http://m/v1", model="m") for number in "12")
    world.pool.policy = old
    world.pool.save()
    stored, _ = evaluation_store(revision=new, report=report(policy_of(new), {"games/2048": (6, 6)}))
    decision = GateDecision.objects.create(pool=world.pool, evaluation=stored, active=old, passed=True)
    found = item_of(world, alma, "gate")
    assert (found["subject"], found["pool"], found["passed"]) == ("tars 2", world.pool.name, True)
    assert kinds(world, world.ravi) == ["gate"]
    PolicyRevision.objects.filter(pk=new.pk).update(retired_at=timezone.now())
    assert kinds(world, alma) == []
    PolicyRevision.objects.filter(pk=new.pk).update(retired_at=None)
    Pool.objects.filter(pk=world.pool.pk).update(policy=new)
    assert kinds(world, alma) == []

    Pool.objects.filter(pk=world.pool.pk).update(policy=old)
    GateDecision.objects.filter(pk=decision.pk).update(passed=False)
    assert item_of(world, alma, "gate")["passed"] is False
    GateDecision.objects.filter(pk=decision.pk).update(created_at=timezone.now() - 2 * RECENT)
    assert kinds(world, alma) == []


def test_few_queries_however_much_there_is(world: World, alma: User) -> None:
    finished_by(world.ada)
    world.pool.review_mode = "sample"
    world.pool.review_percent = 100
    world.pool.save()
    with CaptureQueriesContext(connection) as queries:
        home_page(user=alma)
    assert len(queries) <= MAX_QUERIES, [query["sql"][:100] for query in queries]
    with CaptureQueriesContext(connection) as again:
        home_page(user=alma)
    assert len(again) == len(queries) - 1, "the hours are counted once a minute"
