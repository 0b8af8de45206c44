"""The browser sandbox's figures on this machine, with BrowserGym and plain Playwright beside it:
`./pilothouse bench browser`.

One JSON object is the last line; docs/research/benchmarks/browser-sandbox.md says what its keys mean.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.browser import peers, steps, tasks, time_scale
from benchmarks.parts.figures import print_figures, print_progress
from vm_bridge.suites.miniwob.pages import pages_folder

KEEP = ROOT / ".data"


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        scratch = Path(folder)
        print_progress("acts, crashes and ways back")
        figures = asyncio.run(steps.measure(scratch / "steps"))
        print_progress("virtual time")
        figures |= asyncio.run(time_scale.measure(scratch / "speed"))
        print_progress("BrowserGym and Playwright")
        figures |= peers.measure(KEEP, pages_folder())
        print_progress("every task")
        figures |= asyncio.run(tasks.measure(scratch / "tasks"))
    return print_figures("browser", figures)


if __name__ == "__main__":
    sys.exit(main())
