"""Fine-tuning learns what it is shown, and a run that was ended goes on as if it had not been."""

import json
import shutil
from pathlib import Path

import pytest
import torch

from tests.trainer.examples import CLICK, TYPED, read, sample, write_attempt_folder
from tests.unit.protocol.examples import step, trajectory
from trainer.__main__ import main
from trainer.algorithms.sft import Config, fit, read_samples, run
from trainer.data.rendering import Renderer, TokenizedSample
from trainer.errors import CheckpointMismatched, NothingToLearn, TrainingDiverged
from trainer.model.checkpoints import STATE, Checkpoint, load_checkpoint
from trainer.runtime.distributed import WHOLE
from trainer.runtime.metrics import BOARD, LOG

TARGETS = ("click(1)", "wait()", "finished(x)", "scroll(down)")


def four(checkpoint: Checkpoint) -> list[TokenizedSample]:
    """Four samples that say different things."""
    renderer = Renderer(checkpoint, context=256)
    return [
        renderer.render_sample(sample(number, target=target, weight=1.0 + number % 2), read)
        for number, target in enumerate(TARGETS)
    ]


@pytest.fixture
def quick(checkpoint: Checkpoint, tmp_path: Path) -> Config:
    """A run of seconds."""
    return Config(
        checkpoint=checkpoint.path,
        folders=(tmp_path / "none",),
        out=tmp_path / "run",
        updates=6,
        sequences=2,
        tokens=256,
        learning_rate=3e-3,
        warmup=2,
        keep_every=3,
        seed=4,
    )


def log(out: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (out / LOG).read_text().splitlines()]


def test_four_samples_are_learned_by_heart(checkpoint: Checkpoint, quick: Config) -> None:
    trained = load_checkpoint(fit(quick.model_copy(update={"updates": 60, "keep_every": 60}), four))
    told = log(quick.out)
    assert told[0]["loss"] > 4, "a random model knows nothing"
    assert told[-1]["loss"] < 0.1
    before, after = checkpoint.model.state_dict(), trained.model.state_dict()
    assert all(torch.equal(before[name], after[name]) for name in before if "visual" in name), "the tower is frozen"
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert list((quick.out / BOARD).glob("events.out.tfevents.*"))


def test_a_run_that_was_ended_goes_on_bit_for_bit(quick: Config, tmp_path: Path) -> None:
    whole, ended = quick.out, tmp_path / "ended"
    fit(quick, four)
    shutil.copytree(whole, ended)
    shutil.rmtree(ended / "update-000006")
    (ended / "update-000006.making").mkdir()
    with (ended / LOG).open("a") as lines:
        lines.write('{"update": 7, "lo')
    again = fit(quick.model_copy(update={"out": ended}), four)
    assert again == ended / "update-000006"
    first, second = (load_checkpoint(out / "update-000006").model.state_dict() for out in (whole, ended))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert (ended / "update-000006" / STATE).read_text() == (whole / "update-000006" / STATE).read_text()
    timeless = [[{**line, "seconds": 0} for line in log(out)] for out in (whole, ended)]
    assert timeless[0] == timeless[1]
    assert [line["update"] for line in timeless[1]] == [1, 2, 3, 4, 5, 6]


def test_another_runs_checkpoint_is_not_gone_on_with(quick: Config) -> None:
    short = quick.model_copy(update={"updates": 1})
    kept = fit(short, four)
    assert {STATE, WHOLE} <= {file.name for file in kept.iterdir()}
    with pytest.raises(CheckpointMismatched, match="other data"):
        fit(short, lambda loaded: four(loaded)[:3])
    with pytest.raises(CheckpointMismatched, match="learning_rate"):
        fit(short.model_copy(update={"learning_rate": 1e-5}), four)
    assert fit(short.model_copy(update={"updates": 2}), four).name == "update-000002"


