"""A reward model learns to say of an attempt whether it succeeded, and is asked about others in the end."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from protocol.evaluation.judge_replies import parse_vote
from protocol.trajectory.observations import Verdict
from tests.trainer.examples import CLICK, TYPED, read, sample, write_attempt_folder
from tests.unit.protocol.examples import trajectory
from trainer.__main__ import main
from trainer.algorithms.orm import (
    ANSWERS,
    HELD_OUT,
    Config,
    Question,
    _answers,
    balance_outcomes,
    create_question,
    read_questions,
    run,
    scores,
    split_questions,
)
from trainer.data.packing import learned_logits, pack
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.errors import NothingToLearn
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.runtime.metrics import LOG

QUICK: dict[str, Any] = {
    **{"folders": ("none",), "updates": 6, "sequences": 2, "tokens": 512, "learning_rate": 3e-3, "warmup": 2},
    **{"keep_every": 3, "seed": 1, "held_out": 0.0},
}


def config_of(checkpoint: Checkpoint, out: Path, **more: Any) -> Config:
    return Config.model_validate({"checkpoint": checkpoint.path, "out": out, **QUICK, **more})


def four(_: Config, checkpoint: Checkpoint) -> list[Question]:
    """Four attempts; three failed."""
    return [create_question(*both_answers(checkpoint, number), number == 2) for number in range(4)]


def both_answers(checkpoint: Checkpoint, number: int) -> tuple[TokenizedSample, TokenizedSample]:
    renderer = Renderer(checkpoint, context=256)
    yes, no = (renderer.render_sample(sample(number, target=answer), read) for answer in ANSWERS)
    return yes, no


def log(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / LOG).read_text().splitlines()]


def test_answers_are_verdicts_that_judges_read() -> None:
    assert [parse_vote(answer).score for answer in ANSWERS] == [1.0, 0.0]


def test_four_attempts_are_told_apart(checkpoint: Checkpoint, tmp_path: Path) -> None:
    config = config_of(checkpoint, tmp_path, updates=40, keep_every=40)
    trained = load_checkpoint(run(config, four))
    told = log(tmp_path)
    assert told[0]["reward"] == pytest.approx(0.5, abs=0.2)
    assert told[-1]["accuracy"] == pytest.approx(1)
    assert told[-1]["reward"] > 0.9
    assert told[-1]["likelihood_loss"] < told[0]["likelihood_loss"] / 10
    found = scores(trained.model, four(config, checkpoint))
    assert [score > 0.5 for score in found] == [False, False, True, False]


def test_a_run_that_was_ended_goes_on_bit_for_bit(checkpoint: Checkpoint, tmp_path: Path) -> None:
    whole = run(config_of(checkpoint, tmp_path / "whole"), four)
    run(config_of(checkpoint, tmp_path / "ended", updates=3), four)
    ended = run(config_of(checkpoint, tmp_path / "ended"), four)
    first, second = (load_checkpoint(folder).model.state_dict() for folder in (whole, ended))
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_both_outcomes_weigh_the_same(checkpoint: Checkpoint) -> None:
    questions = balance_outcomes(four(config_of(checkpoint, Path("none")), checkpoint))
    assert [one.weight for one in questions] == pytest.approx([4 / 6, 4 / 6, 2, 4 / 6])
    assert [one.weight for one in balance_outcomes(questions[:2])] == [questions[0].weight] * 2, (
        "of one outcome nothing changes"
    )


def write_judged_attempt(path: Path, name: str, success: bool | None, outcome: str | None = None) -> Path:
    verdict = None if success is None else Verdict(success=success, score=float(success))
    whole = trajectory(CLICK, TYPED).model_copy(update={"id": name, "verdict": verdict, "outcome": outcome})
    return write_attempt_folder(path / name, whole)


def test_attempts_are_asked_about_as_judges_are(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [
        write_judged_attempt(tmp_path, "a", True),
        write_judged_attempt(tmp_path, "b", None),
        write_judged_attempt(tmp_path, "c", False, "success"),
    ]
    config = config_of(checkpoint, tmp_path / "run", folders=folders, tokens=32_768)
    first, second = read_questions(config, checkpoint)
    assert '{"samples": 2, "left_out": {"attempt_unjudged": 1}}' in capsys.readouterr().err
    assert (first.done, second.done) == (True, False), "the verifier's word goes before a person's"
    begin = first.reply.mask.index(True)
    renderer = Renderer(checkpoint, context=32_768)
    text = renderer.text(first.reply.ids)
    assert "Rename report.txt to final.txt." in text
    assert text.endswith("Verdict: yes<|im_end|>")
    assert renderer.text(second.reply.ids).endswith("Verdict: no<|im_end|>")
    assert first.reply.ids[begin + first.decisive] == first.verdicts[0]
    assert second.reply.ids[second.reply.mask.index(True) + second.decisive] == second.verdicts[1]
    assert first.verdicts == second.verdicts
    assert len(first.reply.pictures) == 3
    assert len(read_questions(config.model_copy(update={"images": 1}), checkpoint)[0].reply.pictures) == 1
    with pytest.raises(NothingToLearn):
        run(config.model_copy(update={"folders": (folders[1],)}))


def test_the_command_says_how_far_it_can_be_trusted(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [chr(ord("a") + number) for number in range(4)]
    folders = [str(write_judged_attempt(tmp_path, name, name in "ab")) for name in names]
    told = {"folders": folders, "tokens": 32_768, "held_out": 0.5, "sequences": 1, "updates": 1, "images": 1}
    config = config_of(checkpoint, tmp_path / "run", **told)
    questions = read_questions(config, checkpoint)
    seed = next(
        seed
        for seed in range(99)
        if 0 < len(split_questions(questions, config.model_copy(update={"seed": seed}))[1]) < 4
    )
    capsys.readouterr()
    (tmp_path / "orm.json").write_text(config.model_copy(update={"seed": seed}).model_dump_json())
    assert main(["orm", "--config", str(tmp_path / "orm.json")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'run' / 'update-000001'}\n"
    found = json.loads((tmp_path / "run" / HELD_OUT).read_text())
    counted = ("true_positives", "false_positives", "true_negatives", "false_negatives")
    assert 0 < sum(found[name] for name in counted) < 4


def test_a_score_is_the_yes_of_both_verdicts_where_the_answer_decides_itself(checkpoint: Checkpoint) -> None:
    """Whichever answer is right and whatever stands beside it, as a judge's reply is read."""
    questions = four(config_of(checkpoint, Path("none")), checkpoint)
    failed, done = questions[0], create_question(*both_answers(checkpoint, 0), True)
    assert scores(checkpoint.model, [failed]) == pytest.approx(scores(checkpoint.model, [done]))
    with torch.no_grad():
        one = pack([done.reply], checkpoint.model)
        logits = learned_logits(checkpoint.model, one)[done.decisive]
    yes, no = logits[list(done.verdicts)].exp().tolist()
    assert scores(checkpoint.model, [done]) == pytest.approx([yes / (yes + no)])
    with torch.no_grad():
        packed = _answers(checkpoint.model, questions)[1][:, 0].tolist()
    assert packed == pytest.approx(scores(checkpoint.model, questions), abs=1e-5)
