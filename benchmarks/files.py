"""Files in and out: exports as their consumers read them, corrupt files at every way in, and how fast both are:
`./pilothouse bench files`.

Text that looks like a consumer's placeholder or a tokenizer's token is written in every place a person, a screen or a
task can put it. The consumer's own loader and template then say what would be learned. Rows and files of tasks are
corrupted at random, from a seed. The last line is one JSON object.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import temporary_platform
from benchmarks.parts.exports.measurements import PART_STEPS, measure_exports
from benchmarks.parts.figures import floor_share, print_figures, print_progress
from benchmarks.parts.given_cases.files import PEERS_CASE
from benchmarks.parts.imports.measurements import check_given_cases, measure_imports


def main() -> int:
    argparse.ArgumentParser(prog="./pilothouse bench files").parse_args()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        data = Path(folder)
        with temporary_platform(data / "storage", storage_only=True) as storage:
            environment = {**os.environ, **storage.environment, "PILOTHOUSE_DATA": str(data / "data")}
            return print_figures("files", measure(environment, data))


def measure(environment: dict[str, str], data: Path) -> dict[str, Any]:
    """Every figure, over a database of its own."""
    print_progress(f"a database of {PART_STEPS} steps")
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=environment, cwd=ROOT, check=True)
    seed = [sys.executable, "-m", "benchmarks.parts.data.seed", str(PART_STEPS)]
    subprocess.run(seed, env=environment, cwd=ROOT, check=True, capture_output=True)
    exports = measure_exports(environment, data)
    holds = check_given_cases(environment, data / "given") | {
        PEERS_CASE: min(exports["resize_equal_share"].values()) == 1
    }
    if failed := [name for name, one in holds.items() if not one]:
        print_progress(f"given cases that do not hold: {failed}")
    return {
        "given_cases": len(holds),
        "given_cases_passed_share": floor_share(sum(holds.values()), len(holds)),
        **exports,
        **measure_imports(environment, data / "out"),
    }


if __name__ == "__main__":
    sys.exit(main())
