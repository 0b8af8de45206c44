"""Recorded sessions in review: thoughts are changed as revisions, words are redacted for good, two reviewers agree or
a third adjudicates, and what is exported has the thoughts as reviewers left them."""

import hashlib
import io
import json
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.db import DatabaseError, connection, transaction
from PIL import Image

from agent_backend.refinement.refiner import Refiner
from annotation_app.episodes.models import Episode, Step
from annotation_app.policies.services import policy_ensure
from annotation_app.reviews import refinement
from annotation_app.reviews.models import ThoughtRevision
from annotation_app.tasks.models import Pool
from protocol.trajectory.trajectories import Trajectory
from tests.integration.web.conftest import World
from tests.integration.web.imports.import_helpers import build_archive, upload, write
from tests.integration.web.reviews.test_independent_reviews import reviewer
from tests.integration.web.reviews.test_reviews import Reviewer

ID = UUID("6d3a1c52-7d0e-4c47-9f0f-4e3c0d7b6a11")
SECOND = 1_000_000_000
SECRET = "Mustermann"
SAID = [(1.0, f"I open {SECRET}'s mail."), (4.1, "It opened."), (6.0, "Now I close the window.")]
"""When it was said, before the first act at 3 s, after it, and before the second one at 9 s."""


def words() -> list[dict[str, Any]]:
    return [
        {"t_ns": int((begin + 0.2 * place) * SECOND), "end_ns": int((begin + 0.2 * place + 0.15) * SECOND), "text": one}
        for begin, text in SAID
        for place, one in enumerate(text.split())
    ]


def session_row(picture: str) -> dict[str, Any]:
    def at(seconds: float, kind: str, **fields: Any) -> dict[str, Any]:
        return {"kind": kind, "t_ns": int(seconds * SECOND), "t_error_ns": 0, **fields}

    frames = [at(second, "screen.frame", sha256=picture, damaged_ns=0, app="mail") for second in (0, 3.5, 9.5)]
    link = {"role": "link", "name": f"From {SECRET}", "bounds": [0, 0, 20, 10], "late_ns": 7}
    clicks = [
        at(second + late, f"pointer.{kind}", x=5, y=5, button=1, **({"element": link} if second == 3 else {}))
        for second in (3, 9)
        for late, kind in ((0, "down"), (0.05, "up"))
    ]
    return {
        "format": "pilothouse-session-1",
        "id": str(ID),
        "annotator": "recorder-1",
        "instruction": "Read the mail",
        "track": "expert",
        "state": "finished",
        "outcome": "success",
        "clock": {"monotonic_ns": 0, "realtime_ns": 1_795_000_000 * SECOND},
        "events": sorted([*frames, *clicks], key=lambda event: event["t_ns"]),
        "speech": {"engine": "scripted", "language": "en", "words": words()},
        "levels": {"rate": 20, "runs": [{"t_ns": SECOND, "values": "AP8="}]},
    }


@pytest.fixture
def episode(world: World, data: Path) -> Episode:
    """A recorded session that came in."""
    made = io.BytesIO()
    Image.new("RGB", (64, 64), "navy").save(made, "JPEG")
    name = hashlib.sha256(made.getvalue()).hexdigest()
    files = {"session.json": json.dumps(session_row(name)).encode(), f"images__{name}.jpg": made.getvalue()}
    told = upload(world, build_archive(**files), pool_name="Recorded")
    assert told["imported"] == 1, told
    return Episode.objects.get(pk=ID)


@pytest.fixture
def reviewers(world: World, episode: Episode) -> list[Reviewer]:
    """Three of them, where two review independently."""
    Pool.objects.filter(pk=episode.task.pool_id).update(reviewers=2)
    return [Reviewer(world, reviewer(name)) for name in ("Rosa", "Rita", "Rana")]


@pytest.fixture
def rosa(world: World) -> Reviewer:
    return Reviewer(world, world.rosa)


def speech(one: Reviewer) -> Any:
    return one.get(f"/episodes/{ID}/speech")


def edit(one: Reviewer, do: str, base: int, **fields: Any) -> Any:
    return one.post(f"/episodes/{ID}/review/thoughts", do=do, base=base, **fields)


def texts(answer: Any) -> list[str]:
    return [thought["text"] for thought in answer["thoughts"]]


def exported(folder: Path) -> Trajectory:
    (row,) = (write(folder) / "trajectories.jsonl").read_text().splitlines()
    return Trajectory.model_validate_json(row)


def test_the_timeline_has_words_thoughts_steps_and_loudness(rosa: Reviewer, episode: Episode) -> None:
    found = speech(rosa)
    assert texts(found) == [text for _, text in SAID]
    assert [(thought["steps"], thought["step"]) for thought in found["thoughts"]] == [([0], 0), ([0], 1), ([1], 1)]
    assert [(step["begin"], step["thought"]) for step in found["steps"]] == [
        (3.0, SAID[0][1]),
        (9.0, f"{SAID[1][1]} {SAID[2][1]}"),
    ]
    assert [step["element"] for step in found["steps"]] == [f"link “From {SECRET}”", ""]
    assert found["levels"] == [{"begin": 1.0, "rate": 20.0, "values": "AP8="}]
    assert found["words"][0] == {"begin": 1.0, "end": 1.15, "text": "I"}
    assert (found["revision"], found["may_edit"], found["duration"]) == (0, True, 9.5)


