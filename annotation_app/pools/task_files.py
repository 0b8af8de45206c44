"""Tasks from uploaded files: tables, JSON Lines, OSWorld's own, Harbor's folders, rows of published benchmarks; pure,
every fault with its row."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from typing import Any, Literal

from pydantic import ValidationError

from protocol.base import FrozenModel, find_json_error
from protocol.benchmarks.forms import FolderSettings, FormError
from protocol.benchmarks.questions import is_question
from protocol.benchmarks.repositories import is_repository_task, repository_task
from protocol.benchmarks.web_tasks import is_web_task, website_task
from protocol.harbor.dockerfile import CONTAINER_IMAGE
from protocol.harbor.errors import FolderError
from protocol.harbor.task_folders import read_task_archive
from protocol.spreadsheets import Cells, TableFault, csv_cells, workbook_cells
from protocol.trajectory.observations import Platform
from protocol.trajectory.tasks import Task

UploadFormat = Literal["csv", "xlsx", "jsonl", "osworld", "harbor"]

COLUMNS = ("id", "instruction", "suite", "name", "seed", "max_steps", "parameters", "network", "gold")
"""What a table may have; only the instruction must be there."""
MAX_ROW_LENGTH = 100_000
"""Characters of one task."""
MAX_ID_LENGTH = 200
MAX_FAULTS = 200
"""Most faults that are listed; a file with more is wrong as a whole."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_WHOLE = re.compile(r"([+-]?[0-9]{1,30})(?:\.0*)?")
"""A whole number; spreadsheets and pandas write 1 as 1.0 too."""
_FLAGS = {"true": True, "yes": True, "1": True, "1.0": True, "false": False, "no": False, "0": False, "0.0": False}
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
"""NUL in JSON, which a backslash before `u0000` is not."""


class RowFault(FrozenModel):
    """Why a row is no task; rows count from 1, the line of a heading included."""

    row: int
    reason: str
    code: Literal["invalid_row", "unknown_task", "unsupported_task"] = "invalid_row"
    """`unknown_task`: its suite or name is none that the bridge has. `unsupported_task`: no machine of the pool can
    judge it."""


class TaskFile(FrozenModel):
    """What is in a file; tasks are added only where there is no fault."""

    tasks: tuple[Task, ...]
    faults: tuple[RowFault, ...]
    rows: Mapping[str, int] = {}
    """Where in the file each task is, by its id."""
    gold: frozenset[str] = frozenset()
    """The ids of those that are to become gold."""


class _InvalidRow(ValueError):
    """A row is no task, and why; `line` is where in a JSON text."""

    def __init__(self, reason: str, line: int = 1) -> None:
        super().__init__(reason)
        self.line = line


def task_file_read(data: bytes, kind: UploadFormat, platform: Platform, image: str = "") -> TaskFile:
    """The tasks and the faults of a file for a pool of this platform and machine image."""
    tasks: list[Task] = []
    faults: list[RowFault] = []
    rows: dict[str, int] = {}
    gold: set[str] = set()
    readers: dict[UploadFormat, Callable[[bytes], Iterator[tuple[int, dict[str, Any] | _InvalidRow]]]] = {
        "csv": lambda data: _table_rows(csv_cells(data, wanted="instruction")),
        "xlsx": lambda data: _table_rows(workbook_cells(data)),
        "jsonl": partial(_benchmark_rows, containers=image == CONTAINER_IMAGE),
        "osworld": _osworld_rows,
        "harbor": partial(_harbor_rows, containers=image == CONTAINER_IMAGE),
    }
    for row, found in readers[kind](data):
        try:
            if isinstance(found, _InvalidRow):
                raise found
            wanted = found.pop("gold", False)
            if not isinstance(wanted, bool):
                raise _InvalidRow("gold: it is true or false")
            task = _task_of(found, platform)
            if task.id in rows:
                raise _InvalidRow(_duplicate_reason(task, rows[task.id], named="id" in found))
        except _InvalidRow as wrong:
            faults.append(RowFault(row=row, reason=str(wrong)))
            if len(faults) == MAX_FAULTS:
                break
        else:
            rows[task.id] = row
            tasks.append(task)
            if wanted:
                gold.add(task.id)
    if not tasks and not faults:
        faults.append(RowFault(row=1, reason="the file holds no task"))
    return TaskFile(tasks=tuple(tasks), faults=tuple(faults), rows=rows, gold=frozenset(gold))


