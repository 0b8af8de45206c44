"""The desk's figures on this machine, with OSWorld's way measured beside it: `./pilothouse bench desk`.

Observations are JPEG quality 90, 4:4:4 (the peer's are PNG, as OSWorld takes them). One JSON object is the last line.
"""

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from annotation_app.operations.runtime.temporary_platform import temporary_platform
from benchmarks.parts.desktops import cold_starts, frontend_cases, osworld_peer, settle_detection
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.speculation import waits
from benchmarks.parts.streaming import annotator_page, claims, long_episode

KEEP = ROOT / ".data"


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        data = Path(folder)
        print_progress("keyboards of a takeover, and completion")
        figures = dict(frontend_cases.measure(data))
        print_progress("desktops from nothing")
        figures |= asyncio.run(cold_starts.measure(data / "host"))
        print_progress("programs that redraw late")
        figures |= asyncio.run(settle_detection.measure(data / "host"))
        print_progress("the first candidate done ahead")
        figures |= asyncio.run(waits.measure(data / "ahead"))
        print_progress("OSWorld's way")
        figures |= osworld_peer.measure(KEEP)
        print_progress("the desk in a browser")
        with temporary_platform(data / "platform") as platform:
            figures |= claims.measure(platform)
            figures |= annotator_page.measure(platform)
            figures |= long_episode.measure(platform)
    return print_figures("desk", figures)


if __name__ == "__main__":
    sys.exit(main())
