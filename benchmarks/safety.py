"""Attacks on a whole platform: `./pilothouse bench safety [--only PART ...] [--keep FOLDER]`.

Strangers, tokens, pages of other origins, people without a right and programs in machines try what they must not do;
known secrets are looked for where they must not be. One JSON object is the last line;
docs/research/benchmarks/safety.md says what its keys mean.
"""

import argparse
import contextlib
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.safety.audit import measure_audit
from benchmarks.parts.safety.stack import measure_stack

AUDIT = "audit"
PARTS = ("planting", "episode", "scopes", "origins", "escapes", "bodies", "flood", "roles", "methods", "secrets", AUDIT)


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench safety")
    parser.add_argument("--keep", type=Path, help="a folder for data and logs, which is left there")
    parser.add_argument("--only", nargs="+", default=[], choices=PARTS, help="parts that are measured")
    given = parser.parse_args()
    with contextlib.ExitStack() as exits:
        folder = given.keep or Path(exits.enter_context(tempfile.TemporaryDirectory(prefix="pilothouse-bench-")))
        folder.mkdir(parents=True, exist_ok=True)
        figures: dict[str, object] = {}
        if set(given.only) != {AUDIT}:
            figures |= measure_stack(folder, given.only)
        if AUDIT in (given.only or PARTS):
            print_progress(AUDIT)
            figures |= measure_audit(folder)
    return print_figures("safety", figures)


if __name__ == "__main__":
    os.environ.setdefault("PILOTHOUSE_WARM_POOL", "{}")
    sys.exit(main())
