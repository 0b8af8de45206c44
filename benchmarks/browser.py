"""The browser sandbox's figures on this machine, with BrowserGym and plain Playwright beside it:
`./pilothouse bench browser`.

One JSON object is the last line; docs/benchmarks.md says what its keys mean.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.stack import ROOT
from benchmarks.parts import browser_peers, browser_speed, browser_steps, browser_tasks
from benchmarks.parts.figures import print_figures, say
from vm_bridge.suites.miniwob.pages import pages_folder

KEEP = ROOT / ".data"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        scratch = Path(folder)
        say("acts, crashes and ways back")
        figures = asyncio.run(browser_steps.measure(scratch / "steps"))
        say("virtual time")
        figures |= asyncio.run(browser_speed.measure(scratch / "speed"))
        say("BrowserGym and Playwright")
        figures |= browser_peers.measure(KEEP, pages_folder())
        say("every task")
        figures |= asyncio.run(browser_tasks.measure(scratch / "tasks"))
    return print_figures("browser", figures)


if __name__ == "__main__":
    sys.exit(main())
