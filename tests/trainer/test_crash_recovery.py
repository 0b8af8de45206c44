"""A run that is killed at any moment and started again ends with the very weights of one that never was."""

import json
import time
from pathlib import Path

import torch

from tests.trainer.programs import Program
from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.runtime.metrics import LOG

UPDATES = 14
WITHIN = 240.0


def start(config: Path) -> Program:
    return Program(config.with_suffix(".said"), "trainer", "ct", "--config", str(config))


def lines(out: Path) -> list[str]:
    return (out / LOG).read_text().splitlines() if (out / LOG).exists() else []


def killed_after(process: Program, out: Path, updates: int) -> None:
    """Wait until so many updates are in its log, then kill it."""
    deadline = time.monotonic() + WITHIN
    while len(lines(out)) < updates and process.returncode is None:
        assert time.monotonic() < deadline, f"no {updates} updates came"
        time.sleep(0.01)
    process.kill()
    process.wait(WITHIN)


def test_killed_runs_end_as_whole_ones(checkpoint: Checkpoint, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(4):
        (docs / f"{number}.md").write_text(f"Document {number} says {'so ' * number}much.")
    configs = {}
    for name in ("whole", "killed"):
        configs[name] = tmp_path / f"{name}.json"
        told = {
            "checkpoint": str(checkpoint.path),
            "out": str(tmp_path / name),
            "sources": {"web": {"kind": "documents", "paths": [str(docs)], "share": 1}},
            "updates": UPDATES,
            "keep_every": 1,
            "sequences": 1,
            "tokens": 64,
            "learning_rate": 1e-3,
        }
        configs[name].write_text(json.dumps(told))
    whole = start(configs["whole"])
    assert whole.wait(WITHIN) == 0, whole.stderr
    assert whole.stdout == f"{tmp_path / 'whole' / f'update-{UPDATES:06}'}\n"
    for updates in (3, 8):
        killed_after(start(configs["killed"]), tmp_path / "killed", updates)
        assert not (tmp_path / "killed" / f"update-{UPDATES:06}").exists(), "it was killed too late to show anything"
    ended = start(configs["killed"])
    assert ended.wait(WITHIN) == 0, ended.stderr
    assert ended.stdout == f"{tmp_path / 'killed' / f'update-{UPDATES:06}'}\n"
    first, second = (load_checkpoint(Path(each.stdout.strip())).model.state_dict() for each in (whole, ended))
    assert all(torch.equal(first[name], second[name]) for name in first)
    logs = [[{**json.loads(line), "seconds": 0} for line in lines(tmp_path / name)] for name in ("whole", "killed")]
    assert logs[0] == logs[1]
