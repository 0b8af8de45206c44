"""What admins and Prometheus are told of the platform, and the id that a request carries to everything it starts."""

import json
import logging
import re
import time
from collections.abc import Callable
from http import HTTPMethod
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from redis import Redis

from annotation_app.accounts.models import User
from annotation_app.accounts.services import token_make, user_ensure
from annotation_app.celery import QUEUED_HEADER
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.flywheel.services.ledger import wheel_set
from annotation_app.health import probes, selectors, uptime
from annotation_app.health.jobs import check_parts_job, heartbeat_job
from annotation_app.health.metrics import PROCESS, REQUESTS, render_metrics
from annotation_app.health.part_status import DISK_FULL_BYTES, HEARTBEAT_TIMEOUT_SECONDS
from annotation_app.health.probes import HEARTBEAT_KEY, LAST_BACKUP_NAME
from annotation_app.notifications.models import Notice
from annotation_app.operations.runtime.stack import ROOT
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE, training_worker_heartbeat
from annotation_app.trace import TRACE_HEADER, JsonFormatter, TraceFilter, trace_context, trace_id
from tests.integration.web.conftest import PASSWORD, World, policy_serve

GIB = 2**30


@pytest.fixture
def alma(world: World) -> User:
    cache.clear()
    return user_ensure(username="alma", password=PASSWORD, name="Alma", roles=["admin"])


def parts(client: Client) -> dict[str, Any]:
    return {check["name"]: check for check in client.get("/api/health/parts").json()["checks"]}


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Says how much is free of a disk of a thousand GiB: how full this machine's is belongs to no test."""

    def set_free(free: int) -> None:
        usage = SimpleNamespace(total=1_000 * GIB, used=(1_000 - free) * GIB, free=free * GIB)
        monkeypatch.setattr(probes, "disk_usage", lambda folder: usage)

    set_free(500)
    return set_free


@pytest.fixture
def broken(redis_url: str, settings: Any, free: Callable[[int], None]) -> None:
    """An installation whose bridge is gone, and whose queues hold no job of another test."""
    with Redis.from_url(redis_url) as broker:
        broker.delete(DEFAULT_QUEUE, TRAINING_QUEUE)
    settings.ENV = settings.ENV.model_copy(update={"redis_url": redis_url, "bridge_url": "http://127.0.0.1:9"})