def _duplicate_reason(task: Task, row: int, *, named: bool) -> str:
    if named:
        return f"the id {task.id} is in row {row} already"
    return f"it is the same task as row {row}; give it an id, or another seed or parameters"


def _task_of(fields: dict[str, Any], platform: Platform) -> Task:
    """Raises _Wrong."""
    if (fault := find_json_error(fields)) is not None:
        raise _InvalidRow(": ".join(filter(None, fault)))
    if fields.get("platform", platform) != platform:
        raise _InvalidRow(f"platform: this pool's is {platform}")
    text = json.dumps({"id": "", **fields, "platform": platform}, ensure_ascii=False)
    if len(text) > MAX_ROW_LENGTH:
        raise _InvalidRow(f"it has more than {MAX_ROW_LENGTH} characters")
    if _NUL.search(text):
        raise _InvalidRow("it holds a NUL character")
    try:
        task = Task.model_validate_json(text)
    except ValidationError as error:
        raise _InvalidRow(_validation_message(error)) from None
    if not task.instruction.strip():
        raise _InvalidRow("instruction: it is empty")
    if "id" not in fields:
        return task.model_copy(update={"id": f"upload-{_digest(task)}"})
    if not 1 <= len(task.id) <= MAX_ID_LENGTH:
        raise _InvalidRow(f"id: 1 to {MAX_ID_LENGTH} characters")
    return task


def _digest(task: Task) -> str:
    """What a task without an id is named after: its instruction, and its start state where it says one."""
    content = task.instruction
    if task.suite or task.name or task.seed or task.parameters:
        start = [task.instruction, task.suite, task.name, task.seed, task.parameters]
        content = json.dumps(start, ensure_ascii=False, sort_keys=True)
    return sha256(content.encode()).hexdigest()[:16]


def _validation_message(error: ValidationError) -> str:
    """What is wrong, field by field, without repeating the input."""
    found = error.errors(include_input=False, include_url=False)
    return "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found[:5])


def _json_rows(data: bytes) -> Iterator[tuple[int, dict[str, Any] | _InvalidRow]]:
    """JSON Lines with the number of each line; or one JSON value: a list of tasks, or a task over several lines."""
    lines = data.removeprefix(BYTE_ORDER_MARK).splitlines()
    first = next((line for line in lines if line.strip()), b"")
    if first.lstrip().startswith(b"[") or first.strip() == b"{":
        value = _json_value(data)
        if not isinstance(value, _InvalidRow):
            yield from _json_list(value)
            return
        if isinstance(_json_value(first), _InvalidRow):  # nor is its first line a line of JSON Lines
            yield value.line, value
            return
    for row, line in enumerate(lines, start=1):
        if line.strip():
            yield row, _json_object(line)


def _benchmark_rows(data: bytes, *, containers: bool) -> Iterator[tuple[int, dict[str, Any] | _InvalidRow]]:
    """JSON rows, in which those in the form of a published benchmark are tasks."""
    for row, found in _json_rows(data):
        yield row, found if isinstance(found, _InvalidRow) else _published_task(found, containers)


def _published_task(row: dict[str, Any], containers: bool) -> dict[str, Any] | _InvalidRow:
    """The task of a benchmark's row, or the row itself."""
    try:
        if is_question(row):
            return _InvalidRow("its words are sealed: such tasks are attempted by rollouts and evaluations alone")
        if is_web_task(row):
            task = website_task(row, FolderSettings())
        elif is_repository_task(row):
            task = repository_task(row, FolderSettings(), containers=containers)
        else:
            return row
    except (FormError, FolderError) as error:
        return _InvalidRow(str(error))
    return task.model_dump(mode="json", exclude_defaults=True) | {"platform": task.platform}


def _json_list(value: Any) -> Iterator[tuple[int, dict[str, Any] | _InvalidRow]]:
    """The tasks of a list, counted from 1; or the only one."""
    for row, each in enumerate(value if isinstance(value, list) else [value], start=1):
        yield row, each if isinstance(each, dict) else _InvalidRow("it is no JSON object")


def _json_object(data: bytes) -> dict[str, Any] | _InvalidRow:
    value = _json_value(data)
    return value if isinstance(value, dict | _InvalidRow) else _InvalidRow("it is no JSON object")