def test_a_token_counts_the_same_however_sequences_are_cut(quick: Config, tmp_path: Path) -> None:
    losses = []
    for name, sequences, tokens in (("one", 1, 2048), ("two", 2, 256)):
        cut = {"updates": 1, "sequences": sequences, "tokens": tokens, "out": tmp_path / name}
        fit(quick.model_copy(update=cut), four)
        losses.append(log(tmp_path / name)[0])
    assert losses[0]["tokens"] == losses[1]["tokens"]
    assert losses[0]["loss"] == pytest.approx(losses[1]["loss"], abs=1e-4)
    assert losses[0]["gradient"] == pytest.approx(losses[1]["gradient"], rel=1e-3)


def test_a_gradient_that_is_no_number_ends_the_run_and_keeps_nothing(quick: Config) -> None:
    def endless(checkpoint: Checkpoint) -> list[TokenizedSample]:
        checkpoint.model.lm_head.weight.data[0] = float("inf")
        return four(checkpoint)

    with pytest.raises(TrainingDiverged):
        fit(quick, endless)
    assert not list(quick.out.glob("update-*"))


def test_folders_without_a_sample_are_refused(quick: Config, tmp_path: Path) -> None:
    folder = write_attempt_folder(tmp_path / "folder", trajectory(CLICK))
    with pytest.raises(NothingToLearn):
        run(quick.model_copy(update={"folders": (folder,), "tokens": 64}))


def test_a_folder_is_trained_on(checkpoint: Checkpoint, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = write_attempt_folder(tmp_path / "folder", trajectory(CLICK, TYPED)), tmp_path / "run"
    settings = {"checkpoint": str(checkpoint.path), "folders": [str(folder)], "out": str(out), "sequences": 1}
    (tmp_path / "sft.json").write_text(json.dumps(settings))
    assert main(["sft", "--config", str(tmp_path / "sft.json"), "--set", "updates=1"]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{out / 'update-000001'}\n"
    assert '{"samples": 2, "left_out": {}}' in printed.err
    load_checkpoint(out / "update-000001")


def test_corrections_weigh_as_much_as_all_else(checkpoint: Checkpoint, quick: Config, tmp_path: Path) -> None:
    steps = [step(index, CLICK, actor="policy", decision="auto") for index in range(3)]
    whole = trajectory(steps=(*steps, step(3, TYPED)), proposals=((),) * 4)
    told = {"folders": (write_attempt_folder(tmp_path / "folder", whole),), "tokens": 16_384}
    plain = read_samples(quick.model_copy(update=told), checkpoint)
    assert {max(one.weights) for one in plain} == {1.0}
    weighed = read_samples(quick.model_copy(update={**told, "weighting": "interventions"}), checkpoint)
    assert [max(one.weights) for one in weighed] == pytest.approx([4 / 6] * 3 + [2])
    only = {**told, "weighting": "classes", "classes": {"own": 0.0, "before": 0.0, "correction": 3.0}}
    assert [one.index for one in read_samples(quick.model_copy(update=only), checkpoint)] == [3]


def test_variants_are_learned_from_where_they_differ_and_by_their_weight(
    checkpoint: Checkpoint, quick: Config, tmp_path: Path
) -> None:
    original = trajectory(CLICK, CLICK)
    variant = original.model_copy(
        update={"id": f"{original.id}.enriched-1", "variant": "enriched-1", "variant_steps": (1,)}
    )
    write_attempt_folder(tmp_path / "attempts", original, variant)
    told = quick.model_copy(update={"folders": (tmp_path / "attempts",), "tokens": 4_096})

    def weights(**by_kind: float) -> list[tuple[str, int, float]]:
        config = told.model_copy(update={"variant_weights": by_kind})
        return [(one.trajectory_id, one.index, max(one.weights)) for one in read_samples(config, checkpoint)]

    own = [(original.id, 0, 1.0), (original.id, 1, 1.0)]
    assert weights() == [*own, (variant.id, 1, 1.0)]
    assert weights(enriched=0.5) == [*own, (variant.id, 1, 0.5)]
    assert weights(enriched=0) == own
    assert weights(none=0) == [(variant.id, 1, 1.0)]
