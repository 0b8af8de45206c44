"""Evaluations over HTTP: registered reports and benchmark runs, two of them compared, and a run that is registered."""

from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client

from annotation_app.accounts.services import user_ensure
from annotation_app.evaluations import selectors
from annotation_app.flywheel.models import Checkpoint, Turn, Wheel
from annotation_app.flywheel.recipe import GateTrials, LikelihoodTraining, MixShares, Recipe
from annotation_app.judges.models import Judge
from annotation_app.policies.gate import Gate
from annotation_app.policies.models import Evaluation, PolicyRevision
from annotation_app.policies.selectors import policy_of
from annotation_app.policies.services import evaluation_store
from annotation_app.promotions.models import GateDecision
from annotation_app.promotions.services import evaluation_add
from protocol.evaluation.benchmarks import BenchmarkManifest, BenchmarkResult, PinnedTask
from protocol.evaluation.reports import Evaluation as Report
from protocol.evaluation.reports import PassAt, SuiteResult
from protocol.evaluation.statistics import measure_spread, pass_at_k, wilson_rate
from protocol.trajectory.proposals import PolicyRef
from tests.integration.web.conftest import PASSWORD, World
from tests.unit.annotation_app.test_gate import report as report_on_tasks

JSON = "application/json"
REF = PolicyRef(name="tars", revision="2", dialect="ui_tars_1_5")
SERVER = {"base_url": "http://models.test/v1", "model": "served", "checkpoint": "/c/2"}


def report(policy: PolicyRef, tasks: dict[str, tuple[int, int]]) -> Report:
    """A report with the suite of its tasks, as evaluations write it."""
    of_tasks = report_on_tasks(policy, tasks)
    solved, attempts = (sum(counts[place] for counts in tasks.values()) for place in (0, 1))
    k = max(count for _, count in tasks.values())
    enough = [counts for counts in tasks.values() if counts[1] >= k]
    suite = SuiteResult(
        suite="games",
        tasks=measure_spread([good / of for good, of in tasks.values()]),
        successes=wilson_rate(solved, attempts),
        steps=4,
        think_characters=0,
        pass_at=(PassAt(k=k, tasks=len(enough), rate=sum(pass_at_k(*each, k) for each in enough) / len(enough)),),
    )
    return of_tasks.model_copy(update={"suites": (suite,), "cost_usd": 0.5})


def write_run(
    name: str,
    policy: PolicyRef,
    tasks: dict[str, tuple[int, int]],
    *,
    expert: bool = False,
    harness: bool = False,
    size: tuple[int, int] | None = None,
) -> Path:
    """A finished benchmark run."""
    plan = {
        "suite": "games",
        "policy": policy.model_dump(mode="json"),
        "sampling": None if expert else {"n": 1, "temperature": 0.5},
        "memory": {"images": 2},
        "size": None if size is None else list(size),
    }
    now = datetime(2026, 1, 2, tzinfo=UTC)
    manifest = BenchmarkManifest(
        name="games",
        created_at=now,
        plan=plan,
        tasks=(PinnedTask(id="games/2048", sha256="0" * 64),),
        tasks_sha256="0" * 64,
        images=("browser",),
        software="0.1.0",
        harness=harness,
    )
    result = BenchmarkResult(
        manifest=manifest,
        evaluation=report(policy, tasks),
        records=6,
        verifiers_sha256="0" * 64,
        seconds=6,
        finished_at=now,
    )
    folder: Path = settings.ENV.data / "benchmarks" / name
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(manifest.model_dump_json())
    (folder / "result.json").write_text(result.model_dump_json())
    return folder


@pytest.fixture
def active(world: World) -> PolicyRevision:
    """The revision that proposes, with a report and a gate that promotes by itself."""
    revision = PolicyRevision.objects.create(
        name="tars", revision="1", dialect="ui_tars_1_5", base_url="http://old/v1", model="tars"
    )
    world.pool.policy, world.pool.gate = revision, Gate(promote="automatically")
    world.pool.save()
    evaluation_add(
        user=user_ensure(username="root", password=PASSWORD, name="Root", roles=["admin"]),
        revision_id=revision.pk,
        report=report(policy_of(revision), {"games/2048": (2, 6), "games/snake": (3, 6)}),
    )
    return revision


def client_of(world: World, role: str) -> Client:
    return world.client(user_ensure(username=f"one-{role}", password=PASSWORD, name="One", roles=[role]))


def read(client: Client, path: str) -> Any:
    return client.get(f"/api/evaluations{path}").json()


