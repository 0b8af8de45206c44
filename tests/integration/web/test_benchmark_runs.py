"""Benchmark runs over HTTP: how far each is by what its files say, who may look and cancel, and names that lead out."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from agent_backend.benchmark.manifest import ATTEMPTS_FOLDER, MANIFEST_FILE, make_manifest, pin
from agent_backend.rollout.attempt_log import AttemptLog, log_path
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.progress import cancel_path, progress_path
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from protocol.evaluation.records import RolloutProgress
from protocol.trajectory.proposals import PolicyRef
from protocol.trajectory.tasks import Task
from tests.integration.web.conftest import PASSWORD, World


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
    (record,) = read(client, "/benchmarks/games-m-r1")["records"]
    assert (record["outcome"], record["code"], record["reward"]) == ("infrastructure", "machine_gone", None)


def test_admins_cancel_and_researchers_do_not(world: World, run: Path) -> None:
    path = "/api/benchmarks/games-m-r1/cancel"
    assert signed_in(world, "researcher").post(path).json()["code"] == "forbidden"
    assert not cancel_path(run / ATTEMPTS_FOLDER).exists()
    admin = signed_in(world, "admin")
    assert admin.post(path).status_code == 204
    assert cancel_path(run / ATTEMPTS_FOLDER).exists()
    assert read(admin)["runs"][0]["status"] == "cancelling"
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
