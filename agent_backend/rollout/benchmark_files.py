"""Reads files and folders of published benchmarks as tasks. See docs/guides/researcher/benchmark-tasks.md for the
forms."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from protocol.benchmarks.forms import (
    BENCHMARK,
    ORACLE,
    ORACLES_FOLDER,
    SETTINGS_FILE,
    FolderSettings,
    FormError,
    Row,
    origin,
    parse_oracle,
    parse_settings,
)
from protocol.benchmarks.phone_tasks import is_phone_task, phone_task, phone_task_id
from protocol.benchmarks.questions import is_question, question_task
from protocol.benchmarks.repositories import is_repository_task, repository_task
from protocol.benchmarks.task_programs import PROGRAM_SUFFIX
from protocol.benchmarks.web_tasks import is_web_task, website_task
from protocol.harbor.folder_files import MANIFEST_NAME, FolderFiles, read_folder
from protocol.harbor.task_folders import HARBOR
from protocol.spreadsheets import TableFault, csv_cells, workbook_cells
from protocol.trajectory.tasks import Task

TABLES = (".csv", ".xlsx")
ROW_FILES = (*TABLES, ".json", ".jsonl", ".ndjson", PROGRAM_SUFFIX)
SINGLE_FILES = (".json", PROGRAM_SUFFIX)
"""Files that hold a single task; a folder may have many of them."""
PROGRAM_SIGN = b"def evaluate("
"""Marks a program as a task of OSWorld 2.0."""
ENVIRONMENTS_FOLDER = "environments"
"""Replaces the published image of a repository task: `environments/ID/Dockerfile` and the files it copies."""
SIDE_FOLDERS = (ENVIRONMENTS_FOLDER, ORACLES_FOLDER)
MAX_SIDE_FILE_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class BenchmarkReader:
    """Makes tasks from rows and from the files beside them."""

    folder: Path
    containers: bool = False
    """Whether a container engine makes the environments of repository tasks."""
    settings: FolderSettings = field(default_factory=FolderSettings)

    @classmethod
    def of(cls, folder: Path, *, containers: bool = False) -> "BenchmarkReader":
        """Make a reader with the folder's settings. Raises FormError."""
        data = _side_file(folder / SETTINGS_FILE)
        return cls(folder, containers, FolderSettings() if data is None else parse_settings(data))

    def task(self, row: Row, number: int) -> Task | None:
        """The task of a row, or None if the row belongs to no benchmark. `number` counts from 1. Raises FormError and
        FolderError."""
        if is_question(row):
            return question_task(row, number, self.settings)
        if is_web_task(row):
            return website_task(row, self.settings, self._oracle_acts(row["task_id"]))
        if is_phone_task(row):
            return phone_task(row, self.settings, self._oracle_acts(phone_task_id(row)))
        if is_repository_task(row):
            environment = self._environment(_name(row["instance_id"]))
            return repository_task(row, self.settings, environment, containers=self.containers)
        return None

    def harbor_task(self, task: Task) -> Task:
        """Add the folder's settings to a task of a Harbor folder."""
        given = task.parameters.get(HARBOR)
        last = (task.name or "").rpartition("/")[2]
        if not isinstance(given, dict) or not {task.name, last} & {*self.settings.keep_processes}:
            return task
        return task.model_copy(update={"parameters": {**task.parameters, HARBOR: {**given, "keep_processes": True}}})

    def task_file_parameters(self, identifier: object) -> dict[str, Any]:
        """Parameters added to a task file of OSWorld's form: its benchmark, and the solution recorded beside it.

        A file of OSWorld itself without a solution gets none. Raises FormError.
        """
        benchmark = self.settings.benchmark
        unsolved = {} if benchmark == "osworld" else {BENCHMARK: origin(benchmark, "none")}
        if not isinstance(identifier, str) or not (self.folder / ORACLES_FOLDER).is_dir():
            return unsolved
        acts = _side_file(self.folder / ORACLES_FOLDER / f"{_name(identifier)}.jsonl")
        return unsolved if acts is None else {ORACLE: parse_oracle(acts), BENCHMARK: origin(benchmark, "own")}

    def _oracle_acts(self, identifier: object) -> list[dict[str, Any]] | None:
        """The actions of a recorded solution; None if there is none. Raises FormError."""
        acts = _side_file(self.folder / ORACLES_FOLDER / f"{_name(identifier)}.jsonl")
        return None if acts is None else parse_oracle(acts)

    def _environment(self, identifier: str) -> FolderFiles | None:
        place = self.folder / ENVIRONMENTS_FOLDER / identifier
        return read_folder(place).files if place.is_dir() else None


def find_row_files(folder: Path) -> tuple[Path, ...]:
    """The files of rows in a folder: one file, or several single-task files. JSON files may lie in one subfolder per
    application, as OSWorld's do.

    Empty if the folder holds Harbor's task folders or no such file. Raises FormError.
    """
    if (folder / MANIFEST_NAME).exists() or any(folder.glob(f"*/{MANIFEST_NAME}")):
        return ()
    found = sorted(path for path in folder.iterdir() if path.suffix in ROW_FILES and _may_hold_tasks(path))
    if len(found) > 1 and any(path.suffix not in SINGLE_FILES for path in found):
        raise FormError(f"there are {len(found)} files of tasks in it: {', '.join(path.name for path in found[:5])}")
    if found:
        return tuple(found)
    below = (path for path in folder.glob("*/*.json") if path.parent.name not in SIDE_FOLDERS and path.is_file())
    return tuple(sorted(below))


def _may_hold_tasks(path: Path) -> bool:
    return path.is_file() and (path.suffix != PROGRAM_SUFFIX or PROGRAM_SIGN in path.read_bytes())


def table_rows(data: bytes, suffix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a CSV file or XLSX workbook, keyed by column heading, each with its position. Raises FormError."""
    cells = workbook_cells(data) if suffix == ".xlsx" else csv_cells(data, wanted="canary")
    heading: list[str] | None = None
    try:
        for number, row in cells:
            if heading is None:
                heading = [cell.strip() for cell in row]
            else:
                yield f"row {number}", dict(zip(heading, row, strict=False))
    except TableFault as fault:
        raise FormError(f"row {fault.row}: {fault}") from None


def _name(value: object) -> str:
    """An id as a file name. Raises FormError for a path that leads out of the folder."""
    if not isinstance(value, str) or not value or "/" in value or value.startswith("."):
        raise FormError("an id is no name")
    return value


def _side_file(path: Path) -> bytes | None:
    """The content of a small file; None if it is missing. Raises FormError."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FormError(f"{path.name} cannot be read: {error.strerror}") from None
    if len(data) > MAX_SIDE_FILE_BYTES:
        raise FormError(f"{path.name} has more than {MAX_SIDE_FILE_BYTES} bytes")
    return data
