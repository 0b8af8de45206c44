"""Files that leave: exports as their consumers read them, and how fast they are written: `./pilothouse bench files`.

Text that looks like a consumer's placeholder or a tokenizer's token is written in every place a person, a screen or a
task can put it. The consumer's own loader and template then say what would be learned. The last line is one JSON
object.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from annotation_app.operations.running import running
from annotation_app.operations.stack import ROOT
from benchmarks.parts.figures import print_figures, say
from benchmarks.parts.files_exports import PART_STEPS, exports_measure


def main() -> int:
    argparse.ArgumentParser(prog="./pilothouse bench files").parse_args()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        data = Path(folder)
        with running(data / "storage", storage_only=True) as storage:
            environment = {**os.environ, **storage.environment, "PILOTHOUSE_DATA": str(data / "data")}
            return print_figures("files", measure(environment, data))


def measure(environment: dict[str, str], data: Path) -> dict[str, Any]:
    """Every figure, over a database of its own."""
    say(f"a database of {PART_STEPS} steps")
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], env=environment, cwd=ROOT, check=True)
    seed = [sys.executable, "-m", "benchmarks.parts.data_seed", str(PART_STEPS)]
    subprocess.run(seed, env=environment, cwd=ROOT, check=True, capture_output=True)
    return exports_measure(environment, data)


if __name__ == "__main__":
    sys.exit(main())
