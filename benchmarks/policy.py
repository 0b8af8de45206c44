"""The policy service's figures on this machine, both servers in the same run: `./pilothouse bench policy`.

A random checkpoint of ten million parameters stands in for a trained one. One JSON object is the last line.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.trainer import ensure_trainer
from benchmarks.parts import policy_overhead, policy_parsing, policy_servers
from benchmarks.parts.figures import print_figures, say


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        say("reading what models might say")
        figures = policy_parsing.measure()
        say("the runner's share")
        figures |= asyncio.run(policy_overhead.measure())
        figures |= policy_servers.measure(Path(folder), ensure_trainer(Console()))
    return print_figures("policy", figures)


if __name__ == "__main__":
    sys.exit(main())
