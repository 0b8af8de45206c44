"""Probes over HTTP: asked for, run, compared, repeated; admins hear of models that got worse."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import pytest
from django.utils import timezone

from agent_backend.probe.prober import run_probe
from agent_backend.probe.server import server_identity
from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.notifications.models import Notice
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.services import policy_ensure
from annotation_app.probes import runs, services
from annotation_app.probes.jobs import probe_run_job, probes_again_job, probes_due_job
from annotation_app.probes.models import PolicyProbe
from benchmarks.parts.models.planted_servers import PlantedServer, write_thousandths
from protocol.providers import BASE_URLS
from tests.integration.web.conftest import PASSWORD, World

BODY = {"base_url": "http://model/v1", "model": "planted", "dialect": "ui_tars_1_5"}
Serve = Callable[[httpx.AsyncBaseTransport], None]


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Serve:
    """Makes a transport what answers probes."""

    def answered_by(transport: httpx.AsyncBaseTransport) -> None:
        monkeypatch.setattr(runs, "run_probe", partial(run_probe, transport=transport))
        monkeypatch.setattr(runs, "server_identity", partial(server_identity, transport=transport))

    answered_by(PlantedServer())
    return answered_by


@pytest.fixture
def root(world: World) -> User:
    return user_ensure(username="root", password=PASSWORD, name="Root", roles=["admin"])


@pytest.fixture
def proposing(world: World) -> PolicyRevision:
    """The planted model, which proposes in the pool."""
    revision = policy_ensure(name="planted", revision="1", **BODY)
    world.pool.policy = revision
    world.pool.save()
    return revision


def start(world: World, root: User, **changed: str) -> dict[str, Any]:
    answer = world.client(root).post("/api/probes", BODY | changed, content_type="application/json")
    assert answer.status_code == 202, answer.content
    probe: dict[str, Any] = answer.json()
    return probe


def test_a_model_is_tried_before_it_is_registered(world: World, root: User, serve: Serve) -> None:
    probe = start(world, root)
    assert (probe["status"], probe["answered"], probe["reason"]) == ("done", probe["questions"], "requested")
    grounding = probe["report"]["grounding"]
    assert len(grounding["points"]) == grounding["rate"]["successes"] == 50
    (listed,) = world.client(root).get("/api/probes").json()
    assert (listed["id"], listed["report"]["grounding"]["points"]) == (probe["id"], [])
    picture = world.client(root).get(f"/api/probes/screens/{grounding['points'][0]['screen']}")
    assert picture.content.startswith(b"\x89PNG")
    assert world.client(root).get("/api/probes/screens/..%2Fprober.py").status_code == 404


def test_a_typed_key_is_used_for_that_probe_alone(world: World, root: User, serve: Serve) -> None:
    heard: list[str | None] = []

    class Listening(PlantedServer):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            heard.append(request.headers.get("Authorization"))
            return await super().handle_async_request(request)

    serve(Listening())
    probe = start(world, root, api_key="sk-typed-1234567890")
    assert probe["status"] == "done"
    assert set(heard) == {"Bearer sk-typed-1234567890"}
    assert "sk-typed" not in str(probe)
    stored = PolicyProbe.objects.get(pk=probe["id"])
    assert stored.sealed_key == "", "it has ended"
    heard.clear()
    start(world, root)
    assert "Bearer sk-typed-1234567890" not in heard


def test_a_typed_key_waits_sealed(world: World, root: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_run_job, "delay", lambda *_: None)
    waiting = start(world, root, api_key="sk-typed-1234567890")
    sealed = PolicyProbe.objects.get(pk=waiting["id"]).sealed_key
    assert sealed
    assert "sk-typed" not in sealed
    assert world.client(root).delete(f"/api/probes/{waiting['id']}").status_code == 204
    assert PolicyProbe.objects.get(pk=waiting["id"]).sealed_key == ""


def test_a_providers_model_is_tried_at_the_providers_address(
    world: World, root: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe_run_job, "delay", lambda *_: None)
    changed = {"base_url": "", "dialect": "anthropic", "provider": "anthropic"}
    assert start(world, root, **changed)["base_url"] == BASE_URLS["anthropic"]
    missing = world.client(root).post("/api/probes", BODY | {"base_url": ""}, content_type="application/json")
    assert missing.status_code == 422


def test_only_the_newest_probe_of_a_model_is_listed(world: World, root: User, serve: Serve) -> None:
    start(world, root)
    newest = start(world, root)
    other = start(world, root, screens="small", model="other")
    listed = world.client(root).get("/api/probes").json()
    assert {each["id"] for each in listed} == {newest["id"], other["id"]}


def test_what_is_no_address_or_dialect_is_refused(world: World, root: User) -> None:
    for changed in ({"base_url": "ftp://model"}, {"dialect": "klingon"}, {"screens": "cinema"}, {"model": ""}):
        answer = world.client(root).post("/api/probes", BODY | changed, content_type="application/json")
        assert answer.status_code == 422
    assert not PolicyProbe.objects.exists()


def test_one_under_way_is_given_instead_of_another(world: World, root: User) -> None:
    waiting = PolicyProbe.objects.create(**BODY, screens="desktop", reason="requested")
    assert start(world, root)["id"] == str(waiting.pk)
    assert world.client(root).delete(f"/api/probes/{waiting.pk}").status_code == 204
    waiting.refresh_from_db()
    assert waiting.status == "cancelled"
    runs.probe_execute(probe_id=waiting.pk)
    waiting.refresh_from_db()
    assert (waiting.status, waiting.attempts) == ("cancelled", 0)


def test_a_cancelled_probe_stops_and_keeps_no_report(
    world: World, root: User, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "PROGRESS_SECONDS", 0.01)
    cancelled = []

    def progress(**fields: Any) -> bool:
        cancelled.append(fields)
        return False

    monkeypatch.setattr(services, "probe_progress", progress)
    serve(Hanging())
    probe = PolicyProbe.objects.create(**BODY, screens="desktop", reason="requested")
    runs.probe_execute(probe_id=probe.pk)
    probe.refresh_from_db()
    assert cancelled
    assert (probe.status, probe.report) == ("running", None)


class Hanging(httpx.AsyncBaseTransport):
    """A server that never answers."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError


