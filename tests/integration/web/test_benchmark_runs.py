"""Benchmark runs over HTTP: how far each is by what its files say, who may look and cancel, and names that lead out."""

import errno
import fcntl
import json
import os
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client

from agent_backend.benchmark.manifest import ATTEMPTS_FOLDER, MANIFEST_FILE, make_manifest, pin
from agent_backend.benchmark.run_lock import run_lock
from agent_backend.rollout.attempt_log import AttemptLog, log_path
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.progress import cancel_path, progress_path
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.benchmark_runs import commands, jobs, run_folder
from annotation_app.policies.models import PolicyRevision
from annotation_app.pools.services import credential_set
from annotation_app.tasks.models import Task as TaskRow
from protocol.evaluation.records import RolloutProgress
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Task
from tests.integration.web.conftest import PASSWORD, World, task_named


@pytest.fixture
def run(world: World) -> Path:
    """A run of two attempts that has one of them behind it."""
    folder: Path = settings.ENV.data / "benchmarks" / "games-m-r1"
    plan = RolloutPlan(suite="games", policy=PolicyRef(name="m", revision="r1", dialect="ui_tars_1_5"))
    tasks = [Task(id=f"games/{name}", instruction="Play.", suite="games", name=name) for name in ("maze", "snake")]
    pin(folder, make_manifest("games", plan, tasks))
    AttemptLog(log_path(folder / ATTEMPTS_FOLDER)).add_lost(tasks[0], "machine_gone", "its host was killed")
    write_progress(folder)
    return folder


def write_progress(run: Path, *, silent: timedelta = timedelta(), ended: bool = False) -> None:
    now = datetime.now(UTC)
    progress = RolloutProgress(total=2, infrastructure=1, started_at=now, updated_at=now - silent, ended=ended)
    progress_path(run / ATTEMPTS_FOLDER).write_text(progress.model_dump_json())


def signed_in(world: World, role: str) -> Client:
    return world.client(user_ensure(username=f"one-{role}", password=PASSWORD, name="One", roles=[role]))


def read(client: Client, path: str = "/benchmarks") -> Any:
    return client.get(f"/api{path}").json()


def test_a_run_is_running_while_its_command_is_heard_of(world: World, run: Path) -> None:
    client = signed_in(world, "researcher")
    (row,) = read(client)["runs"]
    assert (row["name"], row["revision"], row["attempts"], row["status"]) == ("games-m-r1", "r1", 2, "running")
    write_progress(run, silent=timedelta(minutes=5))
    assert read(client)["runs"][0]["status"] == "interrupted"
    write_progress(run, ended=True)
    assert read(client)["runs"][0]["status"] == "interrupted"
    with run_lock(run):
        assert read(client)["runs"][0]["status"] != "interrupted", "it is at work, and was not heard of yet"
        assert signed_in(world, "admin").delete("/api/benchmarks/games-m-r1").json()["code"] == "run_active"
    (record,) = read(client, "/benchmarks/games-m-r1")["records"]
    assert (record["outcome"], record["code"], record["reward"]) == ("infrastructure", "machine_gone", None)


def test_a_failed_run_is_told_at_home_also_where_its_plan_cannot_be_read(world: World, run: Path) -> None:
    write_progress(run, ended=True)
    manifest = json.loads((run / MANIFEST_FILE).read_text())
    words = ("--suite", "games", "--level", "1")
    later = run_folder.RunRequest(benchmark="games", policy="m", revision="r1", words=words, at=datetime.now(UTC))
    other = run.with_name("later")
    other.mkdir()
    admin = signed_in(world, "admin")

    def told() -> list[str]:
        return [item["run"] for item in read(admin, "/home")["items"] if item["kind"] == "evaluation"]

    (other / run_folder.REQUEST_FILE).write_text(later.model_copy(update={"harness": True}).model_dump_json())
    run_folder.set_pending(other)
    assert told() == [run.name], "what was started later has the harness"
    (other / run_folder.REQUEST_FILE).write_text(later.model_dump_json())
    assert told() == []
    manifest["plan"]["levels"] = "of another version"
    (run / MANIFEST_FILE).write_text(json.dumps(manifest))
    assert told() == [run.name]


