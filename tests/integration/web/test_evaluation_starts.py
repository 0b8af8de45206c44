"""Evaluations started in the app: how many at once, what is begun again, uploaded tasks, checkpoints, the command."""

import errno
import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client

from agent_backend.rollout.progress import cancel_path
from annotation_app.accounts.services import user_ensure
from annotation_app.benchmark_runs import commands, jobs, run_folder, selectors, services
from annotation_app.live.suite_tasks import MachineChoices
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.services import pool_ensure, tasks_add
from protocol.trajectory.tasks import Task
from tests.integration.web.conftest import PASSWORD, World
from vm_bridge.suites.registry import list_suites

TASK = '{"id": "press", "instruction": "Press the button.", "platform": "browser"}'
SCRIPTED = json.dumps(json.loads(TASK) | {"parameters": {"harbor": {"files": {selectors.SOLUTION: "true"}}}})


@pytest.fixture
def researcher(world: World) -> Client:
    return world.client(user_ensure(username="rene", password=PASSWORD, name="Rene", roles=["researcher"]))


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[str]:
    """The runs whose command was begun; none of them runs. One may run at once."""
    names: list[str] = []

    def begin(words: list[str], **_: Any) -> None:
        names.append(Path(words[words.index("annotation_app.benchmark_runs.program") + 1]).name)

    monkeypatch.setattr("annotation_app.benchmark_runs.commands.subprocess.Popen", begin)
    settings.ENV = settings.ENV.model_copy(update={"evaluations_at_once": 1})
    return names


@pytest.fixture
def revision(world: World, tmp_path: Path) -> PolicyRevision:
    return PolicyRevision.objects.create(
        name="m", revision="r1", dialect="ui_tars_1_5", base_url="http://models.test/v1", model="served"
    )


def start(client: Client, **body: object) -> Any:
    return client.post("/api/benchmarks", {"benchmark": "games", **body}, content_type="application/json").json()


def status(client: Client, name: str) -> str:
    runs = client.get("/api/benchmarks/-/unfinished").json()["runs"]
    return next(str(run["status"]) for run in runs if run["name"] == name)


@contextmanager
def running(name: str) -> Iterator[Path]:
    """The command of a run runs."""
    run = selectors.runs_folder() / name
    with (run / run_folder.LOCK_FILE).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield run


def test_a_run_waits_for_a_place_and_is_begun_once(researcher: Client, begun: list[str]) -> None:
    first = start(researcher)["name"]
    with running(first):
        second = start(researcher)["name"]
        jobs.runs_due_job()
        assert begun == [first]
        assert (status(researcher, first), status(researcher, second)) == ("starting", "waiting")
    (selectors.runs_folder() / first / run_folder.PENDING_FILE).unlink()  # it ended by itself
    jobs.runs_due_job()
    with running(second):
        jobs.runs_due_job()
    assert begun == [first, second]


def test_a_run_that_was_killed_is_begun_again_but_not_for_ever(researcher: Client, begun: list[str]) -> None:
    name = start(researcher)["name"]
    for _ in range(commands.MAX_STARTS + 1):
        jobs.runs_due_job()
    assert begun == [name] * commands.MAX_STARTS
    assert status(researcher, name) == "interrupted"