def test_other_episodes_have_no_timeline(world: World, rosa: Reviewer, episode: Episode) -> None:
    other = Reviewer(world, world.ada)
    assert other.client.get(f"/api/episodes/{ID}/speech").status_code == 404
    assert edit(other, "undo", 0)["code"] == "not_found"
    Episode.objects.filter(pk=ID).update(annotator=world.rosa)
    assert speech(rosa)["may_edit"] is False
    assert edit(rosa, "merge", 0, thought=0)["code"] == "not_returned"


def test_thoughts_are_changed_undone_and_restored(rosa: Reviewer, episode: Episode, tmp_path: Path) -> None:
    assert texts(edit(rosa, "write", 0, thought=2, text="I close it."))[2] == "I close it."
    assert len(texts(edit(rosa, "split", 1, thought=0, word=2))) == 4
    assert edit(rosa, "merge", 1, thought=1)["code"] == "thoughts_conflict"
    assert edit(rosa, "split", 2, thought=0, word=0)["code"] == "bad_thought"
    merged = edit(rosa, "merge", 2, thought=0)
    assert texts(merged)[0] == SAID[0][1]
    moved = edit(rosa, "assign", 3, thought=1, steps=[])
    assert [step["thought"] for step in moved["steps"]] == [SAID[0][1], "I close it."]
    assert exported(tmp_path / "one").steps[1].thought == "I close it."
    undone = edit(rosa, "undo", 4)
    assert undone["revision"] == 3
    assert [step["thought"] for step in undone["steps"]][1] == "It opened. I close it."
    restored = edit(rosa, "restore", 3, revision=4)
    assert [(row["kind"], row["undone"]) for row in restored["revisions"]] == [
        ("write", False), ("split", False), ("merge", False), ("assign", True), ("restore", False),
    ]  # fmt: skip
    assert texts(edit(rosa, "restore", 5, revision=0)) == [text for _, text in SAID]
    found = exported(tmp_path / "two")
    assert [step.thought for step in found.steps] == [SAID[0][1], f"{SAID[1][1]} {SAID[2][1]}"]
    recorded: Any = found.task.parameters["recording"]
    assert "levels" not in recorded


def test_a_steps_own_correction_stands_over_its_thoughts(rosa: Reviewer, episode: Episode, tmp_path: Path) -> None:
    edit(rosa, "write", 0, thought=0, text="I open it.")
    action = Step.objects.get(episode=episode, index=0).document.action
    rosa.mends(episode, 0, 0, "I open the first mail.", action)
    found = exported(tmp_path / "one")
    assert found.steps[0].thought == "I open the first mail."


def test_a_redacted_word_is_nowhere(world: World, rosa: Reviewer, episode: Episode, tmp_path: Path) -> None:
    action = Step.objects.get(episode=episode, index=0).document.action
    edit(rosa, "write", 0, thought=0, text=f"I open what {SECRET} wrote.")
    edit(rosa, "undo", 1)
    edit(rosa, "split", 0, thought=0, word=3)
    rosa.mends(episode, 0, 0, f"{SECRET} wrote this.", action)
    redacted = rosa.post(f"/episodes/{ID}/review/redactions", words=[2])
    assert redacted["words"][2] == {"begin": 1.4, "end": 1.55, "text": ""}
    assert texts(redacted)[:2] == ["I open", "mail."]
    assert [row["kind"] for row in redacted["revisions"]] == ["write", "split"]
    folder = write(tmp_path / "one")
    assert SECRET not in (folder / "trajectories.jsonl").read_text()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT count(*) FROM "{table}" AS one WHERE one::text ILIKE %s', [f"%{SECRET}%"])
            assert cursor.fetchone() == (0,), table
    assert rosa.post(f"/episodes/{ID}/review/redactions", words=[2])["code"] == "already_redacted"
    assert rosa.post(f"/episodes/{ID}/review/redactions", words=[99])["code"] == "no_word"
    with pytest.raises(DatabaseError), transaction.atomic():
        Step.objects.filter(episode=episode).update(document=Step.objects.get(episode=episode, index=1).document)


def test_a_part_holds_nothing_of_what_was_cut_away(rosa: Reviewer, episode: Episode, tmp_path: Path) -> None:
    rosa.cuts(episode, do="trim", first=1, last=1)
    folder = write(tmp_path / "one")
    assert SECRET not in (folder / "trajectories.jsonl").read_text()


