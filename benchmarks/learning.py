"""What experiments with learning came to, from their kept records: `./pilothouse bench learning [--judge OUT]`.

`--judge` trains and measures a judge again, in a folder of its own; it takes an hour of two cores. One JSON object is
the last line.
"""

import argparse
import sys
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_trainer
from benchmarks.parts.figures import print_figures
from benchmarks.parts.learning.judge_experiment import run_judge_experiment
from benchmarks.parts.learning.judge_records import RECORDS, judge_figures, read_records


def main() -> int:
    parser = argparse.ArgumentParser(prog="./pilothouse bench learning", description=__doc__)
    parser.add_argument("--judge", type=Path, metavar="OUT", help="train and measure a judge again, in this folder")
    again: Path | None = parser.parse_args().judge
    records = RECORDS if again is None else run_judge_experiment(again, ensure_trainer(Console()))
    return print_figures("learning", judge_figures(read_records(records)))


if __name__ == "__main__":
    sys.exit(main())
