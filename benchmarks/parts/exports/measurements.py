"""The export half of `bench files`: hostile rows as their consumers learn them, and how fast each format is written."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation_app.operations.console import Console
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.exports.consumers.environment import FOLDER, ensure_consumers
from benchmarks.parts.exports.exactness import is_learned_exactly, is_read_exactly
from benchmarks.parts.exports.picture_sizes import measure_sizes
from benchmarks.parts.figures import floor_share, print_progress
from protocol.formats.registry import FORMATS

TRAINERS = {"llama_factory_sft": "LLaMA-Factory", "trl_sft": "TRL", "verl_sft": "verl"}
"""Which program learns from each format."""
READERS: Mapping[str, tuple[str, ...]] = {
    "datasets": (
        *("canonical", "atif", "agentnet", "llama_factory_sft", "trl_sft", "verl_sft", "verl_rl"),
        *("huggingface", "webdataset"),
    ),
    "webdataset": ("webdataset",),
    "Harbor": ("atif",),
}
"""Which formats each program reads whose rows are data."""
STREAMING = ("datasets",)
"""Those that read in two ways."""
DIALECTS = ("ui_tars_1_5", "json_calls", "opencua")
PART_STEPS = 4_000
"""That every format is written over."""
CONSUMERS_FOLDER = Path(__file__).parent / "consumers"


def measure_exports(environment: Mapping[str, str], data: Path) -> dict[str, Any]:
    """Every figure of exports, over a database that is seeded with `PART_STEPS` or more."""
    return {
        **measure_consumers(environment, data),
        **measure_sizes(lambda program, given, out: _run_in_consumers(program, given, out, data), data),
        **measure_speed(environment, data / "out"),
    }


def measure_consumers(environment: Mapping[str, str], data: Path) -> dict[str, Any]:
    """How many hostile rows each consumer reads or learns exactly."""
    python, processor = ensure_consumers(Console()), data / "processor"
    write_processor(python, processor)
    found: dict[str, list[ConsumerAccuracy]] = {consumer: [] for consumer in (*TRAINERS.values(), *READERS)}
    for name, consumer in TRAINERS.items():
        for dialect in DIALECTS:
            print_progress(f"{consumer} learns hostile rows in {dialect}")
            found[consumer].append(measure_hostile_rows(python, processor, name, dialect, environment, data))
    for consumer, names in READERS.items():
        for name in names:
            print_progress(f"{consumer} reads hostile rows of {name}")
            found[consumer] += measure_read_rows(python, consumer, name, environment, data)
    every = [one for several in found.values() for one in several]
    return {
        "consumers": [name for name, several in found.items() if all(one.read == one.written for one in several)],
        "hostile_rows": sum(one.rows for one in every),
        "consumer_rows_learned_exactly_share": floor_share(
            sum(one.exact for one in every), sum(one.written for one in every)
        ),
        "rows_left_out": dict(sum((Counter(one.left_out) for one in every), Counter())),
    }


@dataclass(frozen=True)
class ConsumerAccuracy:
    """Of hostile rows: how many there are, how many are written, and of those how many are read and learned exactly."""

    rows: int
    written: int
    read: int
    exact: int
    left_out: Mapping[str, int]


def write_processor(python: Path, folder: Path) -> None:
    """The processor of the model that learns."""
    _run([str(python), str(CONSUMERS_FOLDER / "write_processor.py"), str(folder)], _quiet_environment(folder.parent))


def measure_hostile_rows(
    python: Path, processor: Path, name: str, dialect: str, environment: Mapping[str, str], data: Path
) -> ConsumerAccuracy:
    """What a consumer makes of hostile rows in a dialect; it reads none where it stops."""
    folder = data / f"{name}-{dialect}"
    truth = _write_hostile_rows(name, dialect, folder, environment)
    program = [str(python), str(CONSUMERS_FOLDER / "load_export.py"), name, str(folder), str(processor)]
    rows = _read_rows(name, program, folder.with_suffix(".learned.jsonl"))
    return _accuracy(name, truth, rows, lambda row, told: is_learned_exactly(row, told, dialect))


def measure_read_rows(
    python: Path, consumer: str, name: str, environment: Mapping[str, str], data: Path
) -> list[ConsumerAccuracy]:
    """What a consumer reads of hostile rows, in each of its ways."""
    folder = data / f"{consumer}-{name}"
    truth = _write_hostile_rows(name, DIALECTS[0], folder, environment)
    found = []
    for way in (consumer, f"{consumer}, streaming") if consumer in STREAMING else (consumer,):
        program = [str(python), str(CONSUMERS_FOLDER / "read_export.py"), way, name, str(folder)]
        rows = _read_rows(way, program, folder.with_suffix(".read.jsonl"))
        found.append(
            _accuracy(f"{way} of {name}", truth, rows, lambda row, told: is_read_exactly(row, told, name, DIALECTS[0]))
        )
    return found


def _write_hostile_rows(name: str, dialect: str, folder: Path, environment: Mapping[str, str]) -> list[dict[str, Any]]:
    """Write an export; what is true of each row, those that are left out too."""
    _run([sys.executable, "-m", "benchmarks.parts.exports.hostile_rows", name, dialect, str(folder)], environment)
    truth: list[dict[str, Any]] = json.loads(Path(f"{folder}.truth.json").read_text())
    return truth


def _read_rows(consumer: str, program: list[str], out: Path) -> list[dict[str, Any]]:
    """What a consumer's program writes of each row; nothing where it stops."""
    try:
        _run([*program, str(out)], _quiet_environment(out.parent))
    except RuntimeError as error:
        print_progress(f"{consumer} stops: {str(error)[-600:]}")
        return []
    return [json.loads(line) for line in out.read_text().splitlines()]


