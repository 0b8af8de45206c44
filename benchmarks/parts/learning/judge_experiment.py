"""A judge of the bundled policy's size: its attempts at small pages, drawn, learned from by `trainer orm`, and asked
about. Ended at any moment and begun again it goes on."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.attempts import load_or_sample, parse_arguments
from benchmarks.parts.figures import print_progress
from benchmarks.parts.reinforcement.player import START

TASKS = (
    *("click-link", "click-option", "click-tab", "click-tab-2-easy", "click-tab-2-hard", "click-widget"),
    *("enter-time", "login-user", "navigate-tree", "unicode-test", "identify-shape", "circle-center"),
    *("grid-coordinate", "enter-text", "drills/links", "drills/menu", "drills/options", "drills/press"),
    *("drills/rename", "drills/stepper", "drills/chips", "drills/dialog", "drills/tabs", "drills/icons"),
)
"""Those that the bundled policy does now and then, by six attempts at each of 35; together half of them succeed."""
LEARNED: Mapping[str, tuple[int, int]] = {"learned-1": (91_000, 24), "learned-2": (92_000, 30)}
HELD: tuple[int, int] = (95_000, 16)
"""The first seed and how many: pages of each task."""
IMAGES = 2
SETTINGS: Mapping[str, Any] = {
    **{"updates": 240, "sequences": 4, "tokens": 1_100, "images": IMAGES, "learning_rate": 5e-4, "warmup": 10},
    **{"settle": 160, "held_out": 0.1, "keep_every": 30, "seed": 1},
}
"""Of `trainer orm`; its own tenth of held-out attempts is for choosing these."""
RECORDS = "judge_records.jsonl"


def run_judge_experiment(out: Path, python: Path) -> Path:
    """Do it in this folder; returns the file of its records. Raises PagesFailed, PolicyError, InvalidFolder,
    CalledProcessError."""
    out.mkdir(parents=True, exist_ok=True)
    learned = [draw_attempts(out / name, first, seeds) for name, (first, seeds) in LEARNED.items()]
    held, start, run = draw_attempts(out / "held", *HELD), out / "start", out / "run"
    if not start.exists():
        _trainer(python, "trainer.nano", "judge", START, start)
    print_progress("learning from them")
    config = out / "orm.json"
    told = {**SETTINGS, "checkpoint": str(start), "out": str(run), "folders": list(map(str, learned))}
    config.write_text(json.dumps(told))
    trained = _trainer(python, "trainer", "orm", "--config", config).splitlines()[-1]
    records = out / RECORDS
    if not records.exists():
        print_progress("asking about attempts that it did not learn from")
        folders = [word for folder in learned for word in ("--learned", folder)]
        _trainer(
            python, "benchmarks.parts.learning.judge_scores", held, "--start", start, "--trained", trained, *folders,
            "--images", str(IMAGES), "--out", records,
        )  # fmt: skip
    return records


def draw_attempts(folder: Path, first: int, seeds: int) -> Path:
    """The bundled policy's attempts at so many pages of each task, unless they are there."""
    if not folder.exists():
        print_progress(f"{seeds * len(TASKS)} attempts: {folder.name}")
        words = [word for task in TASKS for word in ("--task", task)]
        options = [str(folder), *words, "--first-seed", str(first), "--seeds", str(seeds), "--parallel", "4"]
        load_or_sample(parse_arguments(options))
    return folder


def _trainer(python: Path, module: str, *words: str | Path) -> str:
    """What a program of the trainer prints. Raises CalledProcessError."""
    one_thread = {"OMP_NUM_THREADS": "1"}  # several wait for each other where much else is running
    environment = {**os.environ, **one_thread, "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [python, "-m", module, *words], check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    ).stdout
