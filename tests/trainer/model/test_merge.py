"""A merge is the weighted mean of its parts, tensor by tensor, and other models than the first are refused."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from benchmarks.parts.model_servers.checkpoint import write
from trainer.__main__ import main
from trainer.config import read_config
from trainer.errors import CheckpointMismatched, CheckpointUnusable, ConfigInvalid, OutputExists
from trainer.model.checkpoints import load_checkpoint
from trainer.model.merge import HEAD, Config, MergePart, run
from trainer.model.shards import INDEX, SINGLE, ShardedTensors, plan_files
from trainer.model.weight_deltas import drop, elect_sign, part_generator, trim, weighted_sum

QUERY = "model.layers.0.self_attn.q_proj.weight"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two models of one shape."""
    folder = tmp_path_factory.mktemp("pair")
    for seed in (1, 2):
        write(folder / str(seed), seed=seed)
    return folder / "1", folder / "2"


def merged(out: Path, *parts: tuple[Path, float], **more: Any) -> Path:
    return run(
        Config(parts=tuple(MergePart(checkpoint=path, weight=weight) for path, weight in parts), out=out, **more)
    )


def changed(source: Path, target: Path, change: dict[str, torch.Tensor | None], **config: Any) -> Path:
    """A copy of a checkpoint with other tensors and settings; None leaves a tensor out."""
    shutil.copytree(source, target)
    tensors = {**load_file(source / SINGLE), **change}
    save_file({name: one for name, one in tensors.items() if one is not None}, target / SINGLE, {"format": "pt"})
    told = json.loads((source / "config.json").read_text())
    (target / "config.json").write_text(json.dumps({**told, **config}))
    return target


