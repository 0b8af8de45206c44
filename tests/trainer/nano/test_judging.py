"""A judge of the bundled policy's size begins as that policy, with short prompts and verdicts that judges read."""

from pathlib import Path

import pytest
import torch

from protocol.evaluation.judge_prompts import OUTCOME_QUESTION
from tests.trainer.nano.test_bundle import BUNDLED
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.nano.judging import create_judge_start


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Checkpoint:
    return load_checkpoint(create_judge_start(BUNDLED, tmp_path_factory.mktemp("judge") / "start"))


def pieces(checkpoint: Checkpoint, text: str) -> list[str]:
    return [checkpoint.tokenizer.decode([one]) for one in checkpoint.tokenizer.encode(text)]


def test_what_every_prompt_says_is_few_tokens(start: Checkpoint) -> None:
    known = load_checkpoint(BUNDLED).tokenizer
    assert len(pieces(start, OUTCOME_QUESTION)) < 20 < len(known.encode(OUTCOME_QUESTION)) / 20


def test_a_verdict_is_one_token_and_other_words_are_spelled(start: Checkpoint) -> None:
    assert pieces(start, "Verdict: yes") == ["Verdict:", " yes"]
    assert pieces(start, "Verdict: no") == ["Verdict:", " no"]
    assert pieces(start, " not") == list(" not")


def test_places_begin_as_the_policys_points_and_its_own_tokens_stay(start: Checkpoint) -> None:
    policy = load_checkpoint(BUNDLED)
    now, before = (each.model.get_input_embeddings().weight for each in (start, policy))

    def row(checkpoint: Checkpoint, text: str) -> int:
        (one,) = checkpoint.tokenizer.encode(text)
        return int(one)

    assert torch.equal(now[row(start, '{"x":12')], before[row(policy, "<point>12")])
    assert torch.equal(now[row(start, ',"y":34')], before[row(policy, " 34</point>")])
    assert torch.equal(now[: len(policy.tokenizer)], before[: len(policy.tokenizer)])


def test_what_is_there_is_not_replaced(tmp_path: Path) -> None:
    made = create_judge_start(BUNDLED, tmp_path / "start")
    with pytest.raises(OSError):
        create_judge_start(BUNDLED, made)
