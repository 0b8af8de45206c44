"""What experiments with learning came to, from their kept records: `./pilothouse bench learning`.

`--cycle` times the first cycle of the demo's flywheel; without it its figures are null. `--judge` trains and measures a
judge again, in a folder of its own; it takes an hour of two cores. One JSON object is the last line.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.learning.demo_cycle import measure_demo_cycle
from benchmarks.parts.learning.judge_experiment import run_judge_experiment
from benchmarks.parts.learning.judge_records import RECORDS, judge_figures, read_records


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench learning", description=__doc__)
    parser.add_argument("--judge", type=Path, metavar="OUT", help="train and measure a judge again, in this folder")
    parser.add_argument("--cycle", action="store_true", help="time the first cycle of the demo's flywheel")
    options = parser.parse_args()
    python, again = ensure_trainer(Console()), options.judge
    records = RECORDS if again is None else run_judge_experiment(again, python)
    cycle: dict[str, object] = dict.fromkeys(("cycle_in_demo_s", "cycle_in_demo_proposes"))
    if options.cycle:
        print_progress("a cycle of the demo's flywheel")
        with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as name:
            cycle = measure_demo_cycle(Path(name))
    return print_figures("learning", {**judge_figures(read_records(records)), **cycle})


if __name__ == "__main__":
    sys.exit(main())