def test_admins_hear_of_a_proposing_model_that_got_worse(
    world: World, root: User, serve: Serve, proposing: PolicyRevision
) -> None:
    start(world, root)
    assert not Notice.objects.filter(kind="policy.degraded").exists()
    serve(PlantedServer(write_thousandths))
    start(world, root)
    notice = Notice.objects.get(kind="policy.degraded", user=root)
    assert (notice.details["finding"], notice.details["pools"]) == ("wrong_space", world.pool.name)


def test_a_proposing_model_is_probed_daily_and_when_its_server_changes(
    world: World, root: User, serve: Serve, proposing: PolicyRevision
) -> None:
    probes_due_job()
    first = PolicyProbe.objects.get()
    assert (first.reason, first.status) == ("scheduled", "done")
    probes_due_job()
    assert PolicyProbe.objects.count() == 1, "nothing has changed"
    serve(PlantedServer(weights="2", seed=1))
    probes_due_job()
    second = PolicyProbe.objects.exclude(pk=first.pk).get()
    assert (second.reason, second.report is not None and second.report.usable) == ("server_changed", True)
    PolicyProbe.objects.update(created_at=timezone.now() - timedelta(days=2))
    probes_due_job()
    assert PolicyProbe.objects.filter(reason="scheduled").count() == 2


def test_a_probe_whose_worker_died_is_run_again_and_gives_up_in_the_end(world: World, serve: Serve) -> None:
    silent = {"status": "running", "heard_at": timezone.now() - timedelta(minutes=1)}
    tired = PolicyProbe.objects.create(**BODY | {"model": "tired"}, attempts=services.MAX_ATTEMPTS, **silent)
    left = PolicyProbe.objects.create(**BODY, screens="small", attempts=1, **silent)
    probes_again_job()
    tired.refresh_from_db()
    left.refresh_from_db()
    assert (tired.status, left.status, left.attempts) == ("failed", "done", 2)
