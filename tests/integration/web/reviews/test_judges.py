"""Judges in the web app: finished episodes are judged over a real server, once each, and held against people."""

import asyncio
import csv
import io
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from agent_backend.scripted_policy.judge import JUDGE_MODEL
from agent_backend.scripted_policy.server import create_app
from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.blobs.selectors import blob_read
from annotation_app.episodes import services as episodes
from annotation_app.episodes.models import Episode
from annotation_app.heartbeats import LOST_AFTER
from annotation_app.judges import jobs, services
from annotation_app.judges.models import Judge, Judgement, PoolJudge, Run
from annotation_app.judges.selectors import episodes_waiting
from annotation_app.live.store import run_in_db_thread
from annotation_app.policies.selectors import provider_key_of
from annotation_app.tasks.models import Task
from annotation_app.tasks.services import tasks_add
from protocol.actions.types import Click, Finish
from protocol.dialects.families import get_dialect
from protocol.evaluation.judge_prompts import JudgePrompt
from protocol.evaluation.judgements import REFERENCE_PARAMETER
from protocol.trajectory.observations import Verdict
from tests.contract.test_store import PICTURE, REF, step
from tests.fixtures.judges import judge_ensure
from tests.integration.web.conftest import PASSWORD, World, connections_close, serving, task_named

NOWHERE = "http://127.0.0.1:9/v1"


@pytest.fixture
def root(committed: World) -> User:
    return user_ensure(username="root", password=PASSWORD, name="Root", roles=["admin"])


def create_judge(url: str = NOWHERE, *, revision: str = "1", **settings: Any) -> Judge:
    return judge_ensure(
        name="orm",
        revision=revision,
        kind="outcome_model",
        base_url=url,
        model=JUDGE_MODEL,
        scripted=True,
        settings=settings,
    )


def verifier() -> Judge:
    return judge_ensure(name="verifier", revision="1", kind="verifier")


def finished(world: World, outcome: str, *, ends: bool, believed: bool | None = None) -> Episode:
    """Ada's next episode, of one step; `ends`: the agent said that it was done, `believed`: what a verifier said."""
    episode = episodes.episode_next(user=world.ada, pool_id=world.pool.pk)
    assert episode is not None
    own: dict[str, Any] = {
        "episode_id": episode.id,
        "token": episodes.runner_take_over(episode_id=episode.id, runner="h:1:a", seconds=60),
    }
    episodes.blob_add(**own, ref=REF, data=PICTURE)
    action = Finish() if ends else Click(x=1, y=1)
    episodes.step_append(**own, step=step(command_id=f"command-{episode.id}", action=action))
    verdict = None if believed is None else Verdict(success=believed, score=float(believed))
    episodes.episode_change(**own, fields={"status": "finished", "outcome": outcome, "verdict": verdict})
    return episode


@pytest.fixture
def attempts(committed: World) -> dict[str, Episode]:
    """What people said and the scripted judge will say: right about two, wrong about two, one in nobody's count."""
    tasks_add(pool=committed.pool, definitions=[task_named(name) for name in ("four", "five")])
    return {
        "right yes": finished(committed, "success", ends=True, believed=True),
        "wrong yes": finished(committed, "failure", ends=True, believed=False),
        "wrong no": finished(committed, "success", ends=False),
        "right no": finished(committed, "failure", ends=False),
        "infeasible": finished(committed, "infeasible", ends=True),
    }


class Admin:
    """An admin's browser at one judge in one pool."""

    def __init__(self, world: World, user: User, judge: Judge) -> None:
        self.client = world.client(user)
        self.path = f"/api/pools/{world.pool.pk}/judges/{judge.pk}"

    def set(self, threshold: float = 0.5) -> int:
        return self.client.post(self.path, {"threshold": threshold}, content_type="application/json").status_code

    def run(self) -> Any:
        return self.client.post(f"{self.path}/runs", {}, content_type="application/json")

    def row(self) -> dict[str, Any]:
        (row,) = self.client.get("/api/judges").json()["rows"]
        found: dict[str, Any] = row
        return found


async def attach_judge(world: World, root: User, *, together: int = 1) -> Admin:
    """The pool judged by the scripted model over HTTP."""
    async with serving(lambda url: create_app((), get_dialect("ui_tars_1_5"), pace=0)) as url:
        judge = await run_in_db_thread(create_judge, url=f"{url}/v1")
        admin: Admin = await run_in_db_thread(Admin, world=world, user=root, judge=judge)
        assert await run_in_db_thread(admin.set) == 204
        answers = await asyncio.gather(*(run_in_db_thread(admin.run) for _ in range(together)))
        assert 202 in {answer.status_code for answer in answers}
    return admin


