"""The whole test run in a fresh clone: `./pilothouse bench tests [--keep FOLDER]`.

It clones the present commit, runs `./pilothouse test` there, then `./pilothouse check` without the caches of the first
run. The last line is one JSON object; docs/research/benchmarks/test-run.md says what its keys are.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.figures import print_figures, print_progress

CACHES = (".mypy_cache", ".ruff_cache", ".import_linter_cache", ".pytest_cache")
SUMMARY = Path("test-results", "summary.json")
TEST_TIMEOUT_SECONDS = 5400.0
CHECK_TIMEOUT_SECONDS = 900.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench tests")
    parser.add_argument("--keep", type=Path, help="the folder to clone into, kept with all reports and logs")
    keep = parser.parse_args().keep
    if keep is not None:
        figures = measure(keep)
    else:
        with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
            figures = measure(Path(folder) / "clone")
    return print_figures("tests", figures) or int(figures["failed"] > 0 or figures["check_failed"])


def measure(clone: Path) -> dict[str, Any]:
    """Every figure. Raises CalledProcessError where there is no commit to clone, FileNotFoundError where the run ended
    before its report."""
    print_progress("a fresh clone")
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    print_progress("./pilothouse test")
    _, total = _run(clone, "test", TEST_TIMEOUT_SECONDS)
    figures: dict[str, Any] = json.loads((clone / SUMMARY).read_text())
    for cache in CACHES:
        shutil.rmtree(clone / cache, ignore_errors=True)
    print_progress("./pilothouse check")
    status, check = _run(clone, "check", CHECK_TIMEOUT_SECONDS)
    return {**figures, "total_s": total, "check_s": check, "check_failed": status != 0}


def _run(clone: Path, command: str, timeout: float) -> tuple[int, float]:
    """The exit status of one command of the clone, and its seconds; what it says goes to standard error."""
    began = time.monotonic()
    done = subprocess.run([str(clone / "pilothouse"), command], stdout=sys.stderr, timeout=timeout, check=False)
    return done.returncode, round(time.monotonic() - began, 1)


if __name__ == "__main__":
    sys.exit(main())