@pytest.fixture(autouse=True)
def long_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts that are silent had time to report."""
    monkeypatch.setattr(uptime, "STARTED_AT", time.monotonic() - HEARTBEAT_TIMEOUT_SECONDS)


def test_every_part_is_asked_and_says_what_is_wrong(world: World, alma: User, broken: None) -> None:
    heartbeat_job()
    policy_serve([world.pool], "http://127.0.0.1:9/v1")
    found = parts(world.client(alma))
    assert set(found) == {
        *("web", "worker", "beat", "bridge", "gateway", "database", "redis", "queue", "disk", "backup"),
        "model scripted 1",
    }
    down = {name: check["problem"] for name, check in found.items() if check["state"] == "down"}
    assert down == {"bridge": "unreachable", "model scripted 1": "unreachable"}
    assert found["database"]["figures"]["bytes"] > 0


def test_a_disk_without_room_is_told(world: World, alma: User, broken: None, free: Callable[[int], None]) -> None:
    heartbeat_job()
    assert parts(world.client(alma))["disk"]["state"] == "ok"
    free(40)
    assert (disk := parts(world.client(alma))["disk"])["problem"] == "disk_full"
    assert (disk["state"], disk["figures"]["free"]) == ("down", 40 * GIB)


def test_the_experts_of_machines_have_no_server_that_could_fail(world: World, alma: User, broken: None) -> None:
    policy_serve([world.pool], EXPERT_URL)
    assert not [name for name in parts(world.client(alma)) if name.startswith("model")]


def test_the_server_of_a_revision_on_trial_is_asked_too(world: World, alma: User, broken: None) -> None:
    policy_serve([world.practice], "http://127.0.0.1:9/v1")
    world.practice.refresh_from_db()
    trial, client = world.practice.policy, world.client(alma)
    assert trial is not None
    type(world.pool).objects.filter(pk=world.practice.pk).update(policy=None, canary=trial, canary_share=10)
    assert parts(client)[f"model {trial}"]["problem"] == "unreachable"
    said = client.get(f"/api/health/models/{trial.pk}").json()
    assert (said["state"], said["problem"]) == ("down", "unreachable")
    assert client.get("/api/health/models/999999").status_code == 404
    assert world.client(world.ada).get(f"/api/health/models/{trial.pk}").status_code == 403
    type(trial).objects.filter(pk=trial.pk).update(base_url=EXPERT_URL)
    assert client.get(f"/api/health/models/{trial.pk}").json()["state"] == "ok"


def test_a_silent_worker_is_told_from_a_silent_beat(world: World, alma: User, broken: None, redis_url: str) -> None:
    cache.set(HEARTBEAT_KEY, time.time() - HEARTBEAT_TIMEOUT_SECONDS - 1)
    found = parts(world.client(alma))
    assert (found["worker"]["state"], found["beat"]["state"]) == ("warn", "down"), "nothing is queued any more"
    with Redis.from_url(redis_url) as broker:
        broker.lpush(DEFAULT_QUEUE, json.dumps({"headers": {QUEUED_HEADER: time.time() - 400}}))
        broker.lpush(DEFAULT_QUEUE, json.dumps({"headers": {QUEUED_HEADER: time.time()}}))
        found = parts(world.client(alma))
        broker.delete(DEFAULT_QUEUE)
    assert (found["worker"]["state"], found["beat"]["state"]) == ("down", "ok"), "jobs come, and nobody takes them"
    assert (found["queue"]["problem"], found["queue"]["figures"]["jobs"]) == ("queue_old", 2)
    assert found["queue"]["figures"]["oldest"] >= 400


def test_who_trains_is_asked_for_where_wheels_turn(world: World, alma: User, broken: None, redis_url: str) -> None:
    client = world.client(alma)
    assert "trainer" not in parts(client), "nothing is amiss where nothing turns"
    recipe = Recipe(
        policy="toy",
        start="/start",
        sft=LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0)),
        trials=GateTrials(world="toy", first_seed=900, seeds=10),
    )
    wheel_set(user=alma, name="main", pool=world.pool.name, recipe=recipe)
    silent = parts(client)["trainer"]
    assert (silent["state"], silent["problem"]) == ("warn", "no_heartbeat"), "no turn waits for it yet"
    with Redis.from_url(redis_url) as broker:
        broker.lpush(TRAINING_QUEUE, json.dumps({"headers": {QUEUED_HEADER: time.time() - 400}}))
        waited_for = parts(client)["trainer"]
        broker.delete(TRAINING_QUEUE)
    assert (waited_for["state"], waited_for["figures"]["jobs"]) == ("down", 1)
    training_worker_heartbeat()
    assert parts(client)["trainer"]["state"] == "ok"


def test_it_says_since_when(world: World, alma: User, broken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    heartbeat_job()
    client = world.client(alma)
    first, second = parts(client), parts(client)
    assert second["bridge"]["since"] == first["bridge"]["since"]
    cache.set(HEARTBEAT_KEY, time.time() - HEARTBEAT_TIMEOUT_SECONDS - 1)
    third = parts(client)
    assert third["beat"]["since"] > second["beat"]["since"]
    assert third["bridge"]["since"] == first["bridge"]["since"]
    monkeypatch.setattr(uptime, "STARTED_AT", time.monotonic())
    again = parts(client)
    assert again["beat"]["problem"] == "no_heartbeat", "it was silent before the web app was started again"
    assert again["beat"]["since"] == third["beat"]["since"]


def test_the_last_backup_is_told(world: World, alma: User, broken: None, data: Path) -> None:
    client = world.client(alma)
    assert parts(client)["backup"]["problem"] == "no_backup"
    note = {"created_at": "2020-01-01T00:00:00+00:00", "bytes": 7}
    (data / LAST_BACKUP_NAME).write_text(json.dumps(note))
    assert parts(client)["backup"]["problem"] == "backup_old"
    (data / LAST_BACKUP_NAME).write_text("half")
    assert parts(client)["backup"]["problem"] == "no_backup"


def test_prometheus_reads_figures_with_an_admin_s_token(world: World, alma: User) -> None:
    def read(scopes: tuple[str, ...]) -> Any:
        token = token_make(username="alma", name="prometheus", days=1, scopes=scopes)
        return Client().get("/api/metrics", headers={"Authorization": f"Bearer {token}"})

    answer = read(("metrics:read",))
    assert answer.status_code == 200
    text = answer.content.decode()
    assert 'pilothouse_tasks{state="waiting"} 4.0' in text
    assert 'pilothouse_up{part="database"} 1.0' in text
    assert "pilothouse_http_request_seconds_bucket" in text
    assert read(("policies:read",)).json()["code"] == "scope_missing"
    own = f'pilothouse_http_answers_total{{process="{PROCESS}",status="403"}}'
    assert own in read(("metrics:read",)).content.decode()


def test_every_metric_is_in_the_documentation(world: World) -> None:
    page = (ROOT / "docs" / "guides" / "operator" / "metrics.md").read_text()
    listed = re.findall(r"^\| `(pilothouse_\w+)` \| (\w+) \|([^|]*)\|", page, re.MULTILINE)
    exported = {
        metric.name: (metric.type, {name for sample in metric.samples for name in sample.labels} - {"le"})
        for metric in text_string_to_metric_families(render_metrics().decode())
        if not metric.name.endswith("_created")
    }
    assert {name: kind for name, kind, _ in listed} == {name: kind for name, (kind, _) in exported.items()}
    for name, _, labels in listed:
        assert exported[name][1] <= set(re.findall(r"`(\w+)`", labels)), name


def test_methods_that_clients_invent_are_counted_as_one(world: World, alma: User) -> None:
    for invented in ("BREW", "b" * 4_000):
        Client().generic(invented, "/api/health")
    methods = {sample.labels["method"] for metric in REQUESTS.collect() for sample in metric.samples}
    assert "other" in methods
    assert methods <= {*HTTPMethod, "other"}


def test_an_answer_names_the_id_it_was_given_or_a_new_one(world: World) -> None:
    client = Client()
    assert client.get("/api/health", headers={TRACE_HEADER: "click-12345"})[TRACE_HEADER] == "click-12345"
    first, second = (client.get("/api/health")[TRACE_HEADER] for _ in range(2))
    assert first != second
    assert client.get("/api/health", headers={TRACE_HEADER: "a b\n"})[TRACE_HEADER] != "a b\n"


def test_a_line_logged_names_what_it_belongs_to() -> None:
    record = logging.LogRecord("pilothouse", logging.INFO, __file__, 1, "done %s", ("it",), None)
    with trace_context("command-1") as trace:
        TraceFilter().filter(record)
    line = json.loads(JsonFormatter().format(record))
    assert (line["trace"], line["message"], trace_id()) == (trace, "done it", "")


def test_a_full_disk_is_told_to_everybody_who_asks_and_takes_no_web_app_away(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Client().get("/api/health").json()
    assert before["checks"]["disk"] is (selectors.disk_free()[0] >= DISK_FULL_BYTES)
    monkeypatch.setattr(selectors, "disk_free", lambda: (DISK_FULL_BYTES - 1, 2**40))
    answer = Client().get("/api/health")
    assert (answer.status_code, answer.json()["ok"], answer.json()["checks"]["disk"]) == (200, False, False)
    monkeypatch.setattr(selectors, "disk_free", lambda: (DISK_FULL_BYTES, 2**40))
    assert Client().get("/api/health").json()["checks"]["disk"] is True


def test_a_model_server_that_fails_is_told_without_warnings_of_its_name(alma: User, world: World, broken: None) -> None:
    policy_serve([world.pool], "http://127.0.0.1:9/v1")
    for _ in range(2):
        check_parts_job()
    assert Notice.objects.filter(user=alma, subject="health:model scripted 1").exists()


def test_admins_hear_of_a_disk_that_fills_and_of_a_part_that_fails_once(
    alma: User, world: World, broken: None, free: Callable[[int], None]
) -> None:
    def notices() -> list[tuple[str, str]]:
        return list(Notice.objects.filter(user=alma).order_by("id").values_list("kind", "subject"))

    check_parts_job()
    assert notices() == [], "while programs start, parts are down for a moment"
    check_parts_job()
    failed = notices()
    assert ("part.failed", "health:bridge") in failed
    assert not [kind for kind, _ in failed if kind == "disk.filling"]
    check_parts_job()
    parts(world.client(alma))
    assert notices() == failed, "nothing has changed"
    free(100)
    parts(world.client(alma))
    for _ in range(3):
        check_parts_job()
    assert notices() == [*failed, ("disk.filling", "health:disk")], "also where the page looked first"
    assert not Notice.objects.filter(user=world.ada).exists()
    for room in (1, 100):
        free(room)
        for _ in range(2):
            check_parts_job()
        assert len(notices()) == len(failed) + 2, "each state is told once within the hour"
