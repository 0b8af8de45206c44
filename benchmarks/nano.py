"""What the nano policy can do, from pixels alone: `./pilothouse bench nano [--checkpoint FOLDER]`.

Without a checkpoint every figure is null. One JSON object is the last line.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import percentile, print_figures, print_progress
from benchmarks.parts.model_servers.launcher import trainer_server
from benchmarks.parts.nano import page_evaluation, trials

BUNDLED = ROOT / "trainer" / "nano" / "checkpoint"
SCREENS = 200
TASKS = (
    *("tasks", "tasks_above_0_8", "pointing_tasks_above_0_8", "multistep_tasks_above_0_8"),
    *("sites_and_games_above_0_8", "bundled_tasks_above_blind", "miniwob_tasks_above_0_8"),
    *("miniwob_pointing_above_0_8", "miniwob_multistep_above_0_8"),
    *("miniwob_tasks_above_random", "miniwob_tasks_above_blind"),
)
OWN = (
    *("unseen_word_accuracy", "unseen_word_random", "unseen_word_blind", "unseen_word_typed", "next_step_accuracy"),
    *("proposal_p50_ms", "checkpoint_mb"),
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench nano", description=__doc__)
    parser.add_argument("--checkpoint", type=Path, default=BUNDLED, help="default: the bundled policy")
    checkpoint: Path = parser.parse_args().checkpoint
    if not checkpoint.is_dir():
        parser.error(f"there is no policy in {checkpoint}")
    figures = dict.fromkeys((*TASKS, *OWN)) | measure_checkpoint(checkpoint, ensure_trainer(Console()))
    return print_figures("nano", figures)


def measure_checkpoint(checkpoint: Path, python: Path) -> dict[str, object]:
    """Everything of a checkpoint."""
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as name:
        folder = Path(name)
        print_progress("clicking and typing what no training named")
        drawn = _measure_screens(checkpoint, python, folder / "figures.json")
        unseen, typed, steps = (drawn[f"{name}_words_unseen"] for name in ("clicking", "typing", "stepping"))
        print_progress("three proposals through the default server")
        with trainer_server(checkpoint, folder) as server:
            latencies = asyncio.run(page_evaluation.proposals(folder / "form", server.url))
            print_progress("tasks on live pages")
            tasks = asyncio.run(page_evaluation.measure(folder / "browsers", server.url, trials.trials()))
    return {
        **tasks,
        "unseen_word_accuracy": unseen["success_rate"],
        "unseen_word_ci95": unseen["ci95"],
        "unseen_word_random": unseen["random_widget"],
        "unseen_word_blind": unseen["blind"],
        "unseen_word_typed": typed["success_rate"],
        "unseen_word_typed_ci95": typed["ci95"],
        "next_step_accuracy": steps["success_rate"],
        "next_step_ci95": steps["ci95"],
        "proposal_p50_ms": percentile(latencies, 0.5),
        "checkpoint_mb": round(sum(file.stat().st_size for file in _serving_files(checkpoint)) / 1e6, 1),
    }


def _measure_screens(checkpoint: Path, python: Path, out: Path) -> dict[str, Any]:
    told = {"checkpoint": checkpoint, "out": out, "screens": SCREENS, "threads": os.cpu_count() or 1}
    words = [word for name, value in told.items() for word in ("--set", f"{name}={value}")] + ["--set", "trained=false"]
    subprocess.run([python, "-m", "trainer.nano", "measuring", *words], check=True, cwd=ROOT)
    found: dict[str, Any] = json.loads(out.read_text())
    return found


def _serving_files(checkpoint: Path) -> list[Path]:
    """The files a server needs, without what training keeps beside them."""
    return [file for file in checkpoint.iterdir() if file.suffix in (".safetensors", ".json", ".jinja")]


if __name__ == "__main__":
    sys.exit(main())
