"""Fine-tuning learns what it is shown, and a run that was ended goes on as if it had not been."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from tests.trainer.making import CLICK, TYPED, folder_write, read, sample
from tests.unit.vocabulary.examples import trajectory
from trainer.checkpoints import Checkpoint, checkpoint_load
from trainer.errors import CheckpointMismatched
from trainer.rendering import Rendered, Renderer
from trainer.sft import LOG, OPTIMISER, STATE, Sft, main, train

QUICK = Sft(updates=6, sequences=2, tokens=256, learning_rate=3e-3, warmup=2, keep_every=3, seed=4)
TARGETS = ("click(1)", "wait()", "finished(x)", "scroll(down)")


def four(checkpoint: Checkpoint) -> list[Rendered]:
    """Four samples that say different things."""
    renderer = Renderer(checkpoint, context=256)
    return [
        renderer.worded(sample(number, target=target, weight=1.0 + number % 2), read)
        for number, target in enumerate(TARGETS)
    ]


def log(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / LOG).read_text().splitlines()]


def test_four_samples_are_learned_by_heart(checkpoint: Checkpoint, tmp_path: Path) -> None:
    config = QUICK.model_copy(update={"updates": 60, "keep_every": 60})
    trained = checkpoint_load(train(checkpoint.path, four, config, tmp_path / "run"))
    told = log(tmp_path / "run")
    assert told[0]["loss"] > 4, "a random model knows nothing"
    assert told[-1]["loss"] < 0.1
    before, after = checkpoint.model.state_dict(), trained.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before if "visual" in name), "the tower is frozen"
    assert any(not torch.equal(before[name], after[name]) for name in before)


def test_a_run_that_was_ended_goes_on_bit_for_bit(checkpoint: Checkpoint, tmp_path: Path) -> None:
    whole, ended = tmp_path / "whole", tmp_path / "ended"
    train(checkpoint.path, four, QUICK, whole)
    shutil.copytree(whole, ended)
    shutil.rmtree(ended / "update-000006")
    (ended / "update-000006.making").mkdir()
    with (ended / LOG).open("a") as lines:
        lines.write('{"update": 7, "lo')
    again = train(checkpoint.path, four, QUICK, ended)
    assert again == ended / "update-000006"
    first, second = (checkpoint_load(out / "update-000006").model.state_dict() for out in (whole, ended))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert (ended / "update-000006" / STATE).read_text() == (whole / "update-000006" / STATE).read_text()
    timeless = [[{**line, "seconds": 0} for line in log(out)] for out in (whole, ended)]
    assert timeless[0] == timeless[1]
    assert [line["update"] for line in timeless[1]] == [1, 2, 3, 4, 5, 6]


def test_another_runs_checkpoint_is_not_gone_on_with(checkpoint: Checkpoint, tmp_path: Path) -> None:
    short = QUICK.model_copy(update={"updates": 1})
    kept = train(checkpoint.path, four, short, tmp_path)
    assert {STATE, OPTIMISER} <= {file.name for file in kept.iterdir()}
    with pytest.raises(CheckpointMismatched):
        train(checkpoint.path, lambda loaded: four(loaded)[:3], short, tmp_path)
    with pytest.raises(CheckpointMismatched):
        train(checkpoint.path, four, short.model_copy(update={"learning_rate": 1e-5}), tmp_path)
    assert train(checkpoint.path, four, short.model_copy(update={"updates": 2}), tmp_path).name == "update-000002"


def test_a_token_counts_the_same_however_sequences_are_cut(checkpoint: Checkpoint, tmp_path: Path) -> None:
    losses = []
    for name, sequences, tokens in (("one", 1, 2048), ("two", 2, 256)):
        cut = QUICK.model_copy(update={"updates": 1, "sequences": sequences, "tokens": tokens})
        train(checkpoint.path, four, cut, tmp_path / name)
        losses.append(log(tmp_path / name)[0])
    assert losses[0]["tokens"] == losses[1]["tokens"]
    assert losses[0]["loss"] == pytest.approx(losses[1]["loss"], abs=1e-4)
    assert losses[0]["gradient"] == pytest.approx(losses[1]["gradient"], rel=1e-3)


def test_what_cannot_be_trained_on_is_said(
    checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(checkpoint.path), str(tmp_path / "nothing"), "--out", str(tmp_path / "run")]) == 1
    assert "FolderUnknown" in capsys.readouterr().err


def test_a_folder_is_trained_on(checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = folder_write(tmp_path / "folder", trajectory(CLICK, TYPED)), tmp_path / "run"
    (tmp_path / "sft.json").write_text('{"updates": 1, "sequences": 1}')
    words = [str(checkpoint.path), str(folder), "--out", str(out), "--config", str(tmp_path / "sft.json")]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{out / 'update-000001'}\n"
    assert '{"samples": 2, "left_out": {}}' in printed.err
    checkpoint_load(out / "update-000001")
