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
from annotation_app.operations.stack import ROOT
from benchmarks.parts.consumers.environment import FOLDER, ensure_consumers
from benchmarks.parts.figures import say
from benchmarks.parts.files_hostile import HEIGHT, WIDTH
from vocabulary.actions import Action
from vocabulary.dialect import Parsed, Screen
from vocabulary.dialects import dialect_named
from vocabulary.formats.registry import FORMATS
from vocabulary.formats.special_words import own_words

CONSUMERS = {"llama_factory_sft": "LLaMA-Factory", "trl_sft": "TRL", "verl_sft": "verl"}
DIALECTS = ("ui_tars_1_5", "json_calls", "opencua")
PART_STEPS = 4_000
"""That every format is written over."""
PARTS = Path(__file__).parent / "consumers"
SCREEN = Screen(width=WIDTH, height=HEIGHT)
ACTION: TypeAdapter[Action] = TypeAdapter(Action)


def exports_measure(environment: Mapping[str, str], data: Path) -> dict[str, Any]:
    """Every figure of exports, over a database that is seeded with `PART_STEPS` or more."""
    return {**consumers_measure(environment, data), **speed_measure(environment, data / "out")}


def consumers_measure(environment: Mapping[str, str], data: Path) -> dict[str, Any]:
    """How many hostile rows each consumer learns exactly."""
    python, processor = ensure_consumers(Console()), data / "processor"
    processor_write(python, processor)
    found = {}
    for name, consumer in CONSUMERS.items():
        for dialect in DIALECTS:
            say(f"{consumer} learns hostile rows in {dialect}")
            found[name, dialect] = hostile_measure(python, processor, name, dialect, environment, data)
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
class Learned:
    """Of hostile rows: how many there are, how many are written, and of those how many are read and learned exactly."""

    rows: int
    written: int
    read: int
    exact: int
    left_out: Mapping[str, int]


def processor_write(python: Path, folder: Path) -> None:
    """The processor of the model that learns."""
    _run([str(python), str(PARTS / "processor.py"), str(folder)], _quiet(folder.parent))


def hostile_measure(
    python: Path, processor: Path, name: str, dialect: str, environment: Mapping[str, str], data: Path
) -> Learned:
    """What a consumer makes of hostile rows in a dialect; it reads none where it stops."""
    folder = data / f"{name}-{dialect}"
    _run([sys.executable, "-m", "benchmarks.parts.files_hostile", name, dialect, str(folder)], environment)
    truth = json.loads(folder.with_suffix(".truth.json").read_text())
    written = [row for row in truth if row["code"] is None]
    learned = folder.with_suffix(".learned.jsonl")
    command = [str(python), str(PARTS / "learned.py"), name, str(folder), str(processor), str(learned)]
    try:
        _run(command, _quiet(data))
    except RuntimeError as error:
        say(f"{name} stops: {str(error)[-600:]}")
        rows = []
    else:
        rows = [json.loads(line) for line in learned.read_text().splitlines()]
    exact = [_exact(row, told, dialect) for row, told in zip(rows, written, strict=False)]
    if wrong := [told["key"] for told, right in zip(written, exact, strict=False) if not right]:
        say(f"{name} does not learn exactly: {wrong[:10]}")
    codes = Counter(row["code"] for row in truth if row["code"] is not None)
    return Learned(len(truth), len(written), len(rows), sum(exact), codes)


def speed_measure(environment: Mapping[str, str], target: Path) -> dict[str, Any]:
    """How fast each format is written, and in how much memory. What was written is kept until the end: ext4 makes files
    ten times as slowly for some seconds after others were deleted."""
    rates, peaks = {}, {}
    for name in FORMATS:
        say(f"{name} over {PART_STEPS} steps")
        words = ("export", name, str(target / name), str(PART_STEPS))
        told = _run([sys.executable, "-m", "benchmarks.parts.data_measure", *words], environment)
        made = json.loads(told.splitlines()[-1])
        rates[name], peaks[name] = made["steps_per_s"], made["peak_mb"]
    return {"export_steps_per_s": rates, "export_peak_mb": max(peaks.values())}


def _exact(row: Mapping[str, Any], told: Mapping[str, Any], dialect: str) -> bool:
    """Whether what is learned is the thought and the action, as the dialect writes them or so that it reads them back,
    and holds no token of another's."""
    family = dialect_named(dialect)
    action: Action = ACTION.validate_python(told["action"])
    read = family.parse(row["text"], SCREEN)
    if not isinstance(read, Parsed) or read.action != action or set(row["tokens"]) - own_words(family):
        return False
    text, thought = str(row["text"]), str(told["thought"])
    return text == family.write(thought, action, SCREEN) or read.thought == thought.strip()


def _quiet(data: Path) -> dict[str, str]:
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
