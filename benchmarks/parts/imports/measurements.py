"""The import half of `bench files`: how fast rows come in, and what becomes of corrupt ones."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import print_progress

COPIES = 10
"""How many times an export comes in again, under other ids."""
SECONDS = 900


def measure_imports(environment: Mapping[str, str], exports: Path) -> dict[str, Any]:
    """Every figure of imports, over a seeded database and a folder of exports of it, which are changed."""
    folders = [str(exports / name) for name in ("canonical", "atif", "agentnet")]
    steps = {
        "corrupt rows come in": ("imports.doors", "rows", *folders),
        "corrupt files of tasks are uploaded": ("imports.doors", "uploads"),
        "episodes are opened": ("imports.doors", "sockets"),
        "good rows come in": ("data.measurements", "import", folders[0], str(COPIES)),
    }
    figures: dict[str, Any] = {}
    for what, (module, *words) in steps.items():
        print_progress(what)
        figures |= _run(module, words, environment)
    return figures


def check_given_cases(environment: Mapping[str, str], folder: Path) -> dict[str, bool]:
    """Which of the given cases hold, by their ids."""
    print_progress("given files")
    return _run("given_cases.files", [str(folder)], environment)


def _run(module: str, words: list[str], environment: Mapping[str, str]) -> dict[str, Any]:
    """What a program of the benchmarks prints as its last line. Raises RuntimeError."""
    command = [sys.executable, "-m", f"benchmarks.parts.{module}", *words]
    run = subprocess.run(
        command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if run.returncode:
        raise RuntimeError(f"{module} {words}: {run.stderr[-2_000:]}")
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found
