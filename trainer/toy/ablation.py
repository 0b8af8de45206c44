"""What the parts of PPO are worth in the toy world: `python -m trainer.toy.ablation OUT`.

Each part is left out by itself, with several seeds and the same number of attempts. The same command resumes an
interrupted run: finished runs are only read.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from trainer.algorithms import grpo, ppo
from trainer.toy.rollouts import LightsSource
from trainer.toy.warm_start import create_warm_start

FULL: Mapping[str, Any] = {"alpha": 0.5, "value_updates": 4, "critic_learning_rate": 3e-3}
VARIANTS: Mapping[str, Mapping[str, Any] | None] = {
    "full": FULL,
    "no value pretraining": {**FULL, "value_updates": 0},
    "one λ for both (0.95)": {**FULL, "policy_lambda": 0.95, "critic_lambda": 0.95},
    "no length-adaptive λ (0.95)": {**FULL, "policy_lambda": 0.95},
    "no clip-higher (0.2)": {**FULL, "clip_high": 0.2},
    "GRPO, groups of 4": None,
}
LAST = 5
"""Updates at the end whose success counts as where a run has come to."""


def run_variant(out: Path, name: str, seed: int, updates: int, start: Path) -> dict[str, float]:
    """A run's figures; it is run, or gone on with, where it is not done."""
    folder = out / f"{list(VARIANTS).index(name)}-{seed}"
    base = {
        "checkpoint": start,
        "out": folder / "run",
        "inbox": folder / "inbox",
        "world": "lights",
        "updates": updates,
        "attempts": 32,
        "epochs": 2,
        "learning_rate": 3e-3,
        "warmup": 2,
        "vision": True,
        "tokens": 1024,
        "sequences": 4,
        "seed": seed,
    }
    known = folder / "figures.json"
    if not known.exists():
        began, more = time.process_time(), VARIANTS[name]
        if more is None:
            grpo.run(grpo.Config(**base, group=4), LightsSource())
        else:
            ppo.run(ppo.Config(**base, **more), LightsSource())
        success = [json.loads(line)["success"] for line in (folder / "run" / "log.jsonl").read_text().splitlines()]
        figures = {
            "last": statistics.mean(success[-LAST:]),
            "all": statistics.mean(success),
            "cpu_seconds": time.process_time() - began,
        }
        known.write_text(json.dumps(figures))
    found: dict[str, float] = json.loads(known.read_text())
    return found


def table(found: Mapping[str, list[dict[str, float]]]) -> str:
    """Mean and range over the seeds, a line a variant."""
    lines = ["| | runs | success at the end | over all updates | CPU seconds a run |", "|---|---|---|---|---|"]
    for name, runs in found.items():
        spread = [f"{statistics.mean(v):.2f} ({min(v):.2f} to {max(v):.2f})" for v in _columns(runs, "last", "all")]
        cost = statistics.mean(run["cpu_seconds"] for run in runs)
        lines.append(f"| {name} | {len(runs)} | {spread[0]} | {spread[1]} | {cost:.0f} |")
    return "\n".join(lines)


def _columns(runs: list[dict[str, float]], *names: str) -> list[list[float]]:
    return [[run[name] for run in runs] for name in names]


def main(arguments: list[str] | None = None) -> int:
    """Run what is not done yet, a seed of every variant after the other, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m trainer.toy.ablation", description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=24)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    options.out.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in VARIANTS}
    for seed in range(options.seeds):
        start = options.out / f"start-{seed}"
        if not start.exists():
            create_warm_start(start, seed=seed)
        for name in VARIANTS:
            found[name].append(run_variant(options.out, name, seed, options.updates, start))
            print(f"{name}, seed {seed}: {found[name][-1]}", file=sys.stderr, flush=True)
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
