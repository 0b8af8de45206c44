"""Reviewing: accepted work is exported, returned work comes back to its annotator."""

import pytest

from annotation_app.accounts.models import User
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
    assert review(world, world.rosa, finished, decision="accept")["review"] == "accepted"
    assert review(world, world.rosa, finished, decision="accept")["code"] == "already_reviewed"


def test_what_is_returned_comes_back_first_to_its_annotator(world: World, finished: Episode) -> None:
    assert review(world, world.rosa, finished, decision="return")["code"] == "reason_required"
    answer = review(world, world.rosa, finished, decision="return", reason="The file is misspelt.")
    assert (answer["review"], answer["returned_reason"]) == ("returned", "The file is misspelt.")
    queue = world.client(world.ada).get("/api/queue").json()
    assert [episode["id"] for episode in queue["returned"]] == [str(finished.id)]
    other = services.episode_next(user=world.ben)
    assert other is not None
    assert other.task_id != finished.task_id
    again = services.episode_next(user=world.ada)
    assert again is not None
    assert (again.task_id, again.id != finished.id) == (finished.task_id, True)
    assert world.client(world.ada).get("/api/queue").json()["returned"] == []


def test_annotators_do_not_review(world: World, finished: Episode) -> None:
    assert review(world, world.ada, finished, decision="accept")["code"] == "forbidden"
    assert review(world, world.ravi, finished, decision="accept")["code"] == "forbidden"


def test_only_finished_work_is_reviewed(world: World) -> None:
    episode = services.episode_next(user=world.ada)
    assert episode is not None
    assert review(world, world.rosa, episode, decision="accept")["code"] == "not_finished"


def test_nobody_reviews_their_own_work(world: World, finished: Episode) -> None:
    world.ada.roles = ["annotator", "reviewer"]
    world.ada.save()
    assert review(world, world.ada, finished, decision="accept")["code"] == "own_work"


def test_practice_is_not_reviewed(world: World) -> None:
    episode = services.episode_next(user=world.ada, practice=True)
    assert episode is not None
    services.episode_change(episode_id=episode.id, token=None, fields={"status": "finished", "outcome": "success"})
    assert review(world, world.rosa, episode, decision="accept")["code"] == "practice"
