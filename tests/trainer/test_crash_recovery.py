"""A run that is killed at any moment and started again ends with the very weights of one that never was."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import torch

from trainer.model.checkpoints import Checkpoint, load_checkpoint
from trainer.runtime.metrics import LOG

ROOT = Path(__file__).resolve().parents[2]
UPDATES = 14
WITHIN = 240.0


def start(config: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "trainer", "ct", "--config", str(config)],
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def lines(out: Path) -> list[str]:
    return (out / LOG).read_text().splitlines() if (out / LOG).exists() else []


def killed_after(process: "subprocess.Popen[str]", out: Path, updates: int) -> None:
    """Wait until so many updates are in its log, then kill it."""
    deadline = time.monotonic() + WITHIN
    while len(lines(out)) < updates and process.poll() is None:
        assert time.monotonic() < deadline, f"no {updates} updates came"
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=WITHIN)


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
    whole, error = start(configs["whole"]).communicate(timeout=WITHIN)
    assert whole == f"{tmp_path / 'whole' / f'update-{UPDATES:06}'}\n", error
    for updates in (3, 8):
        killed_after(start(configs["killed"]), tmp_path / "killed", updates)
        assert not (tmp_path / "killed" / f"update-{UPDATES:06}").exists(), "it was killed too late to show anything"
    ended, error = start(configs["killed"]).communicate(timeout=WITHIN)
    assert ended == f"{tmp_path / 'killed' / f'update-{UPDATES:06}'}\n", error
    first, second = (load_checkpoint(Path(path.strip())).model.state_dict() for path in (whole, ended))
    assert all(torch.equal(first[name], second[name]) for name in first)
    logs = [[{**json.loads(line), "seconds": 0} for line in lines(tmp_path / name)] for name in ("whole", "killed")]
    assert logs[0] == logs[1]
