"""Reviewing: who has what, what is said of steps, mending and coming back, trimming, comparing, adjudicating."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes import services as episodes
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors.trajectories import episode_trajectory
from annotation_app.live.store import run_in_db_thread
from annotation_app.policies.services import policy_ensure
from annotation_app.reviews import jobs, services
from annotation_app.reviews.duplicates import duplicates_run
from annotation_app.reviews.models import Claim
from annotation_app.reviews.selectors import agreement
from annotation_app.reviews.selectors import queue as review_queue
from annotation_app.reviews.selectors.queue import QueueFilters
from annotation_app.reviews.selectors.reviewed_trajectories import trajectories_reviewed
from annotation_app.tasks.models import Assignment, Pool, Task
from protocol.actions.types import Action, Click, Finish, TypeText
from tests.contract.test_store import PICTURE, REF, step
from tests.integration.web.conftest import PASSWORD, World, connections_close

HELLO, BESIDE, DONE = TypeText(text="hello"), Click(x=300, y=300), Finish()


def finished(user: User, *actions: Action, outcome: str = "success") -> Episode:
    """This person's next episode, with these steps."""
    episode = episodes.episode_next(user=user)
    assert episode is not None
    own: dict[str, Any] = {
        "episode_id": episode.id,
        "token": episodes.runner_take_over(episode_id=episode.id, runner="h:1:a", seconds=60),
    }
    episodes.blob_add(**own, ref=REF, data=PICTURE)
    for index, action in enumerate(actions or (HELLO, DONE)):
        episodes.step_append(**own, step=step(index, f"command-{episode.id}-{index}", action=action))
    episodes.episode_change(**own, fields={"status": "finished", "outcome": outcome})
    return Episode.objects.get(pk=episode.pk)


class Reviewer:
    """A person's browser at reviews."""

    def __init__(self, world: World, user: User) -> None:
        self.client = world.client(user)

    def get(self, path: str) -> Any:
        return self.client.get(f"/api{path}").json()

    def post(self, path: str, **body: Any) -> Any:
        answer = self.client.post(f"/api{path}", body, content_type="application/json")
        return answer.json() if answer.content else None

    def sheet(self, episode: Episode) -> Any:
        return self.get(f"/episodes/{episode.id}/review/sheet")

    def says(self, episode: Episode, index: int, verdict: str | None, comment: str = "") -> Any:
        return self.post(f"/episodes/{episode.id}/review/steps/{index}", verdict=verdict, comment=comment)

    def mends(self, episode: Episode, index: int, base: int, thought: str, action: Action) -> Any:
        path = f"/episodes/{episode.id}/review/steps/{index}/fixes"
        return self.post(path, base=base, thought=thought, action=action.model_dump(mode="json"))

    def cuts(self, episode: Episode, **body: Any) -> Any:
        return self.post(f"/episodes/{episode.id}/review/cuts", **body)

    def decides(self, episode: Episode, decision: str, reason: str = "") -> Any:
        return self.post(f"/episodes/{episode.id}/review", decision=decision, reason=reason)


@pytest.fixture
def open_as(world: World) -> Callable[[User], Reviewer]:
    return lambda user: Reviewer(world, user)


@pytest.fixture
def rosa(world: World) -> Reviewer:
    return Reviewer(world, world.rosa)


@pytest.fixture
def rita(world: World) -> Reviewer:
    """Another reviewer."""
    user = user_ensure(username="rita", password=PASSWORD, name="Rita", roles=["reviewer"])
    return Reviewer(world, user)