def test_a_run_that_failed_is_listed_at_home_started_again_and_deleted(world: World, begun: list[str]) -> None:
    rene, rita, alma = (
        world.client(user_ensure(username=name, password=PASSWORD, name=name, roles=[role]))
        for name, role in (("rene", "researcher"), ("rita", "researcher"), ("alma", "admin"))
    )

    def listed(client: Client) -> list[str]:
        return [item["run"] for item in client.get("/api/home").json()["items"] if item["kind"] == "evaluation"]

    name = start(rene, benchmark="file:mine.jsonl", file=SCRIPTED)["name"]
    run = selectors.runs_folder() / name
    assert (rene.delete(f"/api/benchmarks/{name}").json()["code"], listed(rene)) == ("run_active", [])
    (run / run_folder.PENDING_FILE).unlink()
    (run / run_folder.LOG_FILE).write_text("bridge_unavailable: it is gone\n")
    assert (listed(rene), listed(alma), listed(rita)) == ([name], [name], [])
    row = rene.get(f"/api/benchmarks/{name}").json()["run"]
    assert (row["can_restart"], row["can_delete"]) == (True, True)
    assert rita.get(f"/api/benchmarks/{name}").json()["run"]["can_delete"] is False
    again = rene.post(f"/api/benchmarks/{name}/restart").json()["name"]
    request = run_folder.read_request(run.with_name(again))
    assert request is not None
    assert request.words[:2] == ("--tasks", str(run.with_name(again) / "mine.jsonl"))
    assert (run.with_name(again) / "mine.jsonl").read_text() == SCRIPTED
    assert (status(rene, again), listed(rene)) == ("waiting", [])
    assert rita.delete(f"/api/evaluations/run:{name}").json()["code"] == "forbidden"
    with running(name):
        assert rene.delete(f"/api/benchmarks/{name}").json()["code"] == "run_active"
        assert rene.post(f"/api/benchmarks/{name}/restart").json()["code"] == "run_active"
    assert rene.delete(f"/api/evaluations/run:{name}").status_code == 204
    assert (run.exists(), rene.get(f"/api/benchmarks/{name}").status_code) == (False, 404)
    assert not list(selectors.deleted_folder().iterdir())


def test_a_failed_run_is_listed_until_the_same_tasks_levels_and_size_are_attempted(
    world: World, begun: list[str], revision: PolicyRevision
) -> None:
    rene = world.client(user_ensure(username="rene", password=PASSWORD, name="rene", roles=["researcher"]))
    wanted = {"revision": revision.pk, "tasks": ["maze", "snake"], "levels": [1, 2], "size": [640, 480]}
    failed = start(rene, **wanted)["name"]
    (selectors.runs_folder() / failed / run_folder.PENDING_FILE).unlink()

    def listed() -> list[str]:
        return [item["run"] for item in rene.get("/api/home").json()["items"] if item["kind"] == "evaluation"]

    for other in ({"tasks": ["maze"]}, {"levels": [1]}, {"size": [320, 240]}, {"size": None}):
        start(rene, **wanted | other)
        assert listed() == [failed], other
    start(rene, **wanted | {"tasks": ["snake", "maze"]})
    assert listed() == []


