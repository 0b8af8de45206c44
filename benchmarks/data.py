"""Exports, imports, browsing, search and the queue over a seeded database: `./pilothouse bench data [--steps 1000000]`.

Every format is written over a part of the data, and one of each layout over ten times as much: memory must not depend
on how much there is. Pictures are small and shared: what is measured is reading, telling and writing, not the disk's
copying. The last line is one JSON object.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import temporary_platform
from benchmarks.parts.figures import print_figures, print_progress
from protocol.formats.registry import FORMATS

STEPS = 1_000_000
PART_STEPS = 4_000
"""That every format is written over."""
MORE_STEPS = 10 * PART_STEPS
"""That one format of each layout is written over too."""
SECONDS = 600


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench data")
    parser.add_argument("--steps", type=int, default=STEPS, help=f"in the database, at least {MORE_STEPS}")
    steps = max(MORE_STEPS, parser.parse_args().steps)
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        data = Path(folder)
        with temporary_platform(data / "storage", storage_only=True) as storage:
            environment = {**os.environ, **storage.environment, "PILOTHOUSE_DATA": str(data / "data")}
            return print_figures("data", measure(environment, data, steps))


def measure(environment: dict[str, str], data: Path, steps: int) -> dict[str, Any]:
    """Every figure, over a database of so many steps."""
    seconds: dict[str, float] = {}

    def done(what: str, module: str, *words: str) -> dict[str, Any]:
        print_progress(what)
        begun = time.perf_counter()
        run = subprocess.run(
            [sys.executable, "-m", f"benchmarks.parts.data.{module}", *words],
            env=environment, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
        if run.returncode:
            raise RuntimeError(f"{what}: {run.stderr[-2_000:]}")
        seconds[what] = round(time.perf_counter() - begun, 1)
        found: dict[str, Any] = json.loads((run.stdout.splitlines() or ["{}"])[-1] or "{}")
        return found

    print_progress("an empty database")
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=environment, cwd=ROOT, check=True)
    done(f"{steps} steps", "seed", str(steps))
    return {
        "steps": steps,
        **done("browsing and searching", "measurements", "find"),
        **done("two hundred annotators claim tasks", "task_queue"),
        **_exports(done, data / "out"),
        "seconds": seconds,
    }


def _exports(done: Callable[..., dict[str, Any]], target: Path) -> dict[str, Any]:
    """Every format over a part, and one of each layout over more; what was written first comes in again."""
    layouts = {form.layout: name for name, form in reversed(FORMATS.items())}
    rates: dict[str, dict[int, float]] = {name: {} for name in FORMATS}
    peaks: dict[str, dict[int, float]] = {name: {} for name in FORMATS}
    came_in: dict[str, Any] = {}
    for name, steps in [(name, PART_STEPS) for name in FORMATS] + [(name, MORE_STEPS) for name in layouts.values()]:
        made = done(f"{name} over {steps} steps", "measurements", "export", name, str(target), str(steps))
        assert made["steps"] == steps, made
        rates[name][steps], peaks[name][steps] = made["steps_per_s"], made["peak_mb"]
        if not came_in:
            came_in = done("the same rows come in again, under other ids", "measurements", "import", str(target))
        shutil.rmtree(target)
    return {
        "export_steps_per_s": {name: found[max(found)] for name, found in rates.items()},
        "export_steps": {name: max(found) for name, found in rates.items()},
        "export_peak_mb": max(peak for found in peaks.values() for peak in found.values()),
        "export_peak_mb_by_steps": {name: found for name, found in peaks.items() if len(found) > 1},
        **came_in,
    }


if __name__ == "__main__":
    sys.exit(main())
