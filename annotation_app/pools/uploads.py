"""Tasks from uploaded files: comma separated, JSON Lines, OSWorld's own; pure, and every fault with its row."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Literal

from pydantic import ValidationError

from vocabulary.base import Frozen
from vocabulary.observations import Platform
from vocabulary.tasks import Task

UploadFormat = Literal["csv", "jsonl", "osworld"]

COLUMNS = ("id", "instruction", "suite", "name", "seed", "max_steps", "parameters", "network")
"""What a comma-separated file may have; only the instruction must be there."""
LONGEST_ROW = 100_000
"""Characters of one task."""
LONGEST_ID = 200
MOST_FAULTS = 200
"""Faults that are told; a file with more is wrong as a whole."""


class Fault(Frozen):
    """Why a row is no task; rows count from 1, the line of a heading included."""

    row: int
    reason: str
    code: Literal["invalid_row", "unsupported_task"] = "invalid_row"
    """`unsupported_task`: it is a task, which no machine of the pool can judge."""


class Upload(Frozen):
    """What is in a file; tasks are added only where there is no fault."""

    tasks: tuple[Task, ...]
    faults: tuple[Fault, ...]
    rows: Mapping[str, int] = {}
    """Where in the file each task is, by its id."""


class _Wrong(ValueError):
    """A row is no task, and why."""


def upload_read(data: bytes, kind: UploadFormat, platform: Platform) -> Upload:
    """The tasks and the faults of a file for a pool of this platform."""
    tasks: list[Task] = []
    faults: list[Fault] = []
    rows: dict[str, int] = {}
    readers: dict[UploadFormat, Callable[[bytes], Iterator[tuple[int, dict[str, Any] | _Wrong]]]] = {
        "csv": _csv_rows,
        "jsonl": _json_lines,
        "osworld": _osworld_rows,
    }
    for row, found in readers[kind](data):
        try:
            if isinstance(found, _Wrong):
                raise found
            task = _task_of(found, platform)
            if task.id in rows:
                raise _Wrong(f"the id {task.id} is in row {rows[task.id]} already")
        except _Wrong as wrong:
            faults.append(Fault(row=row, reason=str(wrong)))
            if len(faults) == MOST_FAULTS:
                break
        else:
            rows[task.id] = row
            tasks.append(task)
    if not tasks and not faults:
        faults.append(Fault(row=1, reason="the file holds no task"))
    return Upload(tasks=tuple(tasks), faults=tuple(faults), rows=rows)


def _task_of(given: dict[str, Any], platform: Platform) -> Task:
    """Raises _Wrong."""
    instruction = given.get("instruction")
    if "id" not in given and isinstance(instruction, str):
        given = {**given, "id": f"upload-{sha256(instruction.encode(errors='replace')).hexdigest()[:16]}"}
    if given.setdefault("platform", platform) != platform:
        raise _Wrong(f"platform: this pool's is {platform}")
    try:
        text = json.dumps(given, ensure_ascii=False)
        text.encode()
        task = Task.model_validate_json(text)
    except ValidationError as error:
        raise _Wrong(_said(error)) from None
    except UnicodeEncodeError:
        raise _Wrong("it holds half a character") from None
    if len(text) > LONGEST_ROW:
        raise _Wrong(f"it has more than {LONGEST_ROW} characters")
    if "\\u0000" in text or "\x00" in text:
        raise _Wrong("it holds a NUL character")
    if not 1 <= len(task.id) <= LONGEST_ID:
        raise _Wrong(f"id: 1 to {LONGEST_ID} characters")
    if not task.instruction.strip():
        raise _Wrong("instruction: it is empty")
    return task


def _said(error: ValidationError) -> str:
    """What is wrong, field by field, without repeating the input."""
    found = error.errors(include_input=False, include_url=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found[:5])


def _lines(data: bytes) -> Iterator[tuple[int, str | _Wrong]]:
    for row, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), start=1):
        try:
            yield row, line.decode()
        except UnicodeDecodeError:
            yield row, _Wrong("it is not UTF-8")


def _json_lines(data: bytes) -> Iterator[tuple[int, dict[str, Any] | _Wrong]]:
    for row, line in _lines(data):
        if isinstance(line, _Wrong):
            yield row, line
        elif line.strip():
            yield row, _json_object(line)


def _json_object(text: str) -> dict[str, Any] | _Wrong:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return _Wrong(f"it is no JSON: {error}")
    return value if isinstance(value, dict) else _Wrong("it is no JSON object")


def _csv_rows(data: bytes) -> Iterator[tuple[int, dict[str, Any] | _Wrong]]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        yield data[: error.start].count(b"\n") + 1, _Wrong("it is not UTF-8")
        return
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    heading: list[str] | None = None
    while True:
        row = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            yield row, _Wrong(str(error))
            return
        if cells is None:
            return
        if heading is None:
            heading = [cell.strip().lower() for cell in cells]
            if (wrong := _heading_fault(heading)) is not None:
                yield row, wrong
                return
        elif any(cell.strip() for cell in cells):
            yield row, _csv_task(heading, cells)


def _heading_fault(heading: list[str]) -> _Wrong | None:
    if "instruction" not in heading:
        return _Wrong("the heading names no column instruction")
    if unknown := [name for name in heading if name not in COLUMNS]:
        return _Wrong(f"unknown column {unknown[0]!r}; there are {', '.join(COLUMNS)}")
    return _Wrong("a column is named twice") if len(set(heading)) < len(heading) else None


def _csv_task(heading: list[str], cells: list[str]) -> dict[str, Any] | _Wrong:
    if len(cells) != len(heading):
        return _Wrong(f"{len(cells)} cells where the heading has {len(heading)}")
    given: dict[str, Any] = {name: cell for name, cell in zip(heading, cells, strict=True) if cell.strip()}
    if "parameters" in given:
        parameters = _json_object(given["parameters"])
        if isinstance(parameters, _Wrong):
            return _Wrong(f"parameters: {parameters}")
        given["parameters"] = parameters
    if "network" in given:
        given["network"] = given["network"].split()
    for name in ("seed", "max_steps"):
        if name in given:
            try:
                given[name] = int(given[name])
            except ValueError:
                return _Wrong(f"{name}: it is no whole number")
    return given


def _osworld_rows(data: bytes) -> Iterator[tuple[int, dict[str, Any] | _Wrong]]:
    """One task file of OSWorld, or a list of them. Its start state and its evaluator are kept with the task."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        yield getattr(error, "lineno", 1), _Wrong(f"it is no JSON: {error}")
        return
    for row, each in enumerate(value if isinstance(value, list) else [value], start=1):
        if not isinstance(each, dict):
            yield row, _Wrong("it is no JSON object")
        elif missing := [name for name in ("id", "instruction", "evaluator") if name not in each]:
            yield row, _Wrong(f"{missing[0]}: it is missing, as no task file of OSWorld lacks it")
        else:
            kept = {name: value for name, value in each.items() if name not in ("id", "instruction")}
            yield row, {"id": each["id"], "instruction": each["instruction"], "parameters": {"osworld": kept}}
