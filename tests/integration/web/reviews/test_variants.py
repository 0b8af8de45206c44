"""Variants of a recorded session's thoughts: a model writes them, reviewers choose, exports have them with a label."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.db import connection

from agent_backend.refinement.variants import VariantWriter
from annotation_app.episodes.models import Episode
from annotation_app.exports.schemas import ExportFilters, ExportPlan
from annotation_app.exports.services import export_write_to
from annotation_app.policies.services import policy_ensure
from annotation_app.reviews import refinement
from tests.integration.web.conftest import World
from tests.integration.web.reviews.test_recorded_sessions import ID, edit, episode, reviewers, rosa
from tests.integration.web.reviews.test_reviews import Reviewer
from tests.recorded_sessions import SAID, SECRET

__all__ = ["episode", "reviewers", "rosa"]
PATH = f"/episodes/{ID}/review/variants"


class WritingServer:
    """Answers by a script: an added sentence, or the thought in other words. It asks nothing twice."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.evidence: list[str] = []
        self.reply = "The application mail is in front."

    def __call__(self, request: httpx.Request) -> httpx.Response:
        system, question = (message["content"] for message in json.loads(request.content)["messages"][:2])
        evidence, _, thought = question.rpartition("Thought: ")
        self.evidence.append(evidence)
        self.asked.append(thought)
        words = thought.rstrip(".").split()
        text = f"{' '.join(reversed(words))}." if "You reword" in system else self.reply
        events = (
            {"index": 0, "delta": {"content": text}},
            {"index": 0, "delta": {}, "finish_reason": "stop"},
        )
        body = "".join(f"data: {json.dumps({'choices': [event]})}\n\n" for event in events) + "data: [DONE]\n\n"
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=body)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> WritingServer:
    """A model that is registered, and its server."""
    made = WritingServer()
    monkeypatch.setattr(refinement, "VariantWriter", partial(VariantWriter, transport=httpx.MockTransport(made)))
    policy_ensure(name="writer", revision="1", dialect="ui_tars_1_5", base_url="http://writer/v1", model="writer")
    return made


def have_written(one: Reviewer, kind: str) -> Any:
    (choice,) = one.get(PATH)["models"]
    return one.post(PATH, kind=kind, policy=choice["id"])


def decide(one: Reviewer, status: str, *variants: Any, dropped: tuple[int, ...] = ()) -> Any:
    decisions = [{"variant": each["id"], "status": status, "dropped": dropped} for each in variants]
    return one.post(f"{PATH}/decisions", decisions=decisions)


def exported(folder: Path, form: str = "canonical", *variants: str) -> Path:
    plan = ExportPlan.model_validate({"format": form, "variants": variants})
    export_write_to(target=folder, pool_name=None, filters=ExportFilters(review=None), plan=plan)
    return folder


def rows(folder: Path) -> list[Any]:
    return [json.loads(line) for line in (folder / "trajectories.jsonl").read_text().splitlines()]


def test_chosen_variants_are_exported_beside_the_originals(
    rosa: Reviewer, episode: Episode, model: WritingServer, tmp_path: Path
) -> None:
    made = have_written(rosa, "enriched")
    assert [(one["kind"], one["job"]["status"], one["job"]["done"]) for one in made["jobs"]] == [
        ("enriched", "done", 3)
    ]
    first = made["variants"][0]
    assert [(one["text"], one["support"]) for one in first["sentences"]] == [
        ("The application mail is in front.", "added"),
        (SAID[0][1], "verbatim"),
    ]
    assert (first["thought"], first["index"], first["status"], first["model"]) == (0, 1, "proposed", "writer 1")
    assert [one for one in model.evidence if f"Element: link “From {SECRET}”" in one] == model.evidence[:1]
    assert [row["variant"] for row in rows(exported(tmp_path / "one", "canonical", "enriched"))] == ["none"]
    chosen = decide(rosa, "chosen", *made["variants"][:2])
    assert [one["status"] for one in chosen["variants"]] == ["chosen", "chosen", "proposed"]
    assert [row["variant"] for row in rows(exported(tmp_path / "two"))] == ["none"], "originals alone by default"
    folder = exported(tmp_path / "three", "canonical", "enriched", "diversified")
    original, copy = rows(folder)
    assert (original["variant"], copy["variant"], copy["variant_steps"]) == ("none", "enriched-1", [0, 1])
    assert original["steps"][0]["thought"] == SAID[0][1], "the thought stays"
    assert copy["steps"][0]["thought"] == f"The application mail is in front. {SAID[0][1]}"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["counts"]["trajectories"], manifest["variants"]) == (2, {"enriched": 1})
    documents = exported(tmp_path / "four", "ct_documents", "enriched")
    labels = sorted(json.loads(path.read_text())["variant"] for path in documents.rglob("document.json"))
    assert labels == ["enriched-1", "none"]