async def test_a_pool_is_judged_once_and_held_against_people(
    committed: World, root: User, attempts: dict[str, Episode]
) -> None:
    admin = await attach_judge(committed, root)
    await run_in_db_thread(check_judgements, admin=admin, attempts=attempts)
    await connections_close()


def check_judgements(admin: Admin, attempts: dict[str, Episode]) -> None:
    row = admin.row()
    assert (row["finished"], row["judged"], row["unsaid"], row["run"]["status"]) == (5, 5, 0, "done")
    assert (row["run"]["judged"], row["run"]["total"], row["run"]["refused"]) == (5, 5, 0)
    assert (row["counted"]["successes"], row["counted"]["failures"]) == (2, 2), "infeasible is neither"
    at = row["at_threshold"]
    counts = [at[name] for name in ("true_positives", "false_positives", "true_negatives", "false_negatives")]
    assert counts == [1, 1, 1, 1]
    assert (at["precision"]["successes"], at["precision"]["attempts"], at["f1"]) == (1, 2, 0.5)
    stored = Judgement.objects.get(episode=attempts["right yes"])
    assert stored.score == pytest.approx(0.9)
    document = stored.document
    assert document.judge.scripted
    assert document.prompt is not None
    prompt = JudgePrompt.model_validate_json(blob_read(document.prompt.sha256))
    assert "Type one" in prompt.model_dump_json()
    before = Judgement.objects.count()
    again = admin.run().json()
    assert (again["status"], again["total"], again["judged"]) == ("done", 0, 0), "nothing is judged twice"
    assert Judgement.objects.count() == before


async def test_only_one_run_of_a_judge_in_a_pool_is_under_way(
    committed: World, root: User, attempts: dict[str, Episode]
) -> None:
    await attach_judge(committed, root, together=4)
    assert await run_in_db_thread(Judgement.objects.count) == 5
    await connections_close()


def test_the_verifier_s_word_is_a_judge_s_too(committed: World, root: User, attempts: dict[str, Episode]) -> None:
    admin = Admin(committed, root, verifier())
    assert admin.set() == 204
    assert admin.run().status_code == 202
    row = admin.row()
    assert (row["judged"], row["unsaid"]) == (5, 3)
    assert row["counted"] == {"successes": 1, "failures": 1, "unsaid_successes": 1, "unsaid_failures": 1}
    assert row["at_threshold"]["f1"] == 1.0
    assert row["best"] == 1.0


def test_what_a_reviewer_sent_back_is_no_human_word(committed: World, root: User, attempts: dict[str, Episode]) -> None:
    admin = Admin(committed, root, verifier())
    admin.set()
    admin.run()
    episodes.episode_review(
        reviewer=committed.rosa, episode_id=attempts["right yes"].id, decision="return", reason="it was not done"
    )
    assert admin.row()["counted"]["successes"] == 0


def test_without_people_there_is_nothing_to_calibrate_by(committed: World, root: User) -> None:
    admin = Admin(committed, root, verifier())
    admin.set(0.25)
    row = admin.row()
    assert (row["at_threshold"], row["best"], row["run"], row["threshold"]) == (None, None, None, 0.25)
    assert admin.client.get(f"{admin.path}/sweep").json()["points"] == []
    assert admin.run().json()["status"] == "done"