def test_on_a_mount_without_locks_a_run_is_listed_by_its_progress_and_deleted(
    world: World, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    admin = signed_in(world, "admin")
    monkeypatch.setattr(fcntl, "flock", unsupported)
    (run / run_folder.LOCK_FILE).touch()
    assert read(admin)["runs"][0]["status"] == "running"
    write_progress(run, ended=True)
    assert read(admin)["runs"][0]["status"] == "interrupted"
    assert admin.delete("/api/benchmarks/games-m-r1").status_code == 204
    assert not run.exists()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_the_platform_may_not_write_is_said(
    world: World, run: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    admin = signed_in(world, "admin")
    write_progress(run, ended=True)
    monkeypatch.setattr(Path, "rename", refused)
    monkeypatch.setattr(Path, "touch", refused)
    path = "/api/benchmarks/games-m-r1"
    refusals = [admin.delete(path), admin.post(f"{path}/cancel")]
    request = run_folder.RunRequest(benchmark="games", policy="m", revision="r1", words=(), at=datetime.now(UTC))
    (run / run_folder.REQUEST_FILE).write_text(request.model_dump_json())
    monkeypatch.setattr(Path, "write_text", refused)
    refusals.append(admin.post(f"{path}/resume"))
    for refusal in refusals:
        assert (refusal.status_code, refusal.json()["code"]) == (409, "folder_not_writable")
    assert run.is_dir()


def test_researchers_cancel_and_reviewers_do_not(world: World, run: Path) -> None:
    path = "/api/benchmarks/games-m-r1/cancel"
    assert signed_in(world, "reviewer").post(path).json()["code"] == "forbidden"
    assert not cancel_path(run / ATTEMPTS_FOLDER).exists()
    researcher = signed_in(world, "researcher")
    assert researcher.post(path).status_code == 204
    assert cancel_path(run / ATTEMPTS_FOLDER).exists()
    assert read(researcher)["runs"][0]["status"] == "cancelling"
    assert AuditEntry.objects.filter(verb="benchmark.cancelled", subject="benchmark:games-m-r1").exists()


def test_names_that_lead_out_and_files_that_cannot_be_read(world: World, run: Path) -> None:
    client = signed_in(world, "admin")
    (run.parents[1] / MANIFEST_FILE).write_text((run / MANIFEST_FILE).read_text())
    for name in ("..", "%2e%2e", "none", "a%2Fb", "x" * 300):
        assert client.post(f"/api/benchmarks/{name}/cancel").status_code in (404, 405, 422), name
    assert list(run.parents[1].glob("*.cancel")) == []
    broken = run.with_name("broken")
    broken.mkdir()
    (broken / MANIFEST_FILE).write_text(json.dumps({"format": "pilothouse-benchmark-1"}))
    page = read(client)
    assert (page["unreadable"], [row["name"] for row in page["runs"]]) == (["broken"], ["games-m-r1"])


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The runs that workers are to begin; nobody does."""
    names: list[str] = []
    monkeypatch.setattr(jobs.run_spawn_job, "apply_async", lambda words, queue: names.append(*words))
    return names


def start(client: Client, **body: object) -> Any:
    return client.post("/api/benchmarks", body, content_type="application/json")


def test_the_harness_is_for_revisions_at_sets_of_games(world: World, queued: list[str]) -> None:
    revision = PolicyRevision.objects.create(
        name="m", revision="r9", dialect="ui_tars_1_5", base_url="http://models.test/v1", model="served"
    )
    admin = signed_in(world, "admin")
    for body in ({"benchmark": "lmgame"}, {"benchmark": "games", "revision": revision.pk}):
        assert start(admin, harness="both", **body).json()["code"] == "no_harness"
    assert start(admin, benchmark="lmgame", revision=revision.pk, harness="pictures").status_code == 422
    assert queued == []
    name = start(admin, benchmark="lmgame", revision=revision.pk, harness="text").json()["name"]
    request = run_folder.read_request(settings.ENV.data / "benchmarks" / name)
    assert request is not None
    assert "--harness=text" in request.words
    assert read(admin)["runs"][0]["harness"] is True


def test_a_run_of_a_revision_starts_with_the_words_of_its_command(world: World, queued: list[str]) -> None:
    revision = PolicyRevision.objects.create(
        name="m", revision="r9", dialect="ui_tars_1_5", base_url="http://models.test/v1", model="served",
        sampling={"temperature": 0.5}, memory={"images": 1},
    )  # fmt: skip
    body = {"benchmark": "games", "revision": revision.pk, "seeds": 3, "max_steps": 40, "levels": []}
    assert start(signed_in(world, "reviewer"), **body).json()["code"] == "forbidden"
    admin = signed_in(world, "admin")
    name = start(admin, **body).json()["name"]
    assert queued == [name]
    request = run_folder.read_request(settings.ENV.data / "benchmarks" / name)
    assert request is not None
    words = " ".join(request.words)
    assert "--suite games --level all --seeds 3 --first-seed 0 --parallel 2 --max-steps 40" in words
    assert "--model-url http://models.test/v1 --model served --dialect ui_tars_1_5 --policy m --revision r9" in words
    assert '--temperature 0.5 --memory {"images": 1}' in words
    (row,) = read(admin)["runs"]
    assert (row["name"], row["status"], row["revision"], row["can_resume"]) == (name, "waiting", "r9", False)
    assert AuditEntry.objects.filter(verb="benchmark.started", subject=f"benchmark:{name}").exists()


def test_a_pool_is_copied_and_what_is_not_there_is_refused(world: World, queued: list[str]) -> None:
    admin = signed_in(world, "admin")
    pool = world.pool
    name = start(admin, benchmark=f"pool:{pool.name}").json()["name"]
    request = run_folder.read_request(settings.ENV.data / "benchmarks" / name)
    assert request is not None
    source = Path(request.words[request.words.index("--tasks") + 1])
    assert len(source.read_text().splitlines()) == pool.tasks.count() > 0
    assert ("--image", pool.image, "--expert") == (*request.words[2:4], request.words[-1])
    for body in ({"benchmark": "pool:none"}, {"benchmark": "games", "revision": 10**6}):
        assert start(admin, **body).status_code == 404
    for benchmark in ("../games", "", "pool:", "--out"):
        assert start(admin, benchmark=benchmark).status_code == 422, benchmark
    assert queued == [name]


def test_a_command_runs_once_and_a_run_that_was_interrupted_is_resumed(world: World, queued: list[str]) -> None:
    admin = signed_in(world, "admin")
    name = start(admin, benchmark="games").json()["name"]
    run = settings.ENV.data / "benchmarks" / name
    request = run_folder.read_request(run)
    assert request is not None
    with (run / run_folder.LOCK_FILE).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert not commands.spawn(run, request), "another one runs"
        assert read(admin)["runs"][0]["status"] == "starting"
        assert admin.post(f"/api/benchmarks/{name}/resume").json()["code"] == "not_interrupted"
    (run / run_folder.PENDING_FILE).unlink()
    (run / run_folder.LOG_FILE).write_text("bridge_unavailable: the bridge did not answer\n")
    (row,) = read(admin)["runs"]
    assert (row["status"], row["can_resume"]) == ("interrupted", True)
    assert row["error"] == "bridge_unavailable: the bridge did not answer"
    cache.clear()  # the job that waited has begun
    assert admin.post(f"/api/benchmarks/{name}/resume").status_code == 204
    assert queued == [name, name]
    assert admin.post(f"/api/benchmarks/{name}/resume").json()["code"] == "not_interrupted"


def test_a_run_sends_a_secret_only_where_its_rules_allow(world: World, queued: list[str]) -> None:
    admin = user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])
    bound = {"kinds": ("mcp_server",), "hosts": ("mcp.test",)}
    credential_set(user=admin, pool_id=world.pool.pk, name="CALC", value="hunter2", rules=bound)
    for host, code in (("evil.test", "secret_not_allowed"), ("mcp.test", None)):
        server = {"url": f"https://{host}/mcp", "headers": {"Authorization": "Bearer secret:CALC"}}
        task = task_named("one").model_copy(update={"parameters": {"mcp_servers": {"calc": server}}})
        TaskRow.objects.filter(pool=world.pool, key="one").update(definition=task)
        assert start(world.client(admin), benchmark=f"pool:{world.pool.name}").json().get("code") == code
    assert len(queued) == 1


def test_the_environment_of_a_command_has_no_key_of_the_web_app(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PILOTHOUSE_DATABASE_URL", "postgres://app:of-the-app-alone@db")
    monkeypatch.setenv("PILOTHOUSE_SECRET_KEY", "of-the-app-alone")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://spans.test")
    request = run_folder.RunRequest(
        benchmark="games", policy="m", revision="r", words=(), at=datetime.now(UTC), base_url="http://models.test/v1"
    )
    admin = user_ensure(username="alex", password=PASSWORD, name="Alex", roles=["admin"])
    secret = partial(credential_set, user=admin, pool_id=world.pool.pk, value="hunter2")
    secret(name="TYPED")
    secret(name="CALC", rules={"kinds": ("mcp_server",)})
    of_pool = request.model_copy(update={"benchmark": f"pool:{world.pool.name}"})
    given = commands.command_environment(of_pool)
    assert {name for name, value in given.items() if value == "hunter2"} == {"PILOTHOUSE_POOL_SECRET_CALC"}
    environment = commands.command_environment(request)
    assert "hunter2" not in environment.values()
    assert "of-the-app-alone" not in " ".join(environment.values())
    assert environment["PILOTHOUSE_BRIDGE_MASTER_KEY"] == settings.ENV.bridge_master
    assert environment["OTEL_EXPORTER_OTLP_ENDPOINT"] == "http://spans.test"


def test_a_run_of_the_command_line_is_resumed_there(world: World, run: Path) -> None:
    admin = signed_in(world, "admin")
    write_progress(run, ended=True)
    assert admin.post("/api/benchmarks/games-m-r1/resume").json()["code"] == "not_started_here"
    assert read(admin)["runs"][0]["can_resume"] is False
