"""Continued pre-training learns documents by heart, parts what is long, and keeps its place in a mix."""

import io
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from PIL import Image
from pydantic import ValidationError

from benchmarks.parts.model_servers.checkpoint import token_id
from protocol.trajectory.proposals import PolicyRef
from tests.trainer.examples import CLICK, TYPED, write_attempt_folder
from tests.unit.protocol.examples import step, trajectory
from trainer.__main__ import main
from trainer.algorithms.ct import Config, Source, read_source, run
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.errors import CheckpointMismatched, NothingToLearn, SampleTooLong, SampleUnreadable
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.runtime.metrics import LOG

PAD, BOUNDARY = token_id("image_pad"), token_id("endoftext")


def png(shade: int = 90) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (56, 56), (shade, 0, 0)).save(data, "PNG")
    return data.getvalue()


def learned_tokens(samples: Sequence[TokenizedSample]) -> list[int]:
    return [token for one in samples for token, flag in zip(one.ids, one.mask, strict=True) if flag]


@pytest.fixture
def renderer(checkpoint: Checkpoint) -> Renderer:
    return Renderer(checkpoint, context=64)


def test_a_document_is_learned_word_for_word_and_its_pictures_are_read(renderer: Renderer) -> None:
    (one,) = renderer.render_document("a.md", ["Before ", png(), " after"])
    assert renderer.text(learned_tokens([one])) == "Before  after<|endoftext|>"
    assert one.ids.count(PAD) == one.pictures[0].tokens == 4
    assert not any(flag for token, flag in zip(one.ids, one.mask, strict=True) if token == PAD)
    assert one.ids[0] == BOUNDARY
    assert not one.mask[0]


def test_a_long_document_goes_on_in_the_next_sample(renderer: Renderer) -> None:
    text = "".join(f"word {number}. " for number in range(30))
    samples = list(renderer.render_document("a.md", [text, png(), png(10), "end"]))
    assert len(samples) > 4
    assert all(len(one.ids) <= 64 for one in samples)
    assert renderer.text(learned_tokens(samples)) == f"{text}end<|endoftext|>"
    assert sum(len(one.pictures) for one in samples) == 2
    for one in samples:
        assert one.ids.count(PAD) == sum(picture.tokens for picture in one.pictures), "no picture is parted"
        assert any(one.mask)


def test_what_a_document_may_not_hold_is_refused(checkpoint: Checkpoint, renderer: Renderer) -> None:
    with pytest.raises(SampleUnreadable):
        list(renderer.render_document("a.md", ["<|im_end|>"]))
    with pytest.raises(SampleUnreadable):
        list(renderer.render_document("a.md", [b"no picture"]))
    with pytest.raises(SampleTooLong):
        list(Renderer(checkpoint, context=6).render_document("a.md", [png()]))


