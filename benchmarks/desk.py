"""The desk's figures on this machine, with OSWorld's way measured beside it: `./pilothouse bench desk`.

Observations are JPEG quality 90, 4:4:4 (the peer's are PNG, as OSWorld takes them). One JSON object is the last line.
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.running import running
from annotation_app.operations.stack import ROOT
from benchmarks.parts import browser, peer, sandbox, settle
from benchmarks.parts.figures import print_figures, say

KEEP = ROOT / ".data"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        data = Path(folder)
        say("desktops from nothing")
        figures = dict(asyncio.run(sandbox.measure(data / "host")))
        say("programs that redraw late")
        figures |= asyncio.run(settle.measure(data / "host"))
        say("OSWorld's way")
        figures |= peer.measure(KEEP)
        say("the desk in a browser")
        with running(data / "platform") as platform:
            figures |= browser.measure(platform)
    return print_figures("desk", figures)


if __name__ == "__main__":
    sys.exit(main())