def test_reports_and_runs_are_listed_the_newest_first(world: World, active: PolicyRevision) -> None:
    write_run("games-tars-2", REF, {"games/2048": (5, 6)})
    broken = settings.ENV.data / "benchmarks" / "broken"
    broken.mkdir()
    (broken / "result.json").write_text("{}")
    client = client_of(world, "researcher")
    page = read(client, "")
    run, stored = sorted(page["items"], key=lambda row: row["source"], reverse=True)
    assert (run["id"], run["run"], run["policies"][0]["revision"]) == ("run:games-tars-2", "games-tars-2", "2")
    assert (run["successes"]["successes"], run["attempts"], run["cost_usd"], run["steps"]) == (5, 6, 0.5, 4)
    assert run["pass_at"] == {"k": 6, "tasks": 1, "rate": 1.0}
    assert (stored["source"], stored["name"], stored["tasks"]) == ("report", "games", 2)
    assert page["unreadable"] == ["broken"]
    whole = read(client, "/run:games-tars-2")
    assert whole["report"]["tasks"][0]["name"] == "2048"
    assert (whole["revision"], whole["registered"]) == (None, None)
    assert read(client, f"/{stored['id']}")["revision"] == active.pk
    assert client.get("/api/evaluations/run:none").status_code == 404
    assert client.get("/api/evaluations/run:..%2Fx").status_code in (404, 422)
    assert client.get("/api/evaluations/0").status_code == 422
    assert client_of(world, "reviewer").get("/api/evaluations").status_code == 403