def test_a_merge_is_the_weighted_mean(pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = merged(tmp_path / "out", (pair[0], 0.25), (pair[1], 0.75))
    first, second, found = (load_file(folder / SINGLE) for folder in (*pair, out))
    assert found.keys() == first.keys()
    for name, tensor in found.items():
        expected = first[name].double() * 0.25 + second[name].double() * 0.75
        assert tensor.dtype == torch.bfloat16
        assert torch.allclose(tensor.double(), expected, rtol=2**-8), name
    load_checkpoint(out)
    assert json.loads((out / "merged.json").read_text())["parts"][1]["weight"] == 0.75


def test_one_part_is_itself(pair: tuple[Path, Path], tmp_path: Path) -> None:
    out = merged(tmp_path / "out", (pair[0], 1.0))
    assert all(torch.equal(load_file(out / SINGLE)[name], one) for name, one in load_file(pair[0] / SINGLE).items())


def test_the_largest_changes_are_kept() -> None:
    delta = torch.tensor([[0.1, -3.0], [2.0, 0.5]])
    assert trim(delta, 0.5).tolist() == [[0, -3], [2, 0]]
    assert trim(delta, 0.01).tolist() == [[0, -3], [0, 0]], "one at least"
    assert torch.equal(trim(delta, 1.0), delta)


def test_what_is_dropped_is_made_up_for() -> None:
    delta = torch.arange(1, 4001, dtype=torch.float64)
    found = drop(delta, 0.25, part_generator(1, "a", 0))
    kept = found != 0
    assert torch.equal(found[kept], delta[kept] * 4)
    assert 900 < int(kept.sum()) < 1100
    assert float(found.mean()) == pytest.approx(float(delta.mean()), rel=0.1)
    assert torch.equal(found, drop(delta, 0.25, part_generator(1, "a", 0)))
    assert not torch.equal(found, drop(delta, 0.25, part_generator(1, "a", 1)))


def test_the_heavier_sign_wins_and_the_others_have_no_say() -> None:
    deltas = torch.tensor([[1.0, -2.0, 3.0, 0.0, 0.0], [3.0, 4.0, -1.0, 0.0, 8.0]]).unbind()
    assert elect_sign(deltas, [0.5, 0.5]).tolist() == [2, 4, 3, 0, 8]
    assert elect_sign(deltas, [0.75, 0.25]).tolist() == [1.5, -2, 3, 0, 8]
    assert weighted_sum(deltas, [0.75, 0.25]).tolist() == [1.5, -0.5, 2, 0, 2]


def test_differences_from_a_start_are_merged(pair: tuple[Path, Path], tmp_path: Path) -> None:
    base = tmp_path / "base"
    write(base, seed=3)
    whole: dict[str, Any] = {"base": base, "density": 1.0}
    parts = (pair[0], 0.25), (pair[1], 0.75)
    linear = load_file(merged(tmp_path / "linear", *parts) / SINGLE)
    kept = load_file(merged(tmp_path / "kept", *parts, method="dare_linear", **whole) / SINGLE)
    for name, tensor in linear.items():
        assert torch.allclose(kept[name].float(), tensor.float(), rtol=2**-6, atol=2**-8), "no drop: an interpolation"
    start, first, second = (load_file(folder / SINGLE) for folder in (base, *pair))
    found = load_file(merged(tmp_path / "ties", *parts, method="ties", base=base, density=0.2, strength=0.5) / SINGLE)
    changes = [trim(one[QUERY].float() - start[QUERY].float(), 0.2) for one in (first, second)]
    expected = start[QUERY].float() + 0.5 * elect_sign(changes, [0.25, 0.75])
    assert torch.equal(found[QUERY], expected.to(torch.bfloat16))
    assert float((found[QUERY] == start[QUERY]).float().mean()) > 0.5, "most of it is as it began"
    again = [merged(tmp_path / name, *parts, method="dare_ties", base=base) / SINGLE for name in ("a", "b")]
    assert again[0].read_bytes() == again[1].read_bytes()


@pytest.mark.parametrize("told", [{"method": "ties"}, {"base": "somewhere"}])
def test_a_start_belongs_to_differences(told: dict[str, Any], pair: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="base"):
        Config(parts=(MergePart(checkpoint=pair[0]),), out=tmp_path / "out", **told)


def test_files_are_bounded_and_read_again(pair: tuple[Path, Path], tmp_path: Path) -> None:
    whole = merged(tmp_path / "whole", (pair[0], 0.5), (pair[1], 0.5))
    split = merged(tmp_path / "split", (pair[0], 0.5), (pair[1], 0.5), file_bytes=300_000)
    files = sorted(split.glob("model-*.safetensors"))
    assert len(files) > 2
    assert all(file.stat().st_size < 310_000 for file in files)
    assert set(json.loads((split / INDEX).read_text())["weight_map"]) == set(load_file(whole / SINGLE))
    again = merged(tmp_path / "again", (split, 1.0))
    assert (again / SINGLE).read_bytes() == (whole / SINGLE).read_bytes()
    one, other = (load_checkpoint(folder).model.state_dict() for folder in (whole, split))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_tensor_larger_than_a_file_has_its_own() -> None:
    assert plan_files([("a", 5), ("b", 50), ("c", 4), ("d", 6)], 10) == [["a"], ["b"], ["c", "d"]]


@pytest.mark.parametrize("weights", [(0.5, 0.6), (1.5, -0.5), (0.0, 0.0)])
def test_weights_are_convex(pair: tuple[Path, Path], tmp_path: Path, weights: tuple[float, float]) -> None:
    parts = [{"checkpoint": str(path), "weight": weight} for path, weight in zip(pair, weights, strict=True)]
    with pytest.raises(ConfigInvalid, match=r"sum to|greater than or equal"):
        read_config(Config, None, [f"parts={json.dumps(parts)}", f"out={tmp_path / 'out'}"])


def test_other_models_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    weights = load_file(pair[1] / SINGLE)
    odd = {
        "another type or shape": changed(pair[1], tmp_path / "shape", {QUERY: torch.zeros(1, dtype=torch.bfloat16)}),
        "another type": changed(pair[1], tmp_path / "type", {QUERY: weights[QUERY].float()}),
        "do not both have": changed(pair[1], tmp_path / "less", {QUERY: None}),
        "ties": changed(pair[1], tmp_path / "tied", {}, tie_word_embeddings=True),
    }
    for told, path in odd.items():
        with pytest.raises(CheckpointMismatched, match=told):
            merged(tmp_path / "out", (pair[0], 0.5), (path, 0.5))
    words = changed(pair[1], tmp_path / "words", {})
    told = json.loads((words / "tokenizer.json").read_text())
    told["model"]["vocab"]["A"], told["model"]["vocab"]["B"] = told["model"]["vocab"]["B"], told["model"]["vocab"]["A"]
    (words / "tokenizer.json").write_text(json.dumps(told))
    with pytest.raises(CheckpointMismatched, match="other tokens"):
        merged(tmp_path / "out", (pair[0], 0.5), (words, 0.5))
    (words / SINGLE).write_bytes(b"cut off")
    with pytest.raises(CheckpointUnusable):
        merged(tmp_path / "out", (pair[0], 0.5), (words, 0.5))
    assert not (tmp_path / "out").exists()


def test_a_tied_head_is_not_there_twice(pair: tuple[Path, Path], tmp_path: Path) -> None:
    bare = changed(pair[0], tmp_path / "bare", {HEAD: None}, tie_word_embeddings=True)
    twice = changed(pair[1], tmp_path / "twice", {}, tie_word_embeddings=True)
    out = merged(tmp_path / "out", (bare, 0.5), (twice, 0.5))
    assert HEAD not in ShardedTensors(out).names


def test_what_is_there_is_left_alone(pair: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(OutputExists):
        merged(tmp_path, (pair[0], 1.0))


def adapter(folder: Path, tensors: dict[str, torch.Tensor], **config: Any) -> Path:
    """An adapter in PEFT's layout."""
    folder.mkdir()
    save_file(tensors, folder / "adapter_model.safetensors")
    plain = {"peft_type": "LORA", "r": 2, "lora_alpha": 8, "bias": "none", "use_dora": False, "rank_pattern": {}}
    (folder / "adapter_config.json").write_text(json.dumps({**plain, **config}))
    return folder


def test_an_adapter_is_folded(pair: tuple[Path, Path], tmp_path: Path) -> None:
    module = "base_model.model.model.language_model.layers.0.self_attn.q_proj"
    down, up = torch.randn(2, 128), torch.randn(128, 2)
    tensors = {f"{module}.lora_A.weight": down, f"{module}.lora_B.weight": up}
    lora = adapter(tmp_path / "lora", tensors)
    parts = (MergePart(checkpoint=pair[0], weight=0.5, adapter=lora), MergePart(checkpoint=pair[1], weight=0.5))
    out = run(Config(parts=parts, out=tmp_path / "out"))
    first, second, found = (load_file(folder / SINGLE) for folder in (*pair, out))
    expected = 0.5 * (first[QUERY].float() + 4 * up @ down) + 0.5 * second[QUERY].float()
    assert torch.allclose(found[QUERY].float(), expected, rtol=0.01, atol=0.01)
    other = "model.layers.0.self_attn.k_proj.weight"
    assert torch.equal(found[other], (0.5 * first[other].float() + 0.5 * second[other].float()).bfloat16())


def test_adapters_that_are_something_else_are_refused(pair: tuple[Path, Path], tmp_path: Path) -> None:
    module = "base_model.model.model.language_model.layers.0.self_attn.q_proj"
    half = {f"{module}.lora_A.weight": torch.randn(2, 128)}
    whole = {**half, f"{module}.lora_B.weight": torch.randn(128, 2)}
    wide = {**half, f"{module}.lora_B.weight": torch.randn(64, 2)}
    odd: list[tuple[Path, type[Exception], str]] = [
        (adapter(tmp_path / "dora", whole, use_dora=True), CheckpointUnusable, "use_dora"),
        (adapter(tmp_path / "kind", whole, peft_type="IA3"), CheckpointUnusable, "its type"),
        (adapter(tmp_path / "half", half), CheckpointMismatched, "lacks a factor"),
        (adapter(tmp_path / "wide", wide), CheckpointMismatched, r"is \(64, 128\)"),
        (adapter(tmp_path / "lost", {f"{module}x.lora_A.weight": down for down in half.values()}),
         CheckpointMismatched, "belongs to no weight"),
        (tmp_path / "nothing", CheckpointUnusable, "is no adapter"),
    ]  # fmt: skip
    for path, error, told in odd:
        with pytest.raises(error, match=told):
            run(Config(parts=(MergePart(checkpoint=pair[0], adapter=path),), out=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_the_command_merges(pair: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parts = json.dumps([{"checkpoint": str(path), "weight": 0.5} for path in pair])
    assert main(["merge", "--set", f"parts={parts}", "--set", f"out={tmp_path / 'out'}"]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'out'}\n"