def test_a_judge_nobody_answers_for_fails_and_can_be_asked_again(
    committed: World, root: User, attempts: dict[str, Episode]
) -> None:
    admin = Admin(committed, root, create_judge())
    admin.set()
    answer = admin.run().json()
    assert answer["status"] == "failed"
    assert "does not answer" in answer["error"]
    assert Judgement.objects.count() == 0
    assert admin.run().status_code == 202


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs are sent and nobody takes them."""
    monkeypatch.setattr(jobs.run_job, "delay", lambda run_id: None)


@pytest.mark.usefixtures("held")
def test_a_run_is_cancelled_and_what_it_judged_is_kept(
    committed: World, root: User, attempts: dict[str, Episode], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = Admin(committed, root, verifier())
    admin.set()
    run_id = admin.run().json()["id"]
    assert admin.run().json()["code"] == "judging"
    assert admin.client.delete(admin.path).json()["code"] == "judging"
    store = services.judgements_store

    def cancelled_meanwhile(**fields: Any) -> bool:
        assert store(**fields)
        assert admin.client.post(f"/api/judge-runs/{run_id}/cancel").status_code == 204
        return store(**{**fields, "answers": ()})

    monkeypatch.setattr(services, "judgements_store", cancelled_meanwhile)
    jobs.run_job(run_id)
    run = Run.objects.get(pk=run_id)
    assert (run.status, run.judged, run.total) == ("cancelled", 4, 5)
    assert Judgement.objects.count() == 4
    assert admin.client.post(f"/api/judge-runs/{run_id}/cancel").status_code == 204, "again, which changes nothing"
    jobs.run_job(run_id)
    assert Run.objects.get(pk=run_id).status == "cancelled"
    assert AuditEntry.objects.filter(verb="judge.cancelled").count() == 1


@pytest.mark.usefixtures("held")
def test_a_run_whose_worker_died_goes_on(
    committed: World, root: User, attempts: dict[str, Episode], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = Admin(committed, root, verifier())
    admin.set()
    run_id = UUID(admin.run().json()["id"])
    plan = services.run_begin(run_id=run_id)
    assert plan is not None
    assert len(plan.episodes) == 5
    jobs.run_job(str(run_id))
    assert Run.objects.get(pk=run_id).status == "running", "left to who has it"
    Run.objects.filter(pk=run_id).update(heard_at=timezone.now() - 2 * LOST_AFTER)
    monkeypatch.setattr(jobs.run_job, "delay", jobs.run_job)
    jobs.runs_again_job()
    run = Run.objects.get(pk=run_id)
    assert (run.status, run.judged, run.attempts) == ("done", 5, 1), "it got further: no attempt is counted against it"
    Run.objects.filter(pk=run_id).update(
        status="running", attempts=services.ATTEMPTS, heard_at=timezone.now() - 2 * LOST_AFTER
    )
    jobs.runs_again_job()
    assert Run.objects.get(pk=run_id).status == "failed"


@pytest.mark.usefixtures("held")
def test_an_episode_that_is_open_or_of_another_pool_waits_for_no_judge(
    committed: World, root: User, attempts: dict[str, Episode]
) -> None:
    judge = verifier()
    assert set(episodes_waiting(pool_id=committed.pool.pk, judge_id=judge.pk)) == {e.pk for e in attempts.values()}
    assert episodes_waiting(pool_id=committed.practice.pk, judge_id=judge.pk) == ()


def test_a_judge_is_added_tried_on_labelled_episodes_and_kept_once_it_has_judged(
    committed: World, root: User, attempts: dict[str, Episode]
) -> None:
    client = committed.client(root)

    def post(path: str, body: dict[str, Any]) -> Any:
        return client.post(path, body, content_type="application/json")

    body = {
        **{"kind": "screen", "name": "checker", "revision": "1", "base_url": NOWHERE, "model": "m"},
        **{"settings": {"votes": 3, "temperature": 1}, "api_key": "sk-0123456789abcdef"},
    }
    made = post("/api/judges", body)
    assert (made.status_code, made.json()["used"], made.json()["settings"]["images"]) == (201, False, 5)
    assert "sk-0123456789" not in str(AuditEntry.objects.values_list("details", flat=True))
    assert provider_key_of(NOWHERE) == "sk-0123456789abcdef"
    assert post("/api/judges", body).json()["code"] == "judge_exists"
    for wrong in ({"base_url": "file:///etc/passwd"}, {"settings": {"votes": 3}}, {"kind": "verifier"}, {"name": ""}):
        assert post("/api/judges", {**body, "revision": "2", **wrong}).status_code == 422
    assert client.delete(f"/api/judges/{made.json()['id']}").status_code == 204
    assert not Judge.objects.filter(name="checker").exists()

    judge = verifier()
    admin = Admin(committed, root, judge)
    admin.set()
    trial = post(f"{admin.path}/trials", {"labelled_only": True, "most": 3})
    assert (trial.json()["status"], trial.json()["total"], trial.json()["judged"]) == ("done", 3, 3)
    labelled = {attempts[name].pk for name in ("right no", "wrong no", "wrong yes")}
    assert set(Judgement.objects.values_list("episode", flat=True)) == labelled, "the newest that people labelled"
    assert post(f"{admin.path}/trials", {"most": 0}).status_code == 422
    assert client.delete(f"/api/judges/{judge.pk}").json()["code"] == "judge_used"


def test_thresholds_are_set_and_seen_and_the_table_is_a_file(
    committed: World, root: User, attempts: dict[str, Episode]
) -> None:
    committed.pool.name = "=SUM(A1)"
    committed.pool.save()
    admin = Admin(committed, root, verifier())
    admin.set()
    admin.run()
    assert admin.set(0.75) == 204
    points = admin.client.get(f"{admin.path}/sweep").json()["points"]
    assert [point["threshold"] for point in points] == [0.0, 0.75, 1.0]
    response = admin.client.get("/api/judges/calibrations.csv")
    assert response["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert [(row["threshold"], row["chosen"], row["false_positives"]) for row in rows] == [
        ("0.0", "no", "1"),
        ("0.75", "yes", "0"),
        ("1.0", "no", "0"),
    ]
    assert rows[0]["pool"] == "'=SUM(A1)", "no spreadsheet takes it for a formula"
    assert AuditEntry.objects.filter(verb="judge.set").count() == 2
    assert admin.client.delete(admin.path).status_code == 204
    assert admin.client.get("/api/judges").json()["rows"] == []
    assert Judgement.objects.count() == 5, "what it said is kept"


@pytest.mark.parametrize(
    ("body", "status"),
    [({"threshold": 1.01}, 422), ({"threshold": -0.1}, 422), ({"threshold": "high"}, 422), ({"colour": 1}, 422)],
)
def test_a_threshold_is_a_share(committed: World, root: User, body: dict[str, object], status: int) -> None:
    admin = Admin(committed, root, verifier())
    assert admin.client.post(admin.path, body, content_type="application/json").status_code == status
    assert not PoolJudge.objects.exists()


def test_what_is_not_there_is_not_found_and_practice_is_not_judged(committed: World, root: User) -> None:
    client, judge = committed.client(root), verifier()

    def put(pool: int, of: int) -> str:
        response = client.post(f"/api/pools/{pool}/judges/{of}", {}, content_type="application/json")
        code: str = response.json()["code"]
        return code

    assert put(9_999, judge.pk) == "not_found"
    assert put(committed.pool.pk, 9_999) == "not_found"
    assert put(committed.practice.pk, judge.pk) == "practice_pool"
    assert client.post(f"/api/pools/{committed.pool.pk}/judges/{judge.pk}/runs").json()["code"] == "not_found"
    assert client.post(f"/api/judge-runs/{uuid4()}/cancel").json()["code"] == "not_found"
    assert not Run.objects.exists()


def test_only_admins_see_to_judges(committed: World, attempts: dict[str, Episode]) -> None:
    judge = verifier()
    path = f"/api/pools/{committed.pool.pk}/judges/{judge.pk}"
    calls = [
        ("GET", "/api/judges"),
        ("GET", "/api/judges/calibrations.csv"),
        ("POST", path),
        ("DELETE", path),
        ("GET", f"{path}/sweep"),
        ("POST", f"{path}/runs"),
        ("POST", f"/api/judge-runs/{uuid4()}/cancel"),
    ]
    for user in (committed.ada, committed.rosa, committed.ravi):
        client = committed.client(user)
        for method, where in calls:
            response = client.generic(method, where, data="{}", content_type="application/json")
            assert (response.status_code, response.json()["code"]) == (403, "forbidden"), (user, method, where)
    assert not PoolJudge.objects.exists()


def test_a_judge_that_could_not_be_asked_is_not_added(world: World) -> None:
    with pytest.raises(ValueError, match="one vote"):
        create_judge(votes=3)
    for fields in ({"settings": {"colour": "red"}}, {"base_url": ""}, {"kind": "oracle"}):
        judge = Judge(kind="outcome_model", name="orm", revision="2", base_url=NOWHERE, model="m")
        for name, value in fields.items():
            setattr(judge, name, value)
        with pytest.raises(ValidationError):
            judge.full_clean(validate_unique=False)


def test_the_answer_looked_for_is_not_told_to_who_is_asked(committed: World, root: User) -> None:
    asked = task_named("capital").model_copy(update={"parameters": {REFERENCE_PARAMETER: "Paris"}})
    Task.objects.filter(pool=committed.pool).delete()
    tasks_add(pool=committed.pool, definitions=[asked])
    episode = finished(committed, "success", ends=True)
    for path in (f"/api/episodes/{episode.id}", f"/api/episodes/{episode.id}/trajectory"):
        answer = committed.client(committed.ada).get(path)
        assert (answer.status_code, b"Paris" in answer.content) == (200, False), path
    whole = committed.client(root).get(f"/api/episodes/{episode.id}/trajectory").json()
    assert whole["task"]["parameters"][REFERENCE_PARAMETER] == "Paris", "judges and exports have it"
