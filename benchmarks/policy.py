"""The policy service's figures on this machine, both servers in the same run: `./pilothouse bench policy`.

A random checkpoint of ten million parameters stands in for a trained one. One JSON object is the last line.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.policy import overhead, parsing, server_comparison


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        print_progress("reading what models might say")
        figures = parsing.measure()
        print_progress("the runner's share")
        figures |= asyncio.run(overhead.measure())
        figures |= server_comparison.measure(Path(folder), ensure_trainer(Console()))
    return print_figures("policy", figures)


if __name__ == "__main__":
    sys.exit(main())
