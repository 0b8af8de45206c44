"""Reads the records of the tracer, and starts and stops recording in a process."""

import contextlib
import json
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.paths.tracer.sitecustomize import ALWAYS_VARIABLE, FOLDER, OUT_VARIABLE
from benchmarks.parts.waiting import wait_for

TYPES_MODULE = re.compile(
    r"^protocol/(?!dialects/|formats/|messages/state)|/(errors|interfaces|models|schemas|types)\.py$|/settings/"
)
"""Files that mostly say what values look like; they are not counted."""
RECORD_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Record:
    """The files that a process entered, and how often it called the functions that are counted."""

    command: str
    files: frozenset[str]
    calls: Counter[str]


def counted(files: frozenset[str] | set[str]) -> list[str]:
    """The files that count, in order."""
    return sorted(file for file in files if not TYPES_MODULE.search(file))


@contextlib.contextmanager
def traced_environment(out: Path, *, always: bool = False) -> Iterator[None]:
    """Python processes that are started while the block runs, load the tracer and write to `out`."""
    before = dict(os.environ)
    out.mkdir(parents=True, exist_ok=True)
    os.environ[OUT_VARIABLE] = str(out)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (FOLDER, str(ROOT), before.get("PYTHONPATH", ""))))
    if always:
        os.environ[ALWAYS_VARIABLE] = "1"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def begin_record(pid: int) -> None:
    """Let a traced process begin a record."""
    os.kill(pid, signal.SIGUSR1)


def end_record(pid: int, folder: Path, pid_inside: int | None = None) -> Record:
    """The record of a traced process, which it writes to `folder`.

    Args:
        pid_inside: The process id that it has in its own namespace, where it has one.
    """
    file = folder / f"paths-{pid_inside or pid}.json"
    os.kill(pid, signal.SIGUSR2)
    wait_for(file.exists, RECORD_SECONDS, f"process {pid} wrote {file}")
    return read_record(file)


def read_record(file: Path) -> Record:
    """A record as the tracer wrote it."""
    told = json.loads(file.read_text())
    return Record(" ".join(told["command"]), frozenset(told["files"]), Counter(told["calls"]))
