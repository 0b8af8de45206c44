"""How models' replies are read, what providers' answers become, and what probes find: `./pilothouse bench models`.

One JSON object is the last line; docs/research/benchmarks/models.md says what its keys mean.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.models import probe, providers, replies


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    figures: dict[str, object] = dict(replies.measure())
    print_progress("providers")
    figures |= asyncio.run(providers.measure())
    print_progress("the probe")
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        figures |= probe.measure(Path(folder))
    return print_figures("models", figures)


if __name__ == "__main__":
    sys.exit(main())