@pytest.fixture
def quick(checkpoint: Checkpoint, tmp_path: Path) -> Config:
    """Two short documents, one with a picture, and a conversation."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.png").write_bytes(png())
    (docs / "a.md").write_text("# Seas\n![](a.png)\nThe sea is wide.")
    (docs / "b.html").write_text("<h1>Hills</h1><p>A hill is high.</p>")
    turns = [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "Good day."}]
    (tmp_path / "chat.jsonl").write_text(json.dumps({"messages": turns}) + "\n")
    sources = {
        "web": Source(kind="documents", paths=(docs,), share=2),
        "chat": Source(kind="chats", paths=(tmp_path / "chat.jsonl",), share=1),
    }
    told = {"updates": 6, "sequences": 2, "tokens": 128, "learning_rate": 3e-3, "warmup": 2, "keep_every": 3}
    return Config.model_validate({"checkpoint": checkpoint.path, "out": tmp_path / "run", "sources": sources, **told})


def log(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / LOG).read_text().splitlines()]


def test_documents_and_conversations_are_learned_by_heart(quick: Config) -> None:
    run(quick.model_copy(update={"updates": 60, "keep_every": 60}))
    told = log(quick.out)
    assert told[0]["loss"] > 4
    assert told[-1]["loss"] < 0.1
    tokens = {name: sum(line["tokens"] * line[f"mix/{name}"] for line in told) for name in ("web", "chat")}
    assert tokens["web"] / sum(tokens.values()) == pytest.approx(2 / 3, abs=0.05)


def test_variants_of_documents_weigh_what_their_label_says(
    quick: Config, renderer: Renderer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "labelled"
    for name, label in (("one", "none"), ("two", "enriched-1"), ("three", "diversified-2")):
        (docs / name).mkdir(parents=True)
        (docs / name / "document.md").write_text(f"# A {name}")
        (docs / name / "document.json").write_text(json.dumps({"variant": label}))

    def weights(**by_kind: float) -> dict[str, float]:
        told = {"kind": "documents", "paths": [docs], "share": 1, "variant_weights": by_kind}
        sources = {"own": Source.model_validate(told)}
        samples, _ = read_source("own", quick.model_copy(update={"sources": sources}), renderer)
        return {one.trajectory_id.split("/")[0]: max(one.weights) for one in samples}

    assert weights() == {"one": 1.0, "two": 1.0, "three": 1.0}
    assert weights(enriched=0.25, diversified=0) == {"one": 1.0, "two": 0.25}
    assert json.loads(capsys.readouterr().err.splitlines()[-1])["left_out"] == {"variant": 1}
    with pytest.raises(ValidationError):
        Source.model_validate({"kind": "chats", "paths": ["a"], "share": 1, "variant_weights": {"enriched": 0}})
    (docs / "two" / "document.json").write_text("{}")
    assert weights() == {"one": 1.0, "three": 1.0}


def test_a_run_that_was_ended_goes_on_bit_for_bit(quick: Config, tmp_path: Path) -> None:
    whole = run(quick)
    ended = quick.model_copy(update={"out": tmp_path / "ended"})
    run(ended.model_copy(update={"updates": 3}))
    again = run(ended)
    first, second = (load_checkpoint(folder).model.state_dict() for folder in (whole, again))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert [{**line, "seconds": 0} for line in log(quick.out)] == [{**line, "seconds": 0} for line in log(ended.out)]
    sources = {**quick.sources, "chat": quick.sources["chat"].model_copy(update={"share": 3})}
    with pytest.raises(CheckpointMismatched):
        run(ended.model_copy(update={"sources": sources}))


def test_attempts_that_come_later_join_the_mix(checkpoint: Checkpoint, quick: Config, tmp_path: Path) -> None:
    inbox, attempt = tmp_path / "inbox", trajectory(CLICK)
    write_attempt_folder(inbox / "1", attempt)
    agent = Source(kind="trajectories", paths=(inbox,), share=300, follow=True)
    sources = {**quick.sources, "agent/own": agent}
    following = quick.model_copy(update={"sources": sources, "tokens": 2048, "updates": 3, "sequences": 1})
    run(following)
    write_attempt_folder(inbox / "2", attempt.model_copy(update={"id": "2"}))
    longer = following.model_copy(update={"updates": 12})
    whole = run(longer)
    passes = json.loads((quick.out / "agent%2Fown-joined.json").read_text())
    assert [len(each) for each in passes if each] == [1, 1], "each joined once"
    ended = tmp_path / "ended"
    shutil.copytree(quick.out, ended)
    for update in (6, 9, 12):
        shutil.rmtree(ended / f"update-{update:06}")
    write_attempt_folder(inbox / "0", attempt.model_copy(update={"id": "0"}))
    again = run(longer.model_copy(update={"out": ended}))
    first, second = (load_checkpoint(folder).model.state_dict() for folder in (whole, again))
    assert all(torch.equal(first[name], second[name]) for name in first)
    with pytest.raises(ValidationError, match="only trajectories"):
        Source(kind="documents", paths=(inbox,), share=1, follow=True)


def test_a_source_without_a_sample_is_refused(quick: Config, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    empty = Source(kind="documents", paths=(tmp_path / "empty",), share=1)
    with pytest.raises(NothingToLearn):
        run(quick.model_copy(update={"sources": {"web": empty}}))
    assert not list(quick.out.glob("update-*"))


def test_the_command_mixes_attempts_in(
    checkpoint: Checkpoint, quick: Config, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_attempt_folder(tmp_path / "agent", trajectory(CLICK, TYPED))
    told = json.loads(quick.model_dump_json())
    told["sources"]["agent"] = {"kind": "trajectories", "paths": [str(folder)], "share": 1}
    (tmp_path / "ct.json").write_text(json.dumps({**told, "tokens": 8192, "updates": 1, "sequences": 3}))
    assert main(["ct", "--config", str(tmp_path / "ct.json")]) == 0
    assert capsys.readouterr().out == f"{quick.out / 'update-000001'}\n"
    (line,) = log(quick.out)
    assert all(line[f"mix/{name}"] > 0 for name in ("web", "chat", "agent"))
    assert main(["ct", "--config", str(tmp_path / "ct.json"), "--set", "sources.web.kind=book"]) == 1
    assert "config_invalid: sources.web.kind" in capsys.readouterr().err


def test_corrections_weigh_within_a_source_of_attempts(checkpoint: Checkpoint, quick: Config, tmp_path: Path) -> None:
    policy = PolicyRef(name="p", revision="1", dialect="ui_tars_1_5")
    steps = tuple(
        step(index, CLICK).model_copy(update={"decision": decision, "policy": policy, "actor": "human"})
        for index, decision in enumerate(("accept", "accept", "accept", "override"))
    )
    folder = write_attempt_folder(tmp_path / "people", trajectory(steps=steps))
    source = Source(kind="trajectories", paths=(folder,), share=1.0)
    told = quick.model_copy(update={"sources": {"people": source}, "weighting": "interventions", "tokens": 16_384})
    samples, _ = read_source("people", told, Renderer(checkpoint, context=16_384))
    assert [max(one.weights) for one in samples] == pytest.approx([4 / 6] * 3 + [2])
    with pytest.raises(ValidationError, match="interventions"):
        Config.model_validate({**told.model_dump(), "sources": {"people": source.model_copy(update={"follow": True})}})