def _accuracy(
    consumer: str,
    truth: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    is_exact: Callable[[Mapping[str, Any], Mapping[str, Any]], bool],
) -> ConsumerAccuracy:
    written = [row for row in truth if row["code"] is None]
    exact = [is_exact(row, told) for row, told in zip(rows, written, strict=False)]
    if wrong := [told["key"] for told, right in zip(written, exact, strict=False) if not right]:
        print_progress(f"{consumer} does not read exactly: {wrong[:10]}")
    codes = Counter(row["code"] for row in truth if row["code"] is not None)
    return ConsumerAccuracy(len(truth), len(written), len(rows), sum(exact), codes)


def measure_speed(environment: Mapping[str, str], target: Path) -> dict[str, Any]:
    """How fast each format is written, and in how much memory. What was written is kept until the end: ext4 makes files
    ten times as slowly for some seconds after others were deleted."""
    rates, peaks = {}, {}
    for name in FORMATS:
        print_progress(f"{name} over {PART_STEPS} steps")
        words = ("export", name, str(target / name), str(PART_STEPS))
        told = _run([sys.executable, "-m", "benchmarks.parts.data.measurements", *words], environment)
        made = json.loads(told.splitlines()[-1])
        rates[name], peaks[name] = made["steps_per_s"], made["peak_mb"]
    return {"export_steps_per_s": rates, "export_peak_mb": max(peaks.values())}


def _run_in_consumers(program: str, given: Path, out: Path, data: Path) -> None:
    python = ensure_consumers(Console())
    _run([str(python), str(CONSUMERS_FOLDER / program), str(given), str(out)], _quiet_environment(data))


def _quiet_environment(data: Path) -> dict[str, str]:
    return {
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(data / "huggingface"),
        "DISABLE_VERSION_CHECK": "1",
        "OMP_NUM_THREADS": "1",
        "HOME": str(data),
        "PATH": f"{FOLDER / 'bin'}:/usr/bin:/bin",
    }


def _run(command: list[str], environment: Mapping[str, str]) -> str:
    run = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    if run.returncode:
        raise RuntimeError(f"{command[-3:]}: {run.stderr[-2_000:]}")
    return run.stdout
