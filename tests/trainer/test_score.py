"""What a checkpoint says of attempts is what the server that drew them would say."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer.examples import LOGPROBS, REPLY, accepted, read, sample, write_attempt_folder
from trainer.__main__ import main
from trainer.algorithms.score import Config, run, score_sample
from trainer.data.packing import learned_logits, learned_logprobs, pack
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.errors import NothingToLearn, OutputExists
from trainer.likelihood import compute_reply_logprobs
from trainer.model.checkpoints import Checkpoint
from trainer.model.critic import load_critic
from trainer.rl.losses import token_logprobs
from trainer.serve.prompt_encoder import PromptEncoder


@pytest.fixture
def rendered(checkpoint: Checkpoint) -> TokenizedSample:
    return Renderer(checkpoint, context=512).render_sample(
        sample(1, pictures=2, target="click(start_box='(1,2)')"), read
    )


@pytest.mark.parametrize("temperature", [0.7, 1.0])
def test_three_ways_to_a_log_probability_agree(
    checkpoint: Checkpoint, rendered: TokenizedSample, temperature: float
) -> None:
    begin = rendered.mask.index(True)
    one = pack([rendered], checkpoint.model)
    with torch.inference_mode():
        packed = learned_logprobs(checkpoint.model, one, temperature=temperature)
        raw = token_logprobs(learned_logits(checkpoint.model, one), one.learned, temperature=temperature)
    alone = compute_reply_logprobs(
        checkpoint, rendered.ids[:begin], rendered.pictures, rendered.ids[begin:], temperature=temperature
    )
    assert (packed - alone).abs().max() < 1e-4
    assert (packed - raw).abs().max() < 1e-5


def test_a_line_has_what_the_policy_and_the_critic_say(checkpoint: Checkpoint, rendered: TokenizedSample) -> None:
    critic = load_critic(checkpoint.path)
    torch.nn.init.constant_(critic.head.bias, 0.25)
    line = score_sample(rendered, checkpoint, critic, 1.0)
    assert line["values"] == [0.25] * sum(rendered.mask)
    assert len(line["logprobs"]) == len(line["token_ids"]) == sum(rendered.mask)
    assert score_sample(rendered, checkpoint, None, 1.0)["values"] is None
    told = tuple(-1.0 for flag in rendered.mask if flag)
    assert score_sample(replace(rendered, logprobs=told, exact=True), checkpoint, None, 1.0)["drawn_logprobs"] == told
    assert score_sample(replace(rendered, logprobs=told, exact=False), checkpoint, None, 1.0)["drawn_logprobs"] is None


def config_of(checkpoint: Checkpoint, out: Path, *folders: Path, **more: Any) -> Config:
    return Config(checkpoint=checkpoint.path, out=out, folders=folders, **more)


def test_the_command_scores_folders(checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_attempt_folder(
        tmp_path / "folder", accepted(PromptEncoder(checkpoint, max_images=5, context=16_384))
    )
    out = tmp_path / "scores" / "of.jsonl"
    config = config_of(checkpoint, out, folder, critic=checkpoint.path)
    (tmp_path / "score.json").write_text(config.model_dump_json())
    assert main(["score", "--config", str(tmp_path / "score.json")]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    first, second = (json.loads(line) for line in out.read_text().splitlines())
    assert first["token_ids"] == list(REPLY)
    assert first["drawn_logprobs"] == list(LOGPROBS)
    assert (second["actor"], second["drawn_logprobs"]) == ("human", None)
    assert all(value < 0 for line in (first, second) for value in line["logprobs"])
    cooler = run(config_of(checkpoint, tmp_path / "cooler.jsonl", folder, temperature=0.7))
    assert json.loads(cooler.read_text().splitlines()[0])["drawn_logprobs"] is None, "it was drawn at another"
    assert main(["score", "--config", str(tmp_path / "score.json")]) == 1
    assert "output_exists" in capsys.readouterr().err


def test_nothing_appears_where_nothing_can_be_scored(checkpoint: Checkpoint, tmp_path: Path) -> None:
    folder = write_attempt_folder(
        tmp_path / "folder", accepted(PromptEncoder(checkpoint, max_images=5, context=16_384))
    )
    out = tmp_path / "of.jsonl"
    with pytest.raises(NothingToLearn):
        run(config_of(checkpoint, out, folder, tokens=64))
    assert not out.exists()
    out.write_text("")
    with pytest.raises(OutputExists):
        run(config_of(checkpoint, out, folder))
