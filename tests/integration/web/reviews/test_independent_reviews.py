"""Two reviewers decide independently; where they disagree a third one adjudicates."""

from typing import Any

import pytest

from annotation_app.accounts.models import User
from annotation_app.accounts.services import user_ensure
from annotation_app.episodes.models import Episode
from annotation_app.reviews.models import Opinion
from annotation_app.tasks.models import Pool
from protocol.actions.types import Click, TypeText
from tests.integration.web.conftest import PASSWORD, World
from tests.integration.web.reviews.test_reviews import DONE, HELLO, Reviewer, finished


@pytest.fixture
def episode(world: World) -> Episode:
    Pool.objects.filter(pk=world.pool.pk).update(reviewers=2)
    return finished(world.ada, HELLO, DONE)


@pytest.fixture
def reviewers(world: World) -> list[Reviewer]:
    """Three of them."""
    return [Reviewer(world, reviewer(name)) for name in ("Rosa", "Rita", "Rana")]


def reviewer(name: str) -> User:
    return user_ensure(username=name.lower(), password=PASSWORD, name=name, roles=["reviewer"])


def decisions(sheet: Any) -> list[tuple[str, str]]:
    return [(opinion["reviewer"], opinion["decision"]) for opinion in sheet["opinions"]]


def test_two_that_agree_decide(world: World, episode: Episode, reviewers: list[Reviewer]) -> None:
    rosa, rita, rana = reviewers
    assert rosa.decides(episode, "return", "Use the menu.")["review"] == "pending"
    assert rosa.get("/reviews/queue")["total"] == 0, "it waits for another one"
    assert rosa.post("/reviews/next") is None
    assert rosa.sheet(episode)["may"] == "look"
    for refused in (rosa.decides(episode, "accept"), rosa.says(episode, 0, "right")):
        assert refused["code"] == "opinion_given"
    assert Reviewer(world, world.ada).sheet(episode)["opinions"] == []
    assert rita.get("/reviews/queue")["items"][0]["adjudication"] is False
    assert rita.decides(episode, "return", "It was the menu.")["review"] == "returned"
    (made,) = Reviewer(world, world.ada).sheet(episode)["rounds"]
    assert made["reason"] == "Use the menu.\n\nIt was the menu."
    assert decisions(rana.sheet(episode)) == [("Rosa", "return"), ("Rita", "return")]
    assert not Opinion.objects.filter(round__isnull=True).exists()


def test_neither_sees_what_the_other_makes_of_it(episode: Episode, reviewers: list[Reviewer]) -> None:
    rosa, rita, _ = reviewers
    rosa.says(episode, 0, "wrong_element", "Not there")
    rosa.mends(episode, 0, 0, "There.", Click(x=1, y=2))
    rosa.decides(episode, "reject", "Wrong.")
    sheet = rita.sheet(episode)
    assert sheet["blind"] is True
    assert [sheet[part] for part in ("remarks", "fixes", "opinions", "changes")] == [[], [], [], []]
    assert "Wrong." not in str(sheet)
    rita.mends(episode, 0, 0, "I type.", TypeText(text="hi"))
    assert [fix["author"] for fix in rita.sheet(episode)["fixes"]] == ["Rita"]
    assert rita.cuts(episode, do="trim", first=0, last=0)["code"] == "blind_review"
    rita.says(episode, 0, "right")
    rita.decides(episode, "accept")
    after = rita.sheet(episode)
    assert decisions(after) == [("Rosa", "reject"), ("Rita", "accept")]
    assert [remark["reviewer"] for remark in after["remarks"]] == ["Rosa", "Rita"]


def test_a_third_adjudicates_where_two_disagree(episode: Episode, reviewers: list[Reviewer], world: World) -> None:
    rosa, rita, rana = reviewers
    rosa.decides(episode, "accept")
    assert rita.decides(episode, "reject", "Another task.")["review"] == "pending"
    assert [one.get("/reviews/queue")["total"] for one in (rosa, rita)] == [0, 0]
    assert rana.get("/reviews/queue")["items"][0]["adjudication"] is True
    sheet = rana.sheet(episode)
    assert (sheet["blind"], sheet["may"], decisions(sheet)) == (
        False,
        "review",
        [("Rosa", "accept"), ("Rita", "reject")],
    )
    assert rana.cuts(episode, do="trim", first=0, last=0)["segments"]
    assert rana.decides(episode, "return", "Nearly.")["review"] == "returned"
    (made,) = rana.sheet(episode)["rounds"]
    assert (made["decision"], made["reviewer"], made["reason"]) == ("return", "Rana", "Nearly.")
    agreement = rana.get(f"/reviews/agreement?pool={world.pool.pk}")["decisions"]
    assert (agreement["episodes"], agreement["share"]) == (1, 0.0)


def test_agreement_is_of_the_two_independent_ones(world: World, reviewers: list[Reviewer]) -> None:
    Pool.objects.filter(pk=world.pool.pk).update(reviewers=2)
    rosa, rita, _ = reviewers
    for hers, other in (("accept", "accept"), ("accept", "reject"), ("reject", "reject")):
        episode = finished(world.ada)
        rosa.decides(episode, hers, "So.")
        rita.decides(episode, other, "So.")
    found = rosa.get("/reviews/agreement")["decisions"]
    assert (found["episodes"], found["share"]) == (3, pytest.approx(2 / 3))
    assert found["alpha"] == pytest.approx(1 - 5 * 2 / (36 - 9 - 9))


def test_a_decision_of_one_reviewer_stays_final_elsewhere(world: World, reviewers: list[Reviewer]) -> None:
    episode = finished(world.ada)
    assert reviewers[0].decides(episode, "accept")["review"] == "accepted"
    assert not Opinion.objects.exists()
    assert reviewers[0].get("/reviews/agreement")["decisions"] == {
        "episodes": 0,
        "share": None,
        "alpha": None,
        "words": 0,
        "words_alpha": None,
    }


def test_a_rejection_notifies_its_annotator(world: World, reviewers: list[Reviewer]) -> None:
    episode = finished(world.ada)
    reviewers[0].decides(episode, "reject", "Another task was done.")
    ada = Reviewer(world, world.ada)
    (notice,) = ada.get("/notices")["items"]
    assert (notice["kind"], notice["subject"], notice["details"]) == (
        "review.rejected",
        f"episode:{episode.id}",
        {"reason": "Another task was done."},
    )
    (recent,) = ada.get("/queue")["recent"]
    assert (recent["review"], recent["review_reason"]) == ("rejected", "Another task was done.")
