"""A model writes of many recorded sessions: each says how it went, what is known is not asked for again, and a batch
that lost its worker goes on."""

import hashlib
import io
import json
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from django.utils import timezone
from PIL import Image

from agent_backend.refinement.refiner import Refiner
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes.models import Episode, Withdrawal
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.services import policy_ensure
from annotation_app.reviews import jobs, refinement, services
from annotation_app.reviews.batch_schemas import BatchIn
from annotation_app.reviews.models import Batch, Job
from tests.integration.web.conftest import PASSWORD, World
from tests.integration.web.imports.import_helpers import build_archive, upload
from tests.integration.web.reviews.test_recorded_sessions import RefiningServer
from tests.integration.web.reviews.test_reviews import Reviewer, finished
from tests.recorded_sessions import SAID, session_row

IDS = [UUID(int=number + 1, version=4) for number in range(3)]
PATH = "/reviews/batches"


@pytest.fixture
def sessions(world: World, data: Path) -> list[Episode]:
    """Three recorded sessions that came in."""
    for number, one in enumerate(IDS):
        made = io.BytesIO()
        Image.new("RGB", (64, 64), (number * 40, 0, 0)).save(made, "JPEG")
        name = hashlib.sha256(made.getvalue()).hexdigest()
        row = {**session_row(one, name), "instruction": f"Read mail {number}"}
        files = {"session.json": json.dumps(row).encode(), f"images__{name}.jpg": made.getvalue()}
        assert upload(world, build_archive(**files), pool_name="Recorded")["imported"] == 1
    return list(Episode.objects.filter(pk__in=IDS).order_by("created_at", "id"))


@pytest.fixture
def rosa(world: World) -> Reviewer:
    return Reviewer(world, world.rosa)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> RefiningServer:
    """A model that is registered, and its server."""
    made = RefiningServer()
    monkeypatch.setattr(refinement, "Refiner", partial(Refiner, transport=httpx.MockTransport(made)))
    policy_ensure(name="writer", revision="1", dialect="ui_tars_1_5", base_url="http://writer/v1", model="writer")
    return made


def start(one: Reviewer, **scope: Any) -> Any:
    (choice,) = one.get(PATH)["models"]
    return one.post(PATH, kind="refinement", policy=choice["id"], **scope)


def states(batch: Any) -> list[tuple[str, int]]:
    return [(one["status"], one["done"]) for one in batch["sessions"]]


def test_chosen_sessions_are_refined_once(rosa: Reviewer, sessions: list[Episode], model: RefiningServer) -> None:
    other = [str(uuid4()), str(IDS[0]), str(IDS[1])]
    batch = start(rosa, episodes=other)
    assert (batch["status"], batch["total"], batch["done"], batch["left_out"]) == ("done", 2, 2, 1)
    assert states(batch) == [("done", 3), ("done", 3)]
    assert len(model.asked) == 6
    refined = rosa.get(f"/episodes/{IDS[0]}/review/refinement")
    assert [one["original"] for one in refined["thoughts"]] == [text for _, text in SAID]
    assert states(start(rosa, episodes=other)) == [("done", 3), ("done", 3)]
    assert len(model.asked) == 6, "all of it is known"
    rosa.post(f"/episodes/{IDS[0]}/review/thoughts", do="write", base=0, thought=2, text="I close it.")
    start(rosa, episodes=other)
    assert model.asked[6:] == ["I close it."], "only what changed"
    assert [one["total"] for one in rosa.get(PATH)["batches"]] == [2, 2, 2]


def test_all_that_match_are_refined(
    world: World, rosa: Reviewer, sessions: list[Episode], model: RefiningServer
) -> None:
    finished(world.ada)
    Withdrawal.objects.create(episode=sessions[0])
    Episode.objects.filter(pk=sessions[1].pk).update(review="accepted")
    pool = sessions[0].task.pool_id
    assert start(rosa, filters={"pool": pool, "review": "pending"})["total"] == 1
    assert start(rosa, filters={"pool": pool})["total"] == 2
    assert start(rosa, filters={"pool": world.pool.pk})["code"] == "no_sessions"


def test_errors_are_listed_and_a_batch_is_resumed(
    rosa: Reviewer, sessions: list[Episode], model: RefiningServer
) -> None:
    model.left = 4
    batch = start(rosa, filters={})
    assert (batch["status"], batch["done"], batch["failed"]) == ("done", 1, 2)
    assert states(batch) == [("done", 3), ("failed", 1), ("failed", 0)]
    assert batch["sessions"][1]["error"]
    model.left = 99
    resumed = rosa.post(f"{PATH}/{batch['id']}/resume")
    assert (resumed["status"], resumed["done"]) == ("done", 3)
    assert len(model.asked) == 9, "what was written stays"
    assert rosa.post(f"{PATH}/{batch['id']}/resume")["code"] == "nothing_left"


def test_a_batch_stops_where_the_model_does_not_answer(
    rosa: Reviewer, sessions: list[Episode], model: RefiningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refinement, "FAILURES_IN_A_ROW", 2)
    model.left = 0
    batch = start(rosa, filters={})
    assert batch["status"] == "failed"
    assert batch["error"]
    assert states(batch) == [("failed", 0), ("failed", 0), ("cancelled", 0)]


def queued(world: World, monkeypatch: pytest.MonkeyPatch) -> Batch:
    """A batch that no worker has begun."""
    monkeypatch.setattr(jobs.batch_job, "delay", lambda *_: None)
    wanted = BatchIn(kind="refinement", policy=PolicyRevision.objects.get(name="writer").pk)
    return Batch.objects.get(pk=jobs.batch_start(user=world.rosa, wanted=wanted))