def test_the_queue_gives_each_reviewer_another_episode_oldest_first(
    world: World, rosa: Reviewer, rita: Reviewer
) -> None:
    first, second = finished(world.ada), finished(world.ben)
    assert [item["episode"]["id"] for item in rosa.get("/reviews/queue")["items"]] == [str(first.id), str(second.id)]
    assert rosa.post("/reviews/next")["id"] == str(first.id)
    assert rita.post("/reviews/next")["id"] == str(second.id)
    assert rita.post("/reviews/next", after=str(second.id)) is None
    queue = rita.get("/reviews/queue")["items"]
    assert [(item["claim"]["reviewer"], item["claim"]["mine"]) for item in queue] == [("Rosa", False), ("Rita", True)]
    refused = rita.says(first, 0, "right")
    assert (refused["code"], refused["extra"]["reviewer"]) == ("claimed_by_other", "rosa")
    assert rita.decides(first, "accept")["code"] == "claimed_by_other"
    assert rosa.client.delete(f"/api/episodes/{first.id}/review/claim").status_code == 204
    assert rita.decides(first, "accept")["review"] == "accepted"
    assert rosa.get("/reviews/queue")["total"] == 1


def test_no_more_than_are_worth_counting_are_counted(
    world: World, rosa: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished(world.ada), finished(world.ben)
    counts = []
    for most in (1, 2):
        monkeypatch.setattr(review_queue, "MAX_COUNTED", most)
        queue = rosa.get("/reviews/queue")
        counts.append((len(queue["items"]), queue["total"], queue["capped"]))
    assert counts == [(2, 1, True), (2, 2, False)]


def test_going_on_and_back_through_the_queue(world: World, rosa: Reviewer) -> None:
    first, second = finished(world.ada), finished(world.ben)
    assert rosa.post("/reviews/next", after=str(first.id))["id"] == str(second.id)
    assert rosa.post("/reviews/next", after=str(second.id), direction="previous")["id"] == str(first.id)
    assert Claim.objects.get().episode_id == first.id, "what was left is free"
    assert rosa.post("/reviews/next", annotator="ben")["id"] == str(second.id)
    assert rosa.post("/reviews/next", outcome="failure") is None


async def test_many_reviewers_at_once_get_as_many_episodes(committed: World) -> None:
    import asyncio

    def people() -> list[User]:
        for user in (committed.ada, committed.ben, committed.ada):
            finished(user)
        return [
            user_ensure(username=f"r{number}", password=PASSWORD, name=f"R{number}", roles=["reviewer"])
            for number in range(6)
        ]

    reviewers = await run_in_db_thread(people)
    given = await asyncio.gather(
        *(run_in_db_thread(services.review_next, user=user, filters=QueueFilters()) for user in reviewers)
    )
    taken = [episode.pk for episode in given if episode is not None]
    assert len(taken) == len(set(taken)) == 3
    await connections_close()


def test_a_running_episode_and_ones_own_are_not_reviewed(world: World, rosa: Reviewer) -> None:
    running = episodes.episode_next(user=world.ada)
    assert running is not None
    assert rosa.decides(running, "accept")["code"] == "episode_running"
    assert rosa.says(running, 0, "right")["code"] == "episode_running"
    assert rosa.post(f"/episodes/{running.id}/review/claim")["code"] == "episode_running"
    world.ben.roles = ["annotator", "reviewer"]
    world.ben.save()
    own = finished(world.ben)
    assert Reviewer(world, world.ben).says(own, 0, "right")["code"] == "own_work"
    assert Reviewer(world, world.ben).post("/reviews/next") is None


def test_annotators_read_nothing_of_a_review_before_it_is_decided(world: World, rosa: Reviewer) -> None:
    episode = finished(world.ada)
    rosa.says(episode, 0, "wrong_element", "The other field")
    ada = Reviewer(world, world.ada)
    assert ada.sheet(episode)["remarks"] == []
    assert ada.says(episode, 0, "right")["code"] == "forbidden"
    assert ada.get("/reviews/queue")["code"] == "forbidden"
    assert Reviewer(world, world.ben).sheet(episode)["code"] == "not_found"


def test_sent_back_mended_handed_in_again_and_accepted(world: World, rosa: Reviewer) -> None:
    episode = finished(world.ada, BESIDE, DONE)
    rosa.says(episode, 0, "wrong_element", "Not there")
    assert rosa.decides(episode, "return")["code"] == "reason_required"
    assert rosa.decides(episode, "return", "See the first step.")["review"] == "returned"

    ada = Reviewer(world, world.ada)
    sheet = ada.sheet(episode)
    assert (sheet["may"], sheet["round"]) == ("mend", 2)
    assert [(one["index"], one["verdict"], one["comment"]) for one in sheet["remarks"]] == [
        (0, "wrong_element", "Not there")
    ]
    resubmission = f"/episodes/{episode.id}/review/resubmission"
    assert ada.post(resubmission)["code"] == "nothing_mended"
    ada.mends(episode, 0, 0, "I type it.", HELLO)
    assert ada.mends(episode, 0, 0, "Late", HELLO)["code"] == "fix_conflict"
    assert ada.mends(episode, 9, 0, "None", HELLO)["code"] == "not_found"
    assert ada.post(resubmission)["episode"]["review"] == "pending"
    assert ada.get("/queue")["returned"] == []
    assert Task.objects.get(pk=episode.task_id).state == "done"

    assert rosa.get("/reviews/queue?returned=true")["total"] == 1
    (change,) = rosa.sheet(episode)["changes"]
    assert (change["kind"], change["before"]["action"]["kind"], change["after"]["action"]["kind"]) == (
        "changed",
        "click",
        "type_text",
    )
    assert rosa.decides(episode, "accept")["review"] == "accepted"
    verbs = set(AuditEntry.objects.filter(subject=f"episode:{episode.id}").values_list("verb", flat=True))
    assert {"step.judged", "step.mended", "episode.returned", "episode.resubmitted", "episode.accepted"} <= verbs

    (exported,) = trajectories_reviewed([episode_trajectory(episode_id=episode.id)])
    first = exported.steps[0]
    assert first.action == BESIDE, "what was executed is kept"
    assert first.review is not None
    assert first.review.fix is not None
    assert (first.review.verdict, first.review.fix.action, first.review.fix.revision) == ("wrong_element", HELLO, 1)


def test_done_anew_shows_what_changed_since(world: World, rosa: Reviewer) -> None:
    episode = finished(world.ada, BESIDE, DONE)
    rosa.decides(episode, "return", "Type it.")
    again = finished(world.ada, HELLO, DONE)
    assert again.task_id == episode.task_id
    sheet = rosa.sheet(again)
    assert sheet["previous"] == str(episode.id)
    assert [change["kind"] for change in sheet["changes"]] == ["changed"]
    assert Reviewer(world, world.ada).post(f"/episodes/{episode.id}/review/resubmission")["code"] == "begun_anew"


def test_rejected_work_counts_for_nobody(world: World, rosa: Reviewer) -> None:
    episode = finished(world.ada)
    assert rosa.decides(episode, "reject", "Another task was done.")["review"] == "rejected"
    assert not Assignment.objects.filter(task=episode.task, state="returned").exists()
    assert rosa.decides(episode, "accept")["code"] == "already_reviewed"


def test_trim_split_and_undo(world: World, rosa: Reviewer) -> None:
    episode = finished(world.ada, BESIDE, HELLO, HELLO, DONE)
    assert rosa.cuts(episode, do="undo")["code"] == "nothing_cut"
    assert rosa.cuts(episode, do="trim", first=3, last=1)["code"] == "bad_cut"
    assert rosa.cuts(episode, do="trim", first=1, last=3)["segments"] == [{"first": 1, "last": 3, "instruction": ""}]
    assert len(rosa.cuts(episode, do="split", first=2, before="Type", after="Finish")["segments"]) == 2
    trajectory = episode_trajectory(episode_id=episode.id)
    assert len(trajectory.steps) == 4, "the record stays whole"
    first, second = trajectories_reviewed([trajectory])
    assert [len(first.steps), len(second.steps)] == [1, 2]
    assert (first.outcome, second.outcome, second.task.instruction) == (None, "success", "Finish")
    assert len(rosa.cuts(episode, do="undo")["segments"]) == 1
    sheet = rosa.cuts(episode, do="undo")
    assert (sheet["segments"], sheet["can_undo_cut"]) == ([], False)
    assert tuple(trajectories_reviewed([trajectory])) == (trajectory,)


@pytest.fixture
def twice(world: World) -> tuple[Episode, Episode]:
    """One task done by two people, the second of whom clicks first."""
    Pool.objects.filter(pk=world.pool.pk).update(overlap=2)
    one = finished(world.ada, HELLO, DONE)
    other = finished(world.ben, BESIDE, HELLO, DONE, outcome="failure")
    assert one.task_id == other.task_id
    return one, other


def test_two_attempts_are_compared_where_they_part_and_one_is_chosen(
    world: World, rosa: Reviewer, twice: tuple[Episode, Episode]
) -> None:
    one, other = twice
    path = f"/reviews/comparison?one={one.id}&other={other.id}"
    compared = rosa.get(path)
    assert (compared["divergence"], compared["agreement"], compared["chosen"]) == (0, 0.8, None)
    assert [pair["same"] for pair in compared["pairs"]] == [False, True, True]
    assert rosa.get(f"/reviews/comparison?one={one.id}&other={finished(world.ada).id}")["code"] == "two_tasks"
    assert rosa.post("/reviews/adjudications", chosen=str(one.id), reason="Shorter") is None
    assert (rosa.get(path)["chosen"], rosa.get(path)["adjudicator"]) == (str(one.id), "Rosa")
    (sibling,) = rosa.sheet(other)["siblings"]
    assert (sibling["id"], sibling["chosen"]) == (str(one.id), True)
    (task,) = rosa.get(f"/reviews/agreement?pool={world.pool.pk}")["tasks"]
    assert (task["agreement"], task["outcomes_agree"], task["adjudicated"]) == (0.8, False, True)
    assert set(map(UUID, task["episodes"])) == {one.id, other.id}


def test_two_policies_meet_at_the_tasks_both_had(world: World, rosa: Reviewer) -> None:
    first, second = (
        policy_ensure(name="nano", revision=revision, dialect="ui_tars_1_5", base_url="http://127.0.0.1:9/v1")
        for revision in ("r1", "r2")
    )
    Pool.objects.filter(pk=world.pool.pk).update(overlap=2, policy=first)
    old, alone = finished(world.ada, HELLO, DONE), finished(world.ada, DONE)
    Pool.objects.filter(pk=world.pool.pk).update(policy=second)
    new = finished(world.ben, BESIDE, HELLO, DONE)
    assert set(rosa.get("/reviews/meetings")["revisions"]) == {"nano r1", "nano r2"}
    found = rosa.get("/reviews/meetings?one=nano r1&other=nano r2")
    (met,) = found["items"]
    assert (met["task"], met["one"]["episode"]["id"], met["other"]["episode"]["id"]) == (
        old.task_id,
        str(old.id),
        str(new.id),
    )
    assert found["more"] is False
    assert rosa.get("/reviews/meetings?one=nano r1&other=nano r9")["code"] == "not_found"
    policy_ensure(name="nano", revision="r3", dialect="ui_tars_1_5", base_url="http://127.0.0.1:9/v1")
    assert rosa.get("/reviews/meetings?one=nano r1&other=nano r3") == {**found, "items": []}, "nobody had it yet"
    assert [line["episode"]["id"] for line in rosa.get(f"/reviews/attempts?of={old.id}")] == [str(new.id), str(old.id)]
    assert [line["episode"]["id"] for line in rosa.get(f"/reviews/attempts?of={alone.id}")] == [str(alone.id)]
    world.ada.work_removed = True
    world.ada.save(update_fields=["work_removed"])
    assert rosa.get("/reviews/meetings")["revisions"] == ["nano r2"], "what was withdrawn is not told"


def test_agreement_is_over_the_last_ones_only(
    world: World, rosa: Reviewer, rita: Reviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = finished(world.ada, BESIDE, HELLO, DONE)
    for reviewer, verdicts in ((rosa, ("redundant", "right", "right")), (rita, ("right", "right", "right"))):
        for index, verdict in enumerate(verdicts):
            reviewer.says(episode, index, verdict)
        reviewer.client.delete(f"/api/episodes/{episode.id}/review/claim")
    rosa.says(episode, 0, "right")
    rosa.client.delete(f"/api/episodes/{episode.id}/review/claim")
    assert rosa.get("/reviews/agreement")["alpha"] is None, "the last word of each counts, and all said the same"
    monkeypatch.setattr(agreement, "JUDGED", 2)
    assert rosa.get("/reviews/agreement")["steps_judged_together"] == 2


def test_who_did_it_does_not_adjudicate(world: World, twice: tuple[Episode, Episode]) -> None:
    world.ada.roles = ["annotator", "reviewer"]
    world.ada.save()
    ada = Reviewer(world, world.ada)
    assert ada.post("/reviews/adjudications", chosen=str(twice[0].id))["code"] == "own_work"


def test_verdicts_of_two_reviewers_make_an_alpha(world: World, rosa: Reviewer, rita: Reviewer) -> None:
    episode = finished(world.ada, BESIDE, HELLO, DONE)
    assert rosa.get("/reviews/agreement")["alpha"] is None
    for index, (hers, other) in enumerate((("wrong_element", "wrong_action"), ("right", "right"), ("right", "right"))):
        rosa.says(episode, index, hers)
        rosa.client.delete(f"/api/episodes/{episode.id}/review/claim")
        rita.says(episode, index, other)
        rita.client.delete(f"/api/episodes/{episode.id}/review/claim")
    found = rosa.get("/reviews/agreement")
    assert found["steps_judged_together"] == 3
    assert found["alpha"] == pytest.approx(1 - 5 * 2 / (36 - 16 - 1 - 1))


def test_gold_tasks_score_people(world: World, rosa: Reviewer) -> None:
    Pool.objects.filter(pk=world.pool.pk).update(overlap=2)
    reference, attempt = finished(world.ada, HELLO, DONE), finished(world.ben, BESIDE, HELLO, DONE)
    Task.objects.filter(pk=reference.task_id).update(gold=reference)
    assert rosa.get("/reviews/agreement")["gold"] == [
        {"annotator": "Ben", "episodes": 1, "agreement": 0.8, "outcomes": 1.0}
    ]
    assert attempt.task_id == reference.task_id


def identical_attempts(world: World) -> tuple[Episode, Episode, Episode]:
    """Two attempts that say and show the same, and one that does not."""
    long = [TypeText(text=f"line {number} of a long note") for number in range(12)]
    other = [Click(x=100 * number, y=40) for number in range(1, 9)]
    return finished(world.ada, *long), finished(world.ben, *long[:-1], DONE), finished(world.ada, *other)


def test_near_duplicates_are_found_and_told_beside_each_episode(world: World, rosa: Reviewer) -> None:
    one, two, _other = identical_attempts(world)
    path = f"/pools/{world.pool.pk}/duplicates"
    assert rosa.get(path) == {"job": None, "pairs": []}
    job = rosa.post(path)
    assert (job["status"], job["total"]) == ("done", 3)
    (pair,) = rosa.get(path)["pairs"]
    assert {pair["one"]["id"], pair["other"]["id"]} == {str(one.id), str(two.id)}
    assert pair["text"] > 0.8
    assert [near["id"] for near in rosa.sheet(one)["duplicates"]] == [str(two.id)]
    rosa.post(path)
    assert len(rosa.get(path)["pairs"]) == 1, "a later search stands in the place of the one before"


def test_a_cancelled_search_changes_nothing(world: World, rosa: Reviewer, monkeypatch: pytest.MonkeyPatch) -> None:
    identical_attempts(world)
    monkeypatch.setattr(jobs.duplicates_job, "delay", lambda *given: None)
    path = f"/pools/{world.pool.pk}/duplicates"
    job = rosa.post(path)
    assert rosa.post(path)["code"] == "under_way"
    assert rosa.client.post(f"/api/review-jobs/{job['id']}/cancel").status_code == 204
    duplicates_run(job_id=UUID(job["id"]), pool_id=world.pool.pk)
    assert rosa.get(path)["job"]["status"] == "cancelled"
    assert rosa.get(path)["pairs"] == []
