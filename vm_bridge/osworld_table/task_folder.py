"""A folder of OSWorld's task files, with the solutions that were recorded beside them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from protocol.benchmarks.forms import ORACLE, ORACLES_FOLDER, FormError, parse_oracle
from protocol.benchmarks.task_programs import PROGRAM_SUFFIX, program_task, read_task_program
from protocol.trajectory.tasks import Task

SIDE_FOLDERS = (ORACLES_FOLDER, "files", "settings")
"""Folders beside the task files that hold none."""


@dataclass(frozen=True)
class FoundTask:
    """One file: its task, or why it is none."""

    name: str
    applications: tuple[str, ...] = ()
    task: Task | None = None
    problem: str = ""


def read_task_folder(folder: Path) -> tuple[FoundTask, ...]:
    """Every file of a folder and of the folders below it, by name; those that are no task files say why."""
    paths = (path for pattern in ("*", "*/*") for path in folder.glob(pattern))
    wanted = (path for path in paths if path.suffix in (".json", ".py") and path.parent.name not in SIDE_FOLDERS)
    return tuple(found for path in sorted(wanted) for found in _read_file(folder, path))


def _read_file(folder: Path, path: Path) -> Iterator[FoundTask]:
    name = path.stem
    if path.suffix == PROGRAM_SUFFIX:
        yield from _read_program(folder, path)
        return
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        yield FoundTask(name, problem=f"it is no JSON: {error}")
        return
    if not isinstance(value, dict) or not {"id", "instruction"} <= value.keys():
        return  # a list of ids, settings: no task
    if not isinstance(value.get("evaluator"), dict):
        yield FoundTask(str(value["id"]), problem="form_unsupported: it has no evaluator object")
        return
    yield _read_task(folder, value)


def _read_program(folder: Path, path: Path) -> Iterator[FoundTask]:
    """A task program of OSWorld 2.0; nothing for other programs."""
    source = path.read_text("utf-8", "replace")
    try:
        program = read_task_program(source)
        if program is None:
            return
        recorded = folder / ORACLES_FOLDER / f"{Path(program.id).name}.jsonl"
        oracle = {ORACLE: parse_oracle(recorded.read_bytes())} if recorded.is_file() else {}
        task = program_task(source, path.stem, oracle)
    except FormError as error:
        yield FoundTask(path.stem, problem=str(error))
    else:
        yield FoundTask(program.id, program.applications, task)


def _read_task(folder: Path, value: dict[str, Any]) -> FoundTask:
    name, named = str(value["id"]), value.get("related_apps")
    applications = tuple(map(str, named)) if isinstance(named, list) else ()
    others = {key: each for key, each in value.items() if key not in ("id", "instruction")}
    parameters: dict[str, Any] = {"osworld": others}
    recorded = folder / ORACLES_FOLDER / f"{Path(name).name}.jsonl"
    try:
        if recorded.is_file():
            parameters[ORACLE] = parse_oracle(recorded.read_bytes())
        task = Task.model_validate({"id": name, "instruction": value["instruction"], "parameters": parameters})
    except FormError as error:
        return FoundTask(name, applications, problem=f"its recorded solution: {error}")
    except ValidationError as error:
        return FoundTask(name, applications, problem=str(error.errors(include_url=False)[0]["msg"]))
    return FoundTask(name, applications, task)
