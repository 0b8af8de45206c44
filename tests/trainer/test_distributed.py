"""Two real processes that share a model learn what one would, and go on bit for bit where they were ended."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.trainer.examples import CLICK, TYPED, write_attempt_folder
from tests.trainer.programs import run_trainer
from tests.unit.protocol.examples import trajectory
from trainer.model.checkpoints import STATE, Checkpoint, load_checkpoint
from trainer.runtime.distributed import SHARES
from trainer.runtime.metrics import LOG


def run_settings(tmp_path: Path, checkpoint: Checkpoint, name: str, **more: object) -> dict[str, Any]:
    """Settings of a run over two documents without pictures and two steps with them."""
    docs, steps = tmp_path / "docs", tmp_path / "steps"
    if not docs.exists():
        docs.mkdir()
        for number in range(2):
            (docs / f"{number}.md").write_text(f"Document {number} says {'so ' * (number + 1)}much.")
        write_attempt_folder(steps, trajectory(CLICK, TYPED))
    return {
        "checkpoint": str(checkpoint.path),
        "out": str(tmp_path / name),
        "sources": {
            "web": {"kind": "documents", "paths": [str(docs)], "share": 1},
            "agent": {"kind": "trajectories", "paths": [str(steps)], "share": 1},
        },
        "updates": 4,
        "keep_every": 2,
        "sequences": 4,
        "tokens": 2048,
        "learning_rate": 1e-3,
        "warmup": 1,
        "vision": True,
        **more,
    }


def weights(folder: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = load_checkpoint(folder).model.state_dict()
    return found


def lines(out: Path) -> list[dict[str, float]]:
    return [{**json.loads(line), "seconds": 0} for line in (out / LOG).read_text().splitlines()]


def test_two_learn_what_one_learns_and_go_on_bit_for_bit(checkpoint: Checkpoint, tmp_path: Path) -> None:
    one, two = (run_settings(tmp_path, checkpoint, name) for name in ("one", "two"))
    alone, together = run_trainer("ct", one), run_trainer("ct", two, processes=2, torchrun=True)
    last = tmp_path / "two" / "update-000004"
    assert alone.returncode == 0, alone.stderr
    assert together.stdout == f"{last}\n", together.stderr
    for first, second in zip(lines(tmp_path / "one"), lines(tmp_path / "two"), strict=True):
        assert first.keys() == second.keys()
        assert second == pytest.approx(first, rel=1e-3, abs=1e-5), "the same figures from the same sequences"
    before, by_one, by_two = weights(checkpoint.path), weights(tmp_path / "one" / last.name), weights(last)
    moved = torch.cat([(by_one[name] - before[name]).flatten() for name in before])
    apart = torch.cat([(by_one[name] - by_two[name]).flatten() for name in before])
    assert apart.norm() < 1e-2 * moved.norm()
    assert any(not torch.equal(before[name], by_two[name]) for name in before if "visual" in name)
    assert len([*(last / SHARES).glob("*.distcp")]) == 2, "each process has kept its share of the optimiser"

    ended = tmp_path / "ended"
    shutil.copytree(tmp_path / "two", ended)
    shutil.rmtree(ended / last.name)
    again = run_trainer("ct", {**two, "out": str(ended)}, processes=2)
    assert again.stdout == f"{ended / last.name}\n", again.stderr
    by_ended = weights(ended / last.name)
    assert all(torch.equal(by_two[name], by_ended[name]) for name in by_two)
    assert lines(ended) == lines(tmp_path / "two")
    assert (ended / last.name / STATE).read_text() == (last / STATE).read_text()

    shutil.rmtree(ended / last.name)
    fewer = run_trainer("ct", {**two, "out": str(ended)})
    assert fewer.returncode == 0, fewer.stderr
    by_fewer = weights(ended / last.name)
    apart = torch.cat([(by_fewer[name] - by_two[name]).flatten() for name in before])
    assert apart.norm() < 1e-2 * moved.norm(), "one process goes on with the shares of two"


def test_what_cannot_be_shared_is_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    odd = run_trainer("ct", run_settings(tmp_path, checkpoint, "odd", sequences=3), processes=2)
    assert odd.returncode != 0
    assert "config_invalid: 3 sequences cannot be dealt out evenly to 2 processes" in odd.stderr
    assert not list((tmp_path / "odd").glob("update-*"))
    settings = {"checkpoint": str(checkpoint.path), "out": str(tmp_path / "ppo"), "inbox": str(tmp_path / "inbox")}
    alone = run_trainer("ppo", {**settings, "world": "lights"}, processes=2)
    assert "config_invalid: the world lights is played by one process" in alone.stderr
    assert not (tmp_path / "ppo").exists()
    merged = run_trainer(
        "merge", {"parts": [{"checkpoint": str(checkpoint.path)}], "out": str(tmp_path / "m")}, processes=2
    )
    assert "config_invalid: merge is done by one process" in merged.stderr