def test_a_run_in_a_folder_of_another_mount_is_deleted_and_a_link_is_refused(
    world: World, begun: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rene = world.client(user_ensure(username="rene", password=PASSWORD, name="rene", roles=["researcher"]))
    runs = selectors.runs_folder()
    other, linked = (start(rene, benchmark="file:mine.jsonl", file=SCRIPTED)["name"] for _ in range(2))
    for name in (other, linked):
        (runs / name / run_folder.PENDING_FILE).unlink()
    rename = Path.rename

    def rename_within_a_mount(self: Path, target: Path) -> Path:
        if runs in self.parents and runs not in target.parents:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", rename_within_a_mount)
    assert rene.delete(f"/api/benchmarks/{other}").status_code == 204
    assert not (runs / other).exists()
    elsewhere = rename(runs / linked, tmp_path / "elsewhere")
    (runs / linked).symlink_to(elsewhere)
    assert rene.delete(f"/api/benchmarks/{linked}").json()["code"] == "folder_elsewhere"
    assert (elsewhere / run_folder.REQUEST_FILE).exists()


def test_a_waiting_run_that_is_cancelled_never_begins(researcher: Client, begun: list[str]) -> None:
    with running(start(researcher)["name"]):
        name = start(researcher)["name"]
        assert researcher.post(f"/api/benchmarks/{name}/cancel").status_code == 204
        assert cancel_path(selectors.runs_folder() / name / "attempts").exists()
    jobs.runs_due_job()
    assert name not in begun
    (row,) = (run for run in researcher.get("/api/benchmarks").json()["runs"] if run["name"] == name)
    assert (row["status"], row["error"], row["can_resume"]) == ("interrupted", run_folder.CANCELLED, True)


def test_tasks_of_a_file_are_attempted_and_a_wrong_line_is_named(
    researcher: Client, begun: list[str], revision: PolicyRevision
) -> None:
    by_policy = {"benchmark": "file:mine.jsonl", "revision": revision.pk}
    name = start(researcher, **by_policy, file=f"{TASK}\n", image="browser", first_seed=5)["name"]
    run = selectors.runs_folder() / name
    assert (run / "mine.jsonl").read_text() == f"{TASK}\n"
    request = run_folder.read_request(run)
    assert request is not None
    words = " ".join(request.words).partition(" --model-url")[0]
    assert words == f"--tasks {run}/mine.jsonl --image browser --seeds 1 --first-seed 5 --parallel 2"
    assert start(researcher, **by_policy, file=TASK, size=[640, 480])["code"] == "invalid"
    wrong = start(researcher, benchmark="file:mine.jsonl", file=f"{TASK}\n{{}}\n")
    assert (wrong["code"], wrong["extra"]["fields"][0]["field"]) == ("invalid_source", "file")
    assert wrong["message"].startswith("mine.jsonl, line 2: ")
    for body in ({"file": TASK}, {"benchmark": "file:mine.jsonl"}, {"benchmark": "file:../a.jsonl", "file": TASK}):
        assert start(researcher, **body)["code"] == "invalid"
    assert begun == [name]


def test_weights_are_served_that_are_ours_and_under_a_name_that_is_theirs(
    researcher: Client, begun: list[str], revision: PolicyRevision, settings: Any, tmp_path: Path
) -> None:
    weights = settings.ENV.data.absolute() / "runs" / "step-10"
    weights.mkdir(parents=True)
    body = {"revision": revision.pk, "temperature": 0.5}
    name = start(researcher, checkpoint=str(weights), **body)["name"]
    request = run_folder.read_request(selectors.runs_folder() / name)
    assert request is not None
    assert (request.policy, request.revision, request.checkpoint, request.base_url) == (
        "m",
        "step-10",
        str(weights),
        "",
    )
    assert request.words[-4:] == ("--revision", "step-10", "--temperature", "0.5")
    assert start(researcher, checkpoint=str(weights.parent / "none"), **body)["code"] == "weights_missing"
    assert start(researcher, checkpoint=str(tmp_path.parent.parent), **body)["code"] == "foreign_checkpoint"
    taken = start(researcher, checkpoint=str(weights), checkpoint_revision="r1", **body)
    assert (taken["code"], taken["extra"]["fields"][0]["field"]) == ("revision_taken", "checkpoint_revision")
    assert start(researcher, checkpoint=str(weights))["code"] == "invalid"


def test_the_revision_that_nobody_serves_is_not_asked(
    researcher: Client, begun: list[str], revision: PolicyRevision
) -> None:
    experts = PolicyRevision.objects.create(
        name="e", revision="1", dialect="ui_tars_1_5", base_url=EXPERT_URL, model="e"
    )
    assert start(researcher, revision=experts.pk)["code"] == "not_a_model"
    choices = researcher.get("/api/benchmarks/-/choices").json()
    assert [one["name"] for one in choices["revisions"] if one["name"] in ("e", "m")] == ["m"]
    assert begun == []


def test_an_evaluation_by_scripts_of_tasks_without_any_is_refused(
    researcher: Client, begun: list[str], monkeypatch: pytest.MonkeyPatch, world: World
) -> None:
    async def choices() -> MachineChoices:
        return MachineChoices(reachable=True, suites=list_suites())

    for module in (services, selectors):
        monkeypatch.setattr(module, "machine_choices", choices)
    solved = json.loads(SCRIPTED)
    for body in (
        {"benchmark": "phone"},
        {"benchmark": "miniwob", "tasks": ["book-flight"]},
        {"benchmark": "file:mine.jsonl", "file": TASK},
        {"benchmark": f"pool:{world.pool.name}"},
    ):
        refused = start(researcher, **body)
        assert (refused["code"], refused["extra"]["fields"][0]["field"]) == ("no_scripts", "revision"), body
    with monkeypatch.context() as patch:
        patch.setattr(services, "machine_choices", _unreachable)
        assert start(researcher, benchmark="file:mine.jsonl", file=TASK)["code"] == "no_scripts"
        assert "name" in start(researcher, benchmark="phone")
    for body in ({"benchmark": "miniwob"}, {"benchmark": "file:mine.jsonl", "file": json.dumps(solved)}):
        assert "name" in start(researcher, **body), body
    found = researcher.get("/api/benchmarks/-/choices").json()
    suites = {suite["name"]: (suite["tasks"], len(suite["scripted"])) for suite in found["suites"]}
    assert (suites["phone"], suites["games"], suites["lmgame"]) == ((18, 0), (19, 19), (6, 6))
    sizes = {suite["name"]: suite["sizes"] for suite in found["suites"]}
    assert (sizes["phone"], sizes["lmgame"][0]["name"], len(sizes["lmgame"])) == ([], "2048", 6)
    assert "320x240" in sizes["lmgame"][0]["sizes"]
    assert 0 < suites["miniwob"][1] < suites["miniwob"][0]
    assert found["scripted_pools"] == []
    games = Task(
        id="lights", instruction="Go", platform="browser", suite="games", name="lights", parameters={"level": 2}
    )
    site_task: dict[str, Any] = {"site": {"kind": "bundled", "name": "shop"}, "script": [{"kind": "back"}]}
    site = Task(id="site", instruction="Go", platform="browser", parameters={"site_task": site_task})
    assert selectors.has_script(site, {})
    assert not selectors.has_script(site.model_copy(update={"parameters": {"site_task": {}}}), {})
    answered = {"site_task": {}, "reference_answer": "Paris"}
    assert selectors.has_script(site.model_copy(update={"parameters": answered}), {}), "its oracle says the answer"
    for definition in (games, site, Task.model_validate(solved)):
        pool = pool_ensure(name=definition.id, members=[])
        tasks_add(pool=pool, definitions=[definition])
    assert researcher.get("/api/benchmarks/-/choices").json()["scripted_pools"] == ["lights", "press", "site"]


async def _unreachable() -> MachineChoices:
    return MachineChoices(reachable=False)


def test_the_command_starts_what_the_page_starts(
    researcher: Client, begun: list[str], revision: PolicyRevision, tmp_path: Path
) -> None:
    tasks = tmp_path / "mine.jsonl"
    tasks.write_text(TASK)
    printed = StringIO()
    call_command("start_run", "rene", str(tasks), "--revision", "m", "r1", "--seeds", "2", stdout=printed)
    name = printed.getvalue().strip()
    assert begun == [name]
    assert status(researcher, name) == "waiting"
    call_command("start_run", "rene", "games", "--size", "640x480", stdout=printed)
    small = run_folder.read_request(selectors.runs_folder() / printed.getvalue().split()[-1])
    assert small is not None
    assert small.words[:6] == ("--suite", "games", "--level", "1", "--size", "640x480")
    for words, told in ((("nobody", "games"), "not_found"), (("rene", "pool:none"), "There is no such pool")):
        with pytest.raises(CommandError, match=told):
            call_command("start_run", *words)
    with pytest.raises(CommandError, match="seeds"):
        call_command("start_run", "rene", "games", "--seeds", "0")


@pytest.fixture(autouse=True)
def _no_job_waits() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()
