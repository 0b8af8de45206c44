"""What a person held for better becomes likelier than what they did not, in pairs (DPO) and without (KTO)."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from protocol.actions.types import Click
from protocol.training.samples import training_samples
from protocol.trajectory.trajectories import Trajectory
from tests.trainer.examples import CLICK, DIALECT, REPLY, TYPED, as_served, read, sample, write_attempt_folder
from tests.unit.protocol.examples import proposal, step, trajectory
from trainer.__main__ import main
from trainer.algorithms import dpo, kto
from trainer.data.preferences import (
    JudgedReply,
    PreferenceConfig,
    PreferencePair,
    read_judged_replies,
    read_pairs,
    reference_logprobs,
    with_reply_of,
)
from trainer.data.rendering import Renderer
from trainer.errors import NothingToLearn
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.runtime.metrics import LOG
from trainer.serve.prompt_encoder import PromptEncoder

QUICK: dict[str, Any] = {
    **{"folders": ("none",), "updates": 6, "sequences": 2, "tokens": 512, "learning_rate": 1e-3},
    **{"warmup": 2, "keep_every": 3, "seed": 4, "beta": 0.5},
}


def four_pairs(_: PreferenceConfig, checkpoint: Checkpoint) -> list[PreferencePair]:
    renderer = Renderer(checkpoint, context=256)

    def said(number: int, target: str) -> Any:
        return renderer.render_sample(sample(number, target=target), read)

    return [PreferencePair(said(number, f"click({number})"), said(number, f"wait({number})")) for number in range(4)]


def rated_replies(config: PreferenceConfig, checkpoint: Checkpoint) -> list[JudgedReply]:
    """The better replies of two pairs are good, the worse ones of two others bad."""
    pairs = four_pairs(config, checkpoint)
    replies = [pairs[0].chosen, pairs[1].chosen, pairs[2].rejected, pairs[3].rejected]
    return [
        JudgedReply(reply, with_reply_of(reply, replies[place - 1]), desirable=place < 2)
        for place, reply in enumerate(replies)
    ]


def dpo_run(checkpoint: Checkpoint, out: Path, **more: Any) -> Path:
    return dpo.run(dpo.Config(checkpoint=checkpoint.path, out=out, **{**QUICK, **more}), four_pairs)


def kto_run(checkpoint: Checkpoint, out: Path, **more: Any) -> Path:
    return kto.run(kto.Config(checkpoint=checkpoint.path, out=out, **{**QUICK, **more}), rated_replies)


def log(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / LOG).read_text().splitlines()]


def test_four_pairs_are_put_in_order(checkpoint: Checkpoint, tmp_path: Path) -> None:
    config = dpo.Config(checkpoint=checkpoint.path, out=tmp_path, **QUICK)
    trained = load_checkpoint(dpo_run(checkpoint, tmp_path, updates=25, keep_every=25))
    told = log(tmp_path)
    assert told[0]["loss"] == pytest.approx(math.log(2), abs=1e-5), "nothing is preferred before the first update"
    assert told[0]["margin"] == pytest.approx(0, abs=1e-4)
    assert told[-1]["accuracy"] == 1
    assert told[-1]["loss"] < 0.2
    pairs = four_pairs(config, checkpoint)
    before, after = (reference_logprobs(model, pairs) for model in (checkpoint.model, trained.model))
    assert ((after - before)[:, 0] > (after - before)[:, 1]).all()


def test_good_acts_become_likelier_and_bad_ones_less(checkpoint: Checkpoint, tmp_path: Path) -> None:
    config = kto.Config(checkpoint=checkpoint.path, out=tmp_path, **QUICK)
    trained = load_checkpoint(kto_run(checkpoint, tmp_path, updates=25, keep_every=25))
    told = log(tmp_path)
    assert told[0]["loss"] == pytest.approx(0.5, abs=1e-4)
    assert told[0]["drift"] == pytest.approx(0, abs=1e-4)
    assert told[-1]["loss"] < 0.25
    judged = rated_replies(config, checkpoint)
    before, after = (reference_logprobs(model, judged)[:, 0] for model in (checkpoint.model, trained.model))
    assert [bool(up) for up in after > before] == [one.desirable for one in judged]


@pytest.mark.parametrize("runs", [dpo_run, kto_run])
def test_a_run_that_was_ended_goes_on_bit_for_bit(
    runs: Callable[..., Path], checkpoint: Checkpoint, tmp_path: Path
) -> None:
    whole = runs(checkpoint, tmp_path / "whole")
    runs(checkpoint, tmp_path / "ended", updates=3)
    ended = runs(checkpoint, tmp_path / "ended")
    assert whole.name == ended.name == "update-000006"
    first, second = (load_checkpoint(folder).model.state_dict() for folder in (whole, ended))
    assert all(torch.equal(first[name], second[name]) for name in first)
    timeless = [[{**line, "seconds": 0} for line in log(folder.parent)] for folder in (whole, ended)]
    assert timeless[0] == timeless[1]


def test_a_pair_counts_the_same_however_sequences_are_cut(checkpoint: Checkpoint, tmp_path: Path) -> None:
    for runs in (dpo_run, kto_run):
        lines = []
        for sequences, tokens in ((1, 4096), (4, 512)):
            out = tmp_path / f"{runs.__name__} {sequences}"
            runs(checkpoint, out, updates=1, sequences=sequences, tokens=tokens)
            lines.append(log(out)[0])
        assert lines[0]["gradient"] == pytest.approx(lines[1]["gradient"], rel=1e-3)
        assert lines[0]["loss"] == pytest.approx(lines[1]["loss"], abs=1e-4)


def overridden(reader: PromptEncoder, **fields: Any) -> Trajectory:
    """Two overrides; the first of what was offered has its tokens, another only its words."""
    (first,) = training_samples(trajectory(CLICK), DIALECT)
    told = {
        "prompt_token_ids": as_served(reader, first).ids,
        "completion_token_ids": REPLY,
        "logprobs": (-1.0,) * len(REPLY),
    }
    drawn = proposal(1, Click(x=10, y=10)).model_copy(update={**told, **fields})
    text_proposal = proposal(2, Click(x=200, y=200))
    return trajectory(steps=(step(0, CLICK), step(1, TYPED)), proposals=((drawn,), (text_proposal,)))


def config_of(checkpoint: Checkpoint, *folders: Path, **more: Any) -> PreferenceConfig:
    told = {**QUICK, "folders": folders or ("none",), "tokens": 16_384, **more}
    return PreferenceConfig(checkpoint=checkpoint.path, out=Path("none"), **told)


def test_folders_give_pairs_in_the_words_that_were_said(checkpoint: Checkpoint, tmp_path: Path) -> None:
    reader = PromptEncoder(checkpoint, max_images=5, context=16_384)
    folder = write_attempt_folder(tmp_path / "folder", overridden(reader))
    renderer = Renderer(checkpoint, context=16_384)
    first, second = read_pairs(config_of(checkpoint, folder), checkpoint)

    def words(reply: Any) -> str:
        return renderer.text([token for token, learned in zip(reply.ids, reply.mask, strict=True) if learned])

    assert first.rejected.ids[-len(REPLY) :] == REPLY, "what was drawn is not made again from its text"
    assert words(first.chosen).startswith("Thought: Thought of step 0\nAction: click(")
    assert words(second.rejected) == "Thought: Thought 2\nAction: candidate 2<|im_end|>"
    for pair in (first, second):
        states = [one.ids[: one.mask.index(True)] for one in pair.replies]
        assert states[0] == states[1]
    judged = read_judged_replies(config_of(checkpoint, folder), checkpoint)
    assert [one.desirable for one in judged] == [True, False, True, False]
    assert (
        judged[0].unrelated_reply.ids[: judged[0].reply.mask.index(True)]
        == first.chosen.ids[: first.chosen.mask.index(True)]
    )
    assert words(judged[0].unrelated_reply) == words(second.chosen), "the next reply of another state"
    with pytest.raises(NothingToLearn):
        read_pairs(config_of(checkpoint, folder, sources=("mark",)), checkpoint)


def test_what_cannot_be_used_is_counted(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = PromptEncoder(checkpoint, max_images=5, context=16_384)
    foreign = write_attempt_folder(tmp_path / "foreign", overridden(reader, prompt_token_ids=(1, 2, 3)))
    assert len(read_pairs(config_of(checkpoint, foreign), checkpoint)) == 1
    assert '"left_out": {"sample_foreign": 1}' in capsys.readouterr().err
    with pytest.raises(NothingToLearn):
        read_pairs(config_of(checkpoint, foreign, tokens=3000), checkpoint)
    assert '"sample_too_long": 1' in capsys.readouterr().err


def test_one_state_alone_tells_no_drift(checkpoint: Checkpoint, tmp_path: Path) -> None:
    whole = trajectory(steps=(step(0, CLICK),), proposals=((proposal(2, Click(x=200, y=200)),),))
    folder = write_attempt_folder(tmp_path / "folder", whole)
    with pytest.raises(NothingToLearn):
        read_judged_replies(config_of(checkpoint, folder), checkpoint)


def test_the_commands_train_on_folders(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_attempt_folder(
        tmp_path / "folder", overridden(PromptEncoder(checkpoint, max_images=5, context=16_384))
    )
    for command in ("dpo", "kto"):
        settings = {"checkpoint": str(checkpoint.path), "folders": [str(folder)], "out": str(tmp_path / command)}
        (tmp_path / "told.json").write_text(json.dumps({**settings, "tokens": 8192, "updates": 1, "sequences": 1}))
        assert main([command, "--config", str(tmp_path / "told.json")]) == 0
        assert capsys.readouterr().out == f"{tmp_path / command / 'update-000001'}\n"


def test_an_exchanged_reply_stands_in_the_others_state(checkpoint: Checkpoint) -> None:
    first, second = (pair.chosen for pair in four_pairs(config_of(checkpoint), checkpoint)[:2])
    made = with_reply_of(first, second)
    begin = first.mask.index(True)
    assert made.ids == first.ids[:begin] + second.ids[second.mask.index(True) :]
    assert made.pictures == first.pictures
    assert sum(made.mask) == sum(made.weights) == sum(second.mask)