def test_two_are_compared_task_by_task_and_together(
    world: World, active: PolicyRevision, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run("games-tars-2", REF, {"games/2048": (6, 6), "games/maze": (1, 6)})
    before = Evaluation.objects.get().pk
    write_run("games-tars-3", REF, {"games/2048": (5, 6)}, size=(320, 240))
    with monkeypatch.context() as patch:
        patch.setattr(selectors, "MAX_ROWS", 0)  # both runs are older than those that are listed
        sizes = read(client_of(world, "researcher"), "/run:games-tars-3/against/run:games-tars-2")
    assert (sizes["before_size"], sizes["after_size"]) == (
        {"known": True, "size": ""},
        {"known": True, "size": "320x240"},
    )
    found = read(client_of(world, "researcher"), f"/run:games-tars-2/against/{before}")
    assert found["before_size"] == {"known": False, "size": ""}, "the report is of no run here"
    (change,) = found["comparison"]["tasks"]
    assert (change["name"], change["before"]["successes"], change["after"]["successes"]) == ("2048", 2, 6)
    assert found["comparison"]["only_before"] == ["games/snake"]
    assert found["comparison"]["only_after"] == ["games/maze"]
    assert found["overall"]["gained"] == pytest.approx(4)
    assert found["overall"]["chance"] == pytest.approx(change["chance"])
    assert found["overall"]["finding"] == "chance"


def test_a_run_is_registered_and_promotes_nothing(world: World, active: PolicyRevision) -> None:
    write_run("games-tars-2", REF, {"games/2048": (6, 6), "games/snake": (6, 6)})
    admin = client_of(world, "admin")

    def register(client: Client, **body: object) -> Any:
        return client.post("/api/evaluations", {"run": "games-tars-2", **body}, content_type=JSON)

    assert register(client_of(world, "researcher"), **SERVER).status_code == 403
    missing = register(admin, base_url="http://models.test/v1")
    assert (missing.status_code, missing.json()["code"]) == (422, "server_missing")
    assert [each["field"] for each in missing.json()["extra"]["fields"]] == ["model"]
    assert not PolicyRevision.objects.filter(revision="2").exists()

    done = register(admin, **SERVER).json()
    revision = PolicyRevision.objects.get(pk=done["revision"])
    assert (done["new_revision"], done["new"], revision.base_url) == (True, True, "http://models.test/v1")
    assert (revision.sampling, revision.memory, revision.checkpoint) == ({"temperature": 0.5}, {"images": 2}, "/c/2")
    decision = GateDecision.objects.get()
    assert (decision.passed, decision.promoted) == (True, False)
    world.pool.refresh_from_db()
    assert world.pool.policy == active
    again = register(admin, **SERVER).json()
    assert (again["new_revision"], again["new"]) == (False, False)
    (row,) = [row for row in read(admin, "")["items"] if row["policies"][0]["revision"] == "2"]
    assert (row["source"], row["run"]) == ("report", "games-tars-2")
    assert read(admin, "/run:games-tars-2")["registered"] == row["id"]


def test_a_report_is_deleted_unless_something_stands_on_it(world: World, active: PolicyRevision) -> None:
    folder = write_run("games-tars-2", REF, {"games/2048": (6, 6)})
    admin, researcher = client_of(world, "admin"), client_of(world, "researcher")
    of_active = Evaluation.objects.get()
    refused = admin.delete(f"/api/evaluations/{of_active.pk}").json()
    assert (refused["code"], world.pool.name in refused["message"]) == ("gate_baseline", True)
    done = admin.post("/api/evaluations", {"run": "games-tars-2", **SERVER}, content_type=JSON).json()
    judged = done["evaluation"]["id"]
    assert admin.delete(f"/api/evaluations/{judged}").json()["code"] == "gate_decided"
    GateDecision.objects.all().delete()
    made = turn_of(world, PolicyRevision.objects.get(pk=done["revision"]))
    whole = read(researcher, f"/{judged}")
    assert (whole["cycle"], whole["can_delete"]) == ({"id": str(made.pk), "flywheel": "w", "number": 1}, False)
    assert researcher.get(f"/api/turns/{made.pk}").json()["evaluation"] == judged
    assert admin.delete(f"/api/evaluations/{judged}").json()["code"] == "cycle_gate"
    Checkpoint.objects.all().delete()
    assert researcher.delete(f"/api/evaluations/{judged}").status_code == 403
    assert admin.delete(f"/api/evaluations/{judged}").status_code == 204
    (row,) = [row for row in read(admin, "")["items"] if row["run"] == "games-tars-2"]
    assert row["source"] == "run", "the run is there, and not registered any more"
    assert admin.delete(f"/api/evaluations/{row['id']}").status_code == 204
    assert not folder.exists()


def turn_of(world: World, revision: PolicyRevision) -> Turn:
    """A cycle that registered the only report on a revision, as earlier releases noted it."""
    sft = LikelihoodTraining(updates=1, shares=MixShares(fresh=1, earlier=0, general=0))
    recipe = Recipe(policy="tars", start="/w", sft=sft, trials=GateTrials(world="toy", first_seed=900, seeds=10))
    wheel = Wheel.objects.create(name="w", pool=world.pool, owner=world.ravi, recipe=recipe)
    turn = Turn.objects.create(wheel=wheel, number=1, recipe=recipe, requested_by=world.ravi)
    turn.stages.create(name="register", state="done", result={"revision": revision.pk, "judged": True, "passed": True})
    Checkpoint.objects.create(turn=turn, phase="sft", path="/w", sha256="0" * 64, begun_with="/w", revision=revision)
    return turn


def test_an_evaluation_and_its_judge_lead_to_each_other(world: World, active: PolicyRevision) -> None:
    judge = Judge.objects.create(kind="screen", name="looks", revision="2", base_url="http://j.test/v1", model="j")
    scored = report(policy_of(active), {"games/2048": (2, 6)}).model_copy(
        update={"judge": f"{judge} from 0.5", "judged": 4}
    )
    stored, _ = evaluation_store(revision=active, report=scored)
    admin = client_of(world, "admin")
    assert read(admin, f"/{stored.pk}")["judge_known"] is True
    (row,) = admin.get("/api/judges").json()["reports"]
    assert (row["id"], row["judge"], row["judged"], row["attempts"]) == (stored.pk, "looks 2 from 0.5", 4, 6)
    judge.delete()
    assert read(admin, f"/{stored.pk}")["judge_known"] is False


def test_what_scripts_attempted_is_no_model(world: World, active: PolicyRevision) -> None:
    expert = PolicyRef(name="expert", revision="expert", dialect="ui_tars_1_5", scripted=True)
    write_run("games-expert", expert, {"games/2048": (6, 6)}, expert=True)
    answer = client_of(world, "admin").post("/api/evaluations", {"run": "games-expert", **SERVER}, content_type=JSON)
    assert (answer.status_code, answer.json()["code"]) == (422, "not_a_model")


def test_what_a_harness_helped_with_is_no_report_on_a_revision(world: World, active: PolicyRevision) -> None:
    write_run("lmgame-tars-1", policy_of(active), {"games/2048": (6, 6)}, harness=True)
    answer = client_of(world, "admin").post("/api/evaluations", {"run": "lmgame-tars-1"}, content_type=JSON)
    assert (answer.status_code, answer.json()["code"]) == (422, "with_harness")
    assert Evaluation.objects.filter(revision=active).count() == 1


def test_by_command_a_run_is_registered_then_promoted(world: World, active: PolicyRevision, tmp_path: Path) -> None:
    folder, out = write_run("games-tars-2", REF, {"games/2048": (6, 6)}), StringIO()
    options = {"base_url": "http://models.test/v1", "model": "served", "checkpoint": tmp_path}
    with pytest.raises(CommandError, match="server_missing"):
        call_command("register_run", "root", str(folder), stdout=out)
    call_command("register_run", "root", str(folder), **options, stdout=out)
    call_command("policy_options", "tars", "2", stdout=out)
    call_command("activate_policy", "root", world.pool.name, "tars", "2", stdout=out)
    registered, options_line, promoted = out.getvalue().splitlines()
    assert "(new)" in registered
    assert '"--model-url", "http://models.test/v1", "--model", "served"' in options_line
    assert promoted.endswith("tars 2 proposes, after tars 1")
    world.pool.refresh_from_db()
    assert str(world.pool.policy) == "tars 2"
    with pytest.raises(CommandError, match="not registered"):
        call_command("activate_policy", "root", world.pool.name, "tars", "9")