def test_an_added_sentence_is_dropped_and_a_rejected_variant_left_out(
    rosa: Reviewer, episode: Episode, model: WritingServer, tmp_path: Path
) -> None:
    made = have_written(rosa, "enriched")["variants"]
    assert decide(rosa, "chosen", made[0], dropped=(0, 1))["code"] == "bad_variant"
    assert decide(rosa, "chosen", made[0], dropped=(0,))["variants"][0]["dropped"] == [0]
    decide(rosa, "rejected", made[1])
    (_, copy) = rows(exported(tmp_path / "one", "canonical", "enriched"))
    assert copy["variant_steps"] == [0]
    assert copy["steps"][0]["thought"] == SAID[0][1]
    decide(rosa, "proposed", made[0])
    assert len(rows(exported(tmp_path / "two", "canonical", "enriched"))) == 1


def test_only_what_changed_is_written_again(rosa: Reviewer, episode: Episode, model: WritingServer) -> None:
    made = have_written(rosa, "diversified")
    assert {one["kind"] for one in made["variants"]} == {"diversified"}
    asked = len(model.asked)
    assert have_written(rosa, "diversified")["jobs"][0]["job"]["done"] == 3
    assert len(model.asked) == asked, "nothing changed"
    decide(rosa, "chosen", made["variants"][0])
    edit(rosa, "write", 0, thought=0, text="I open this letter of mine.")
    assert 0 not in {one["thought"] for one in rosa.get(PATH)["variants"]}, "the thought says something else now"
    assert decide(rosa, "rejected", made["variants"][0])["code"] == "thoughts_conflict"
    again = have_written(rosa, "diversified")
    assert set(model.asked[asked:]) == {"I open this letter of mine."}
    assert [one["index"] for one in again["variants"] if one["thought"] == 0] == [1]


def test_a_model_that_adds_what_nobody_knows_is_abstained_from(
    rosa: Reviewer, episode: Episode, model: WritingServer
) -> None:
    model.reply = "The customer Smith has 7 unpaid bills."
    made = have_written(rosa, "enriched")["variants"]
    assert [(one["status"], one["sentences"]) for one in made] == [("abstained", [])] * 3
    assert made[0]["problem"].startswith("not known: ")
    assert decide(rosa, "chosen", made[0])["code"] == "not_found"


def test_a_redacted_word_is_in_no_variant(rosa: Reviewer, episode: Episode, model: WritingServer) -> None:
    have_written(rosa, "enriched")
    have_written(rosa, "diversified")
    rosa.post(f"/episodes/{ID}/review/redactions", words=[2])
    assert {one["thought"] for one in rosa.get(PATH)["variants"]} == {1, 2}
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM reviews_thoughtvariant AS one WHERE one::text ILIKE %s", [f"%{SECRET}%"])
        assert cursor.fetchone() == (0,)


def test_a_blind_reviewer_learns_nothing_of_the_others_decision(
    episode: Episode, reviewers: list[Reviewer], model: WritingServer
) -> None:
    first, second, _ = reviewers
    made = have_written(first, "enriched")["variants"]
    decide(first, "rejected", made[0])
    edit(first, "write", 0, thought=1, text="It is open.")
    first.decides(episode, "accept")
    seen = second.get(PATH)["variants"]
    assert [(one["thought"], one["status"], one["decided_by"]) for one in seen] == [
        (0, "proposed", ""),
        (1, "proposed", ""),
        (2, "proposed", ""),
    ]


def test_annotators_have_no_model_write(world: World, episode: Episode, model: WritingServer) -> None:
    ben = Reviewer(world, world.ben)
    assert ben.get(PATH)["code"] == "not_found", "it is another person's"
    Episode.objects.filter(pk=ID).update(annotator=world.ben)
    assert ben.get(PATH)["code"] == "forbidden"
    assert ben.post(PATH, kind="enriched", policy=1)["code"] == "forbidden"
    assert model.asked == []
