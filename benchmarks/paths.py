"""How long the way of an act and of a rollout is: `./pilothouse bench paths [--without-rollout]`.

One act goes through a whole platform with a real desktop, and one cycle of the toy flywheel runs; a tracer in every
process says which project files they enter. One JSON object is the last line; docs/research/benchmarks/act-path.md
says what its keys mean.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.paths import click, rollout


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench paths")
    parser.add_argument("--without-rollout", action="store_true", help="trace the act alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        print_progress("an act on a desktop")
        figures = click.measure(Path(folder) / "click")
        if not given.without_rollout:
            print_progress("a cycle of the toy flywheel")
            figures |= rollout.measure(Path(folder) / "rollout")
    return print_figures("paths", figures)


if __name__ == "__main__":
    sys.exit(main())
