"""Exports, imports, browsing and search over a seeded database: `./pilothouse bench data [--steps 1000000]`.

Each format is written over a part of the data, the canonical one over all of it too: its memory must not depend on how
much there is. Pictures are small and shared: what is measured is reading, telling and writing, not the disk's copying.
The last line is one JSON object. A figure that was not taken is null.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from annotation_app.operations.running import running
from annotation_app.operations.stack import ROOT
from benchmarks.parts.figures import machine, say
from vocabulary.formats.registry import FORMATS

STEPS = 1_000_000
PART_STEPS = 4_000
"""Of a format that is not written over everything."""
SECONDS = 900


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=STEPS)
    steps = parser.parse_args().steps
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        data = Path(folder)
        with running(data / "storage", storage_only=True) as storage:
            environment = {
                **os.environ,
                **storage.environment,
                "DJANGO_SETTINGS_MODULE": "annotation_app.settings.test",
                "PILOTHOUSE_DATA": str(data / "data"),
            }
            print(json.dumps({"benchmark": "data", **measure(environment, data, steps), "machine": machine()}))


def measure(environment: dict[str, str], data: Path, steps: int) -> dict[str, Any]:
    """Every figure, over a database of so many steps."""
    python = [sys.executable, "-m"]

    def done(*words: str) -> dict[str, Any]:
        run = subprocess.run(
            words, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        if run.returncode:
            raise RuntimeError(f"{' '.join(words)}: {run.stderr[-2_000:]}")
        found: dict[str, Any] = json.loads((run.stdout.splitlines() or ["{}"])[-1] or "{}")
        return found

    say("an empty database")
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=environment, cwd=ROOT, check=True)
    say(f"{steps} steps")
    begun = time.perf_counter()
    done(*python, "benchmarks.parts.data_seed", str(steps))
    seeded = round(time.perf_counter() - begun, 1)
    say(f"seeded in {seeded} s; the catalogue")
    entered = done(*python, "benchmarks.parts.data_measure", "enter")
    say("browsing and searching")
    found = done(*python, "benchmarks.parts.data_measure", "find")
    say("two hundred annotators claim tasks")
    queued = done(*python, "benchmarks.parts.data_queue")
    came_in: dict[str, Any] = {}
    rates: dict[str, float] = {}
    peaks: dict[str, float] = {}
    for name in FORMATS:
        say(f"{name} over {PART_STEPS} steps")
        target = data / "out"
        made = done(*python, "benchmarks.parts.data_measure", "export", name, str(target), str(PART_STEPS // 20))
        rates[name], peaks[name] = made["steps_per_s"], made["peak_mb"]
        if name == "canonical":
            say("the same rows come in again, under other ids")
            came_in = done(*python, "benchmarks.parts.data_measure", "import", str(target))
        shutil.rmtree(target)
    say("canonical over everything")
    whole = done(*python, "benchmarks.parts.data_measure", "export", "canonical", str(data / "out"), "0")
    return {
        "steps": steps,
        "seed_s": seeded,
        **entered,
        **found,
        "export_steps_per_s": rates,
        "export_whole_steps_per_s": whole["steps_per_s"],
        "export_peak_mb": max(*peaks.values(), whole["peak_mb"]),
        "export_whole_peak_mb": whole["peak_mb"],
        **queued,
        **came_in,
    }


if __name__ == "__main__":
    main()
