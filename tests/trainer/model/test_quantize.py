"""Packed matrices are read back close to what they were, by the library that others read them with."""

import json
from pathlib import Path
from typing import get_args

import pytest
import torch

from benchmarks.parts.model_servers.checkpoint import write
from trainer.__main__ import main
from trainer.errors import CheckpointMismatched, CheckpointUnusable, ConfigInvalid, OutputExists
from trainer.model.checkpoints import load_checkpoint
from trainer.model.quantize import REPORT, Config, Scheme, group_scales, run
from trainer.model.shards import INDEX, ShardedTensors

QUERY = "model.layers.0.self_attn.q_proj"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("source") / "tiny"
    write(folder, seed=5)
    return folder


def test_a_group_is_rounded_to_the_scale_of_least_error() -> None:
    weight = torch.randn(8, 64, generator=torch.Generator().manual_seed(3))
    errors = []
    for shrinks in (1, 8):
        scale = group_scales(weight, 32, shrinks)
        assert scale.shape == (8, 2)
        groups = weight.unflatten(1, (2, 32))
        errors.append(((groups / scale[..., None]).round().clamp(-8, 7) * scale[..., None] - groups).square().sum())
    assert errors[1] < errors[0], "trying more scales finds better ones"
    assert group_scales(torch.zeros(1, 32), 32, 2).isfinite().all()


def test_packed_weights_are_read_back_close_to_what_they_were(source: Path, tmp_path: Path) -> None:
    out = run(Config(checkpoint=source, out=tmp_path / "out"))
    assert {f"{QUERY}.weight_packed", f"{QUERY}.weight_scale", f"{QUERY}.weight_shape"} <= set(
        ShardedTensors(out).names
    )
    assert f"{QUERY}.weight" not in ShardedTensors(out).names
    assert ShardedTensors(out).kind(f"{QUERY}.weight_packed") == (torch.int32, (128, 128 // 8))
    told = json.loads((out / REPORT).read_text())
    assert told["latency"] == "not measured"
    assert told["bytes"] < told["bytes_before"]
    assert len(told["matrices"]) == 14, "seven in each of two layers"
    assert all(0.02 < error < 0.15 for error in told["matrices"].values())
    models = [load_checkpoint(folder).model for folder in (source, out)]
    with torch.inference_mode():
        first, second = (model(input_ids=torch.tensor([[65, 66, 67, 68]])).logits for model in models)
    assert 0 < (first - second).square().mean() < 0.5 * first.var(), "it says nearly the same; unpacked where needed"
    before, after = (model.state_dict() for model in models)
    for name, weight in before.items():
        if "_proj.weight" not in name or "visual" in name:
            assert torch.equal(weight, after[name]), name
    name = "model.language_model.layers.0.self_attn.q_proj.weight"
    error = (after[name].float() - before[name].float()).norm() / before[name].float().norm()
    assert error == pytest.approx(told["matrices"][f"{QUERY}.weight"], rel=0.05)


def test_both_schemes_are_the_same_weights_with_other_products(source: Path, tmp_path: Path) -> None:
    ids = torch.tensor([[*range(60, 124)]])
    off = {}
    made = [run(Config(checkpoint=source, out=tmp_path / name, scheme=name)) for name in get_args(Scheme)]
    one, other = (ShardedTensors(folder) for folder in made)
    assert one.names == other.names
    assert all(torch.equal(one.tensor(name), other.tensor(name)) for name in one.names)
    with torch.inference_mode():
        exact = load_checkpoint(source).model(input_ids=ids).logits.log_softmax(-1)
        for folder in made:
            said = load_checkpoint(folder).model(input_ids=ids).logits.log_softmax(-1)
            off[folder.name] = float((exact.exp() * (exact - said)).sum(-1).mean())
    assert 0 < off["W4A16"] < off["W4AFP8"] < 2 * off["W4A16"], "what comes in is rounded as well, to 8 bits"
    with pytest.raises(ConfigInvalid, match="groups of 128"):
        run(Config(checkpoint=source, out=tmp_path / "small", scheme="W4AFP8", group=64))
    assert not (tmp_path / "small").exists()


def test_rows_that_groups_do_not_divide_stay(source: Path, tmp_path: Path) -> None:
    out = run(Config(checkpoint=source, out=tmp_path / "out", group=256))
    told = json.loads((out / REPORT).read_text())
    assert set(told["matrices"]) == {f"model.layers.{layer}.mlp.down_proj.weight" for layer in range(2)}
    assert f"{QUERY}.weight" in told["left_as_they_were"]
    before, after = load_checkpoint(source).model.state_dict(), load_checkpoint(out).model.state_dict()
    name = "model.language_model.layers.0.self_attn.q_proj.weight"
    assert torch.equal(before[name], after[name])


def test_files_are_bounded(source: Path, tmp_path: Path) -> None:
    out = run(Config(checkpoint=source, out=tmp_path / "out", file_bytes=200_000))
    assert len(list(out.glob("model-*.safetensors"))) > 2
    assert (out / INDEX).exists()
    whole = run(Config(checkpoint=source, out=tmp_path / "whole"))
    one, other = (load_checkpoint(folder).model.state_dict() for folder in (out, whole))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_what_cannot_be_quantised_is_refused(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(OutputExists):
        run(Config(checkpoint=source, out=tmp_path))
    with pytest.raises(CheckpointMismatched):
        run(Config(checkpoint=source, out=tmp_path / "out", group=4096))
    with pytest.raises(CheckpointUnusable):
        run(Config(checkpoint=tmp_path / "nothing", out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert main(["quantize", "--set", f"checkpoint={source}", "--set", f"out={tmp_path / 'made'}"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'made'}\n"