def test_a_batch_whose_worker_died_goes_on(
    world: World, sessions: list[Episode], model: RefiningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = queued(world, monkeypatch)
    assert services.batch_begin(batch_id=batch.pk) == 1
    assert services.batch_begin(batch_id=batch.pk) is None, "one worker has it"
    first = services.batch_next_job(batch_id=batch.pk, attempt=1)
    assert first is not None
    assert services.job_begin(job_id=first, total=3)
    assert services.batches_requeue_stale() == ()
    assert services.jobs_stale() == 0
    long_ago = timezone.now() - timedelta(minutes=5)
    Batch.objects.filter(pk=batch.pk).update(heard_at=long_ago)
    Job.objects.filter(pk=first).update(heard_at=long_ago)
    assert services.jobs_stale() == 0, "its session is gone on with, too"
    assert services.batches_requeue_stale() == (batch.pk,)
    assert services.batch_next_job(batch_id=batch.pk, attempt=1) is None, "the lost worker has it no more"
    refinement.batch_run(batch_id=batch.pk)
    assert set(batch.jobs.values_list("status", flat=True)) == {"done"}
    assert len(model.asked) == 9


def test_a_batch_that_loses_every_worker_has_failed(
    world: World, sessions: list[Episode], model: RefiningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = queued(world, monkeypatch)
    Batch.objects.filter(pk=batch.pk).update(status="running", attempts=3, heard_at=timezone.now() - timedelta(hours=1))
    assert services.batches_requeue_stale() == ()
    batch.refresh_from_db()
    assert batch.status == "failed"
    assert set(batch.jobs.values_list("status", flat=True)) == {"cancelled"}


def test_a_withdrawn_session_is_read_by_no_model(
    world: World, rosa: Reviewer, sessions: list[Episode], model: RefiningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = queued(world, monkeypatch)
    Withdrawal.objects.create(episode=sessions[0])
    refinement.batch_run(batch_id=batch.pk)
    first, *others = rosa.get(f"{PATH}/{batch.pk}")["sessions"]
    assert (first["status"], first["error"].partition(":")[0]) == ("failed", "recording_withdrawn")
    assert [one["status"] for one in others] == ["done", "done"]
    assert len(model.asked) == 6
    policy = PolicyRevision.objects.get(name="writer").pk
    refused = rosa.post(f"/episodes/{sessions[0].pk}/review/refinement", policy=policy)
    assert refused["code"] == "recording_withdrawn"


def test_a_session_that_is_deleted_meanwhile_stops_no_batch(
    world: World, rosa: Reviewer, sessions: list[Episode], model: RefiningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = queued(world, monkeypatch)
    write = refinement.writing_run

    def write_or_delete(*, job_id: UUID) -> None:
        if Job.objects.filter(batch=batch).count() == len(IDS):
            Job.objects.filter(pk=job_id).delete()
        write(job_id=job_id)

    monkeypatch.setattr(refinement, "writing_run", write_or_delete)
    refinement.batch_run(batch_id=batch.pk)
    shown = rosa.get(f"{PATH}/{batch.pk}")
    assert (shown["status"], shown["total"], shown["done"]) == ("done", 2, 2)


def test_a_cancelled_batch_asks_for_nothing_more(
    world: World, rosa: Reviewer, sessions: list[Episode], model: RefiningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = queued(world, monkeypatch)
    rosa.post(f"{PATH}/{batch.pk}/cancel")
    refinement.batch_run(batch_id=batch.pk)
    assert model.asked == []
    assert states(rosa.get(f"{PATH}/{batch.pk}")) == [("cancelled", 0)] * 3


def test_batches_are_for_those_who_started_them(
    world: World, rosa: Reviewer, sessions: list[Episode], model: RefiningServer
) -> None:
    batch = start(rosa, episodes=[str(IDS[0])])
    user = user_ensure(username="rita", password=PASSWORD, name="Rita", roles=["reviewer"])
    rita = Reviewer(world, user)
    assert rita.get(f"{PATH}/{batch['id']}")["code"] == "not_found"
    assert rita.get(PATH)["batches"] == []
    assert Reviewer(world, world.ben).get(PATH)["code"] == "forbidden"


def test_the_review_list_says_which_are_recorded(
    world: World, rosa: Reviewer, sessions: list[Episode], model: RefiningServer
) -> None:
    finished(world.ada)
    items = rosa.get("/reviews/queue")["items"]
    assert sorted(item["recorded"] for item in items) == [False, True, True, True]


def test_a_refinement_that_ended_before_any_change_is_seen_blind(
    world: World, rosa: Reviewer, sessions: list[Episode], model: RefiningServer
) -> None:
    one = sessions[0]
    type(one.task.pool).objects.filter(pk=one.task.pool_id).update(reviewers=2)
    start(rosa, episodes=[str(one.pk)])
    user = user_ensure(username="rita", password=PASSWORD, name="Rita", roles=["reviewer"])
    rita = Reviewer(world, user)
    assert rita.get(f"/episodes/{one.pk}/review/refinement")["job"]["status"] == "done"
    rosa.post(f"/episodes/{one.pk}/review/thoughts", do="write", base=0, thought=2, text="I close it.")
    start(rosa, episodes=[str(one.pk)])
    seen = rita.get(f"/episodes/{one.pk}/review/refinement")["thoughts"]
    assert seen[2]["original"] == SAID[2][1], "the later one began with what the other reviewer wrote"
