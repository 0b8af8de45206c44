"""The export half of `bench files`: hostile rows as their consumers learn them, and how fast each format is written."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from annotation_app.operations.console import Console
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.exports.consumers.environment import FOLDER, ensure_consumers
from benchmarks.parts.exports.hostile_rows import HEIGHT, WIDTH
from benchmarks.parts.figures import print_progress
from protocol.actions.types import Action
from protocol.dialects.dialect import ParsedReply, ScreenSize
from protocol.dialects.families import get_dialect
from protocol.formats.registry import FORMATS
from protocol.formats.special_tokens import dialect_tokens

CONSUMERS = {"llama_factory_sft": "LLaMA-Factory", "trl_sft": "TRL", "verl_sft": "verl"}
DIALECTS = ("ui_tars_1_5", "json_calls", "opencua")
PART_STEPS = 4_000
"""That every format is written over."""
CONSUMERS_FOLDER = Path(__file__).parent / "consumers"
SCREEN = ScreenSize(width=WIDTH, height=HEIGHT)
ACTION: TypeAdapter[Action] = TypeAdapter(Action)


def measure_exports(environment: Mapping[str, str], data: Path) -> dict[str, Any]:
    """Every figure of exports, over a database that is seeded with `PART_STEPS` or more."""
    return {**measure_consumers(environment, data), **measure_speed(environment, data / "out")}


def measure_consumers(environment: Mapping[str, str], data: Path) -> dict[str, Any]:
    """How many hostile rows each consumer learns exactly."""
    python, processor = ensure_consumers(Console()), data / "processor"
    write_processor(python, processor)
    found = {}
    for name, consumer in CONSUMERS.items():
        for dialect in DIALECTS:
            print_progress(f"{consumer} learns hostile rows in {dialect}")
            found[name, dialect] = measure_hostile_rows(python, processor, name, dialect, environment, data)
    stopped = {name for (name, _dialect), one in found.items() if one.read != one.written}
    return {
        "consumers": [consumer for name, consumer in CONSUMERS.items() if name not in stopped],
        "hostile_rows": sum(one.rows for one in found.values()),
        "consumer_rows_learned_exactly_share": round(
            sum(one.exact for one in found.values()) / max(sum(one.written for one in found.values()), 1), 4
        ),
        "rows_left_out": dict(sum((Counter(one.left_out) for one in found.values()), Counter())),
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
    _run([sys.executable, "-m", "benchmarks.parts.exports.hostile_rows", name, dialect, str(folder)], environment)
    truth = json.loads(folder.with_suffix(".truth.json").read_text())
    written = [row for row in truth if row["code"] is None]
    learned = folder.with_suffix(".learned.jsonl")
    command = [str(python), str(CONSUMERS_FOLDER / "load_export.py"), name, str(folder), str(processor), str(learned)]
    try:
        _run(command, _quiet_environment(data))
    except RuntimeError as error:
        print_progress(f"{name} stops: {str(error)[-600:]}")
        rows = []
    else:
        rows = [json.loads(line) for line in learned.read_text().splitlines()]
    exact = [_is_exact(row, told, dialect) for row, told in zip(rows, written, strict=False)]
    if wrong := [told["key"] for told, right in zip(written, exact, strict=False) if not right]:
        print_progress(f"{name} does not learn exactly: {wrong[:10]}")
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


def _is_exact(row: Mapping[str, Any], told: Mapping[str, Any], dialect: str) -> bool:
    """Whether what is learned is the thought and the action, as the dialect writes them or so that it reads them back,
    and holds no token of another's."""
    family = get_dialect(dialect)
    action: Action = ACTION.validate_python(told["action"])
    read = family.parse(row["text"], SCREEN)
    if not isinstance(read, ParsedReply) or read.action != action or set(row["tokens"]) - dialect_tokens(family):
        return False
    text, thought = str(row["text"]), str(told["thought"])
    return text == family.write(thought, action, SCREEN) or read.thought == thought.strip()


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