def test_reviewers_who_leave_different_thoughts_disagree(
    episode: Episode, reviewers: list[Reviewer], tmp_path: Path
) -> None:
    rosa, rita, rana = reviewers
    edit(rosa, "assign", 0, thought=1, steps=[])
    assert rosa.decides(episode, "accept")["review"] == "pending"
    seen = speech(rita)
    assert (seen["revision"], seen["revisions"]) == (0, []), "the second reviewer is blind"
    edit(rita, "write", 0, thought=2, text="now I CLOSE the window")
    assert edit(rita, "undo", 1)["code"] == "thoughts_conflict"
    assert rita.decides(episode, "accept")["review"] == "pending", "they differ in what belongs to no step"
    assert rana.get("/reviews/queue")["items"][0]["adjudication"] is True
    assert [row["author"] for row in speech(rana)["revisions"]] == ["Rosa", "Rita"]
    edit(rana, "restore", 2, revision=1)
    assert rana.decides(episode, "accept")["review"] == "accepted"
    assert exported(tmp_path / "one").steps[1].thought == SAID[2][1]
    agreement = rana.get("/reviews/agreement")["decisions"]
    assert (agreement["episodes"], agreement["share"], agreement["words"]) == (1, 1.0, 11)
    assert 0.4 < agreement["words_alpha"] < 1


def test_reviewers_who_leave_the_same_thoughts_agree(episode: Episode, reviewers: list[Reviewer]) -> None:
    rosa, rita, _ = reviewers
    for one, base in ((rosa, 0), (rita, 0)):
        edit(one, "assign", base, thought=1, steps=[])
        last = one.decides(episode, "accept")
    assert last["review"] == "accepted"
    assert ThoughtRevision.objects.count() == 2


class RefiningServer:
    """Answers by a script: what each thought becomes. It goes away after `left` requests."""

    def __init__(self) -> None:
        self.left, self.asked = 99, list[str]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        said = json.loads(request.content)["messages"][1]["content"].rpartition("Said: ")[2]
        self.left -= 1
        if self.left < 0:
            return httpx.Response(400, json={"error": {"message": "gone"}})
        self.asked.append(said)
        events = (
            {"index": 0, "delta": {"content": f"{said} This brings the whole work forward."}},
            {"index": 0, "delta": {}, "finish_reason": "stop"},
        )
        body = "".join(f"data: {json.dumps({'choices': [event]})}\n\n" for event in events) + "data: [DONE]\n\n"
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, text=body)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> RefiningServer:
    """A model that is registered, and its server."""
    made = RefiningServer()
    transport = httpx.MockTransport(made)
    monkeypatch.setattr(refinement, "Refiner", partial(Refiner, transport=transport))
    policy_ensure(name="writer", revision="1", dialect="ui_tars_1_5", base_url="http://writer/v1", model="writer")
    return made


def refine(one: Reviewer) -> Any:
    (choice,) = one.get(f"/episodes/{ID}/review/refinement")["models"]
    return one.post(f"/episodes/{ID}/review/refinement", policy=choice["id"])


def accept(one: Reviewer, base: int, thought: int, *sentences: int) -> Any:
    chosen = [{"thought": thought, "sentences": sentences}]
    return one.post(f"/episodes/{ID}/review/refinement/accepted", base=base, thoughts=chosen)


def test_thoughts_are_refined_and_accepted_by_sentence(
    rosa: Reviewer, episode: Episode, model: RefiningServer, tmp_path: Path
) -> None:
    model.left = 1
    broken = refine(rosa)
    assert (broken["job"]["status"], broken["job"]["done"], len(broken["thoughts"])) == ("failed", 1, 1)
    model.left = 99
    refined = refine(rosa)
    assert (refined["job"]["status"], refined["job"]["done"], refined["job"]["total"]) == ("done", 3, 3)
    assert model.asked == [text for _, text in SAID], "what was known is not asked for again"
    assert [one["support"] for one in refined["thoughts"][1]["sentences"]] == ["verbatim", "added"]
    assert texts(speech(rosa)) == [text for _, text in SAID], "nothing changes before a reviewer accepts"
    both = accept(rosa, 0, 1, 0, 1)
    assert texts(both)[1] == "It opened. This brings the whole work forward."
    assert [row["kind"] for row in both["revisions"]] == ["refine"]
    assert accept(rosa, 1, 1, 0)["code"] == "thoughts_conflict", "it says something else now"
    edit(rosa, "undo", 1)
    assert accept(rosa, 0, 1, 2)["code"] == "bad_thought"
    assert texts(accept(rosa, 0, 0, 0))[0] == SAID[0][1]
    rosa.post(f"/episodes/{ID}/review/redactions", words=[2])
    left = rosa.get(f"/episodes/{ID}/review/refinement")["thoughts"]
    assert [one["thought"] for one in left] == [1, 2], "what was written of a redacted word is gone"


def test_a_refinement_by_another_reviewer_is_not_seen_blind(
    episode: Episode, reviewers: list[Reviewer], model: RefiningServer
) -> None:
    rosa, rita, _ = reviewers
    edit(rosa, "write", 0, thought=1, text="It is open.")
    assert refine(rosa)["job"]["status"] == "done"
    rosa.decides(episode, "accept")
    assert rita.get(f"/episodes/{ID}/review/refinement")["job"] is None
    assert accept(rita, 0, 1, 0)["code"] == "not_found"
