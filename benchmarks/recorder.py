"""The recorder beside a scripted person: `./pilothouse bench recorder [--seed N] [--kills N] [--canaries N]`.

`--only-speech` and `--spoken-parts N` are for the part with voice. A real X server, inputs whose times are known,
windows that must not be recorded, a recorder that is killed, an upload that breaks off, somebody who thinks aloud. One
JSON object is the last line; docs/research/benchmarks/recorder.md says what its keys mean.
"""

import argparse
import contextlib
import os
import random
import sys
import tempfile
from pathlib import Path

from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.recorder import measurements
from benchmarks.parts.recorder.desktop import Desktop, environment_of
from benchmarks.parts.recorder.peer.measure import measure_peer
from benchmarks.parts.recorder.refinement import measure_refinement
from benchmarks.parts.recorder.speech import measure_speech
from benchmarks.parts.recorder.uploads import measure_upload
from benchmarks.parts.recorder.variants import measure_variants
from benchmarks.parts.recorder.x_server import x_server

KILLS, CANARIES, SPOKEN_PARTS, REFINED_THOUGHTS = 50, 100, 60, 150


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench recorder")
    parser.add_argument("--seed", type=int, default=1, help="of kills, canaries and breaks")
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--canaries", type=int, default=CANARIES)
    parser.add_argument("--spoken-parts", type=int, default=SPOKEN_PARTS, help="of each of two people who think aloud")
    parser.add_argument("--small-model", type=int, default=0, help="thoughts that a small language model refines too")
    parser.add_argument("--only-speech", action="store_true", help="measure voice, words and thoughts alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        figures: dict[str, object] = {}
        if not given.only_speech:
            figures |= measure(Path(folder), given.kills, given.canaries, random.Random(given.seed))
        figures |= measure_refinement(random.Random(given.seed), REFINED_THOUGHTS, given.small_model)
        figures |= measure_variants(random.Random(given.seed), REFINED_THOUGHTS)
        figures |= measure_speech(Path(folder) / "speech", given.seed, given.spoken_parts)
    return print_figures("recorder", figures)


def measure(folder: Path, kills: int, canaries: int, rng: random.Random) -> dict[str, object]:
    """Every figure."""
    figures: dict[str, object] = {}
    with x_server(folder) as display, contextlib.ExitStack() as exits:
        environment = environment_of(display, folder)
        os.environ["XAUTHORITY"] = environment["XAUTHORITY"]
        desktop = Desktop(display)
        exits.callback(desktop.close)
        print_progress("a thousand clicks and keys")
        figures |= measurements.measure_events(folder / "events", desktop, environment)
        print_progress("the same clicks and keys, recorded by the peer")
        figures |= measure_peer(folder / "peer", desktop, environment)
        print_progress("a screen that changes all the time")
        figures |= measurements.measure_load(folder / "load", desktop, environment)
        print_progress(f"{canaries} canaries")
        (folder / "canaries").mkdir()
        figures |= measurements.measure_canaries(folder / "canaries", desktop, environment, canaries, rng)
        print_progress(f"{kills} kills")
        (folder / "kills").mkdir()
        figures |= measurements.measure_kills(folder / "kills", desktop, environment, kills, rng)
    print_progress("an upload that breaks off")
    (session,) = (folder / "events" / "sessions").iterdir()
    return figures | measure_upload(folder / "platform", session, rng)


if __name__ == "__main__":
    sys.exit(main())
