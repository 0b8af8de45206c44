"""Reviewing: accepted work is exported, returned work comes back to its annotator."""

from uuid import uuid4

import pytest

from annotation_app.accounts.models import User
from annotation_app.audit.models import AuditEntry
from annotation_app.episodes import services
from annotation_app.episodes.models import Episode
from tests.integration.web.conftest import World


@pytest.fixture
def finished(world: World) -> Episode:
    """Ada's, finished."""
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    services.episode_change(episode_id=episode.id, token=None, fields={"status": "finished", "outcome": "success"})
    return episode


def review(world: World, user: User, episode: Episode, **body: str) -> dict[str, object]:
    response = world.client(user).post(f"/api/episodes/{episode.id}/review", body, content_type="application/json")
    answer: dict[str, object] = response.json()
    return answer


def test_accepting(world: World, finished: Episode) -> None:
    def decided() -> object:
        return world.client(world.rosa).get(f"/api/episodes/{finished.id}/review").json()["review"]

    assert decided() == "pending"
    assert review(world, world.rosa, finished, decision="accept")["review"] == "accepted"
    assert decided() == "accepted"
    assert review(world, world.rosa, finished, decision="accept")["code"] == "already_reviewed"


def test_what_is_returned_comes_back_first_to_its_annotator(world: World, finished: Episode) -> None:
    assert review(world, world.rosa, finished, decision="return")["code"] == "reason_required"
    answer = review(world, world.rosa, finished, decision="return", reason="The file is misspelt.")
    assert (answer["review"], answer["review_reason"]) == ("returned", "The file is misspelt.")
    queue = world.client(world.ada).get("/api/queue").json()
    assert [episode["id"] for episode in queue["returned"]] == [str(finished.id)]
    other = services.episode_next(user=world.ben)
    assert other is not None
    assert other.task_id != finished.task_id
    again = services.episode_next(user=world.ada)
    assert again is not None
    assert (again.task_id, again.id != finished.id) == (finished.task_id, True)
    assert world.client(world.ada).get("/api/queue").json()["returned"] == []


def test_reviewers_read_why_an_episode_ended(world: World, finished: Episode) -> None:
    for note in ("I cannot find the file.", "The task is \x00broken.", ""):
        services.command_record(
            episode_id=finished.id, token=finished.runner_token, command_id=uuid4().hex, digest="0" * 64, note=note
        )
    listed = world.client(world.rosa).get("/api/episodes").json()["items"]
    assert [episode["note"] for episode in listed] == ["The task is broken."]
    logged = AuditEntry.objects.filter(subject=f"episode:{finished.id}", verb="episode.noted")
    assert [(entry.actor, entry.details["note"]) for entry in logged][::-1] == [
        (world.ada, "I cannot find the file."),
        (world.ada, "The task is broken."),
    ]


def test_annotators_do_not_review(world: World, finished: Episode) -> None:
    assert review(world, world.ada, finished, decision="accept")["code"] == "forbidden"
    assert review(world, world.ravi, finished, decision="accept")["code"] == "forbidden"


def test_only_finished_work_is_reviewed(world: World) -> None:
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    assert review(world, world.rosa, episode, decision="accept")["code"] == "episode_running"


def test_nobody_reviews_their_own_work(world: World, finished: Episode) -> None:
    world.ada.roles = ["annotator", "reviewer"]
    world.ada.save()
    assert review(world, world.ada, finished, decision="accept")["code"] == "own_work"


def test_practice_is_not_reviewed(world: World) -> None:
    episode = services.episode_next(user=world.ada, practice=True)
    assert episode is not None
    services.episode_change(episode_id=episode.id, token=None, fields={"status": "finished", "outcome": "success"})
    assert review(world, world.rosa, episode, decision="accept")["code"] == "practice"
