"""The trainer's metrics of a cycle's trainings, update by update."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean
from typing import get_args

from annotation_app.flywheel.schemas import Curve, Phase

TRAININGS = "train"
"""In a cycle's folder: a folder for each phase, with `log.jsonl` and `tensorboard/`."""
MAX_CURVE_POINTS = 500
"""Points of a curve, sampled evenly."""
LAST_SHARE = 0.1
"""The last share of updates, over which the final figures are averaged."""
Row = Mapping[str, float | None]


def read_curves(folder: Path, domains: Mapping[str, str]) -> Iterator[Curve]:
    """The curves of a cycle, from its folder. Specialists are those of the pools in `domains`, by pool number."""
    trainings = [(phase, key) for phase in get_args(Phase) for key in ("", *domains)]
    for phase, key in trainings:
        if rows := _rows(folder, f"{phase}-{key}" if key else phase):
            stride = -(-len(rows) // MAX_CURVE_POINTS)
            taken = rows[::stride]
            names = dict.fromkeys(name for row in taken for name in row if name != "update")
            figures = {name: tuple(row.get(name) for row in taken) for name in names}
            updates = tuple(int(row["update"] or 0) for row in taken)
            yield Curve(phase=phase, domain=domains.get(key, ""), updates=updates, figures=figures)


def final_figures(folder: Path) -> dict[str, dict[str, float]]:
    """By phase, the mean of each figure over the last updates of a cycle."""
    return {phase: figures for phase in get_args(Phase) if (figures := _final(_rows(folder, phase)))}


def _final(rows: list[Row]) -> dict[str, float]:
    last = rows[-max(1, round(len(rows) * LAST_SHARE)) :] if rows else []
    names = dict.fromkeys(name for row in last for name in row if name != "update")
    values = {name: [value for row in last if (value := row.get(name)) is not None] for name in names}
    return {name: fmean(each) for name, each in values.items() if each}


def _rows(folder: Path, name: str) -> list[Row]:
    """One row for each update. A line that is still being written is skipped. NaN, which Python writes, becomes
    None."""
    file = folder / TRAININGS / name / "log.jsonl"
    if not file.exists():
        return []
    lines = (line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n"))
    return [_with_throughput(json.loads(line, parse_constant=lambda _: None)) for line in lines]


def _with_throughput(row: dict[str, float | None]) -> Row:
    """The row with tokens and attempts per second, if it has the seconds and the respective number."""
    seconds = row.get("seconds")
    counted = {f"{name}_per_s": row.get(name) for name in ("tokens", "attempts")} if seconds else {}
    return row | {name: count / seconds for name, count in counted.items() if count is not None and seconds}