def _json_value(data: bytes) -> Any:
    """What the bytes say, or _Wrong with the line of the fault."""
    try:
        return json.loads(data.removeprefix(BYTE_ORDER_MARK).decode())
    except UnicodeDecodeError as error:
        return _InvalidRow("it is not UTF-8", data[: error.start].count(b"\n") + 1)
    except (ValueError, RecursionError) as error:
        return _InvalidRow(f"it is no JSON: {error}", getattr(error, "lineno", 1))


def _table_rows(table: Iterator[tuple[int, Cells]]) -> Iterator[tuple[int, dict[str, Any] | _InvalidRow]]:
    """The tasks of a table whose first row names the columns."""
    heading: list[str] | None = None
    try:
        for row, cells in table:
            if heading is not None:
                yield row, _table_task(heading, cells)
                continue
            heading = [cell.strip().lower() for cell in cells]
            if (wrong := _heading_fault(heading)) is not None:
                yield row, wrong
                return
    except TableFault as fault:
        yield fault.row, _InvalidRow(str(fault))


def _heading_fault(heading: list[str]) -> _InvalidRow | None:
    named = [name for name in heading if name]
    if "instruction" not in named:
        return _InvalidRow(
            "the heading names no column instruction; cells are separated by commas, semicolons, tabs or |"
        )
    if unknown := [name for name in named if name not in COLUMNS]:
        return _InvalidRow(f"unknown column {unknown[0][:100]!r}; there are {', '.join(COLUMNS)}")
    return _InvalidRow("a column is named twice") if len(set(named)) < len(named) else None


def _table_task(heading: list[str], cells: Cells) -> dict[str, Any] | _InvalidRow:
    """A row as a task: what a short row lacks is empty, and so must be what stands in no named column."""
    filled = [place for place, cell in enumerate(cells) if cell.strip()]
    if filled[-1] >= len(heading):
        return _InvalidRow(f"{filled[-1] + 1} cells where the heading has {len(heading)}")
    fields: dict[str, Any] = {}
    for place in filled:
        if not heading[place]:
            return _InvalidRow(f"cell {place + 1} is filled, and the heading does not name its column")
        fields[heading[place]] = cells[place]
    if "parameters" in fields:
        parameters = _json_object(fields["parameters"].encode(errors="surrogatepass"))
        if isinstance(parameters, _InvalidRow):
            return _InvalidRow(f"parameters: {parameters}")
        fields["parameters"] = parameters
    if "network" in fields:
        fields["network"] = fields["network"].split()
    return _typed_cells(fields)


def _typed_cells(fields: dict[str, Any]) -> dict[str, Any] | _InvalidRow:
    """The same with its flags and numbers as such."""
    if "gold" in fields:
        fields["gold"] = _FLAGS.get(fields["gold"].strip().lower(), fields["gold"])
    for name in ("seed", "max_steps"):
        if name in fields:
            whole = _WHOLE.fullmatch(fields[name].strip())
            if whole is None:
                return _InvalidRow(f"{name}: it is no whole number")
            fields[name] = int(whole[1])
    return fields


def _osworld_rows(data: bytes) -> Iterator[tuple[int, dict[str, Any] | _InvalidRow]]:
    """One task file of OSWorld, or a list of them. Its start state and its evaluator are kept with the task."""
    value = _json_value(data)
    if isinstance(value, _InvalidRow):
        yield value.line, value
        return
    for row, each in _json_list(value):
        if isinstance(each, _InvalidRow):
            yield row, each
        elif missing := [name for name in ("id", "instruction", "evaluator") if name not in each]:
            yield row, _InvalidRow(f"{missing[0]}: it is missing, as no task file of OSWorld lacks it")
        else:
            other_fields = {name: value for name, value in each.items() if name not in ("id", "instruction")}
            yield row, {"id": each["id"], "instruction": each["instruction"], "parameters": {"osworld": other_fields}}


def _harbor_rows(data: bytes, *, containers: bool) -> Iterator[tuple[int, dict[str, Any] | _InvalidRow]]:
    """The task folders of a zip archive, in order of their paths in it."""
    try:
        for row, (name, found) in enumerate(read_task_archive(data, containers=containers), start=1):
            if isinstance(found, FolderError):
                yield row, _InvalidRow(f"{name or 'the folder'}: {found.code}: {found}")
            else:
                yield row, found.model_dump(mode="json", exclude_defaults=True) | {"platform": found.platform}
    except FolderError as error:
        yield 1, _InvalidRow(f"{error.code}: {error}")
