"""The bridge's figures on this machine, with its peers' methods beside it: `./pilothouse bench bridge`.

Leases and chaos are of simulated machines, everything else of real desktops. One JSON object is the last line;
docs/architecture/bridge.md says what its keys mean.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.desktops import measurements
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.leases import chaos, throughput
from benchmarks.parts.streaming import comparison

KEEP = ROOT / ".data"


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    figures: dict[str, object] = {}
    peers: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        scratch = Path(folder)
        print_progress("leases of thousands of simulated machines")
        figures |= throughput.measure(scratch)
        print_progress("managers and clients killed for a minute")
        figures |= chaos.measure(scratch)
    for what, part in (("desktops", measurements), ("streams", comparison)):
        print_progress(what)
        measured = part.measure(KEEP)
        peers |= measured.pop("peer")
        figures |= measured
    return print_figures("bridge", {**figures, "peer": peers})


if __name__ == "__main__":
    sys.exit(main())
