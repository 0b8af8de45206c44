"""Whether the scores of task design are reproducible: the same inputs, in any order and process, give the same figures.

The applications are invented. `design_golden.json` has the figures of this version of the formulas; print them with
`python -m benchmarks.parts.factory.design` and compare before a change of a formula is kept.
"""

import csv
import io
import json
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from annotation_app.design.applications import Reading, ScoringRule, score_applications
from annotation_app.design.balance import EVEN, WantedShares, balance_of
from annotation_app.design.importance import Measures, importance_of
from annotation_app.design.reading_files import readings_read

FOLDER = Path(__file__).parent
INPUTS = FOLDER / "design_inputs.csv"
GOLDEN = FOLDER / "design_golden.json"
LATEST = date(2026, 6, 30)
SHUFFLES = 20
PROCESSES = 2
PROCESS_SECONDS = 120
MEASURES = tuple(
    (frequency, benefit, transfer) for frequency in (0, 5, 8) for benefit in (2, 10) for transfer in (0, 7)
)
COUNTS = ((22, 20, 20, 20, 18), (40, 10, 5, 1, 0), (0, 0, 3, 0, 0))
WANTED = (EVEN, WantedShares(levels=(30, 25, 20, 15, 10)))


def measure_design() -> dict[str, object]:
    """Count applications, and compare shuffled inputs, other processes and the golden file."""
    golden = json.loads(GOLDEN.read_text())
    shuffled = [design_figures(seed) for seed in range(SHUFFLES)]
    elsewhere = [_in_another_process(str(number)) for number in range(PROCESSES)]
    return {
        "design_applications": len(golden["applications"]),
        "design_scores_reproducible": all(figures == golden for figures in (*shuffled, *elsewhere)),
    }


def design_figures(seed: int) -> dict[str, list[str]]:
    """Scores, importances and balances of the inputs, their order shuffled by the seed, each in a line."""
    random_order = random.Random(seed)
    candidates = read_candidates(_shuffled_rows(INPUTS.read_text(), random_order))
    return {
        "applications": [
            f"{one.rank} {one.name}: {one.score} ({one.low} to {one.high})"
            for one in score_applications(candidates, ScoringRule())
        ],
        "importance": [
            f"{measures}: {importance_of(Measures(frequency=measures[0], benefit=measures[1], transfer=measures[2]))}"
            for measures in MEASURES
        ],
        "balance": [
            f"{counts} of {wanted.levels}: {_missing(counts, wanted)} missing" for counts in COUNTS for wanted in WANTED
        ],
    }


def read_candidates(data: str) -> dict[str, Sequence[Reading]]:
    """The readings of a file by application. Raises ValueError where the file has faults."""
    rows, faults = readings_read(data.encode(), latest=LATEST)
    if faults:
        raise ValueError(f"the inputs have faults: {faults}")
    found: dict[str, list[Reading]] = {}
    for row in rows:
        readings = found.setdefault(row.application, [])
        if row.reading:
            readings.append(row.reading)
    return dict(found)


def _missing(counts: Sequence[int], wanted: WantedShares) -> tuple[int, ...]:
    return tuple(one.missing for one in balance_of(dict(enumerate(counts, start=1)), wanted))


def _shuffled_rows(text: str, random_order: random.Random) -> str:
    heading, *rows = csv.reader(io.StringIO(text))
    random_order.shuffle(rows)
    shuffled = io.StringIO()
    csv.writer(shuffled).writerows([heading, *rows])
    return shuffled.getvalue()


def _in_another_process(hash_seed: str) -> object:
    run = subprocess.run(
        [sys.executable, "-m", __spec__.name if __spec__ else __name__],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=PROCESS_SECONDS,
        check=True,
    )
    return json.loads(run.stdout)


if __name__ == "__main__":
    print(json.dumps(design_figures(0), indent=1))
