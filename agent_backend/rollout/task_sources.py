"""Where the tasks of attempts come from: a bundled suite, a pool, a file, OSWorld's files, Harbor's folders, files of
published benchmarks."""

import hashlib
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from agent_backend.episode.unattended_secrets import check_task_secrets
from agent_backend.errors import AgentError
from agent_backend.rollout.benchmark_files import TABLES, BenchmarkReader, find_row_files, table_rows
from agent_backend.rollout.plan import RolloutPlan
from agent_backend.rollout.pool_tasks import is_pool, read_pool
from protocol.benchmarks.forms import FormError
from protocol.benchmarks.task_programs import PROGRAM_SUFFIX, program_task, read_task_program
from protocol.harbor.dockerfile import CONTAINER_IMAGE
from protocol.harbor.errors import FolderError
from protocol.harbor.task_folders import read_task_archive, read_task_folders
from protocol.trajectory.sealing import SEALED
from protocol.trajectory.tasks import Task, TaskVariant, task_kind
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import InvalidAction, UnknownTask

MAX_SOURCE_BYTES = 64 * 2**20
MAX_LEVELS = 20
"""Maximum levels to request when a plan wants all levels."""
OSWORLD_PARTS = ("id", "instruction", "evaluator")


class InvalidSource(AgentError):
    """A file or folder holds no tasks, or an invalid one. `code` may be the error code of a Harbor folder."""

    code = "invalid_source"

    def __init__(self, message: str, code: str = "invalid_source") -> None:
        super().__init__(message)
        self.code = code


class TaskSource(Protocol):
    """A source of tasks to attempt."""

    async def tasks(self, seed: int) -> tuple[Task, ...]:
        """Every task of the plan with this seed, once for each level.

        Raises InvalidSource, UnknownTask, InvalidAction, BridgeUnavailable.
        """
        ...


@dataclass(frozen=True, slots=True)
class SuiteSource:
    """The bundled tasks of a suite, made by the bridge."""

    plan: RolloutPlan
    bridge: BridgeClient

    async def tasks(self, seed: int) -> tuple[Task, ...]:
        """See `TaskSource`. A task that lacks a level is left out at that level."""
        plan, found = self.plan, list[Task]()
        for level in plan.levels or itertools.islice(itertools.count(1), MAX_LEVELS):
            variant = TaskVariant(seed=seed, level=level, language=plan.language, size=plan.size)
            try:
                found += await self.bridge.suite_tasks(plan.suite, variant)
            except InvalidAction:
                if plan.levels or level == 1:
                    raise
                break
        return tuple(found)


@dataclass(frozen=True, slots=True)
class StoredSource:
    """Tasks from a file, a folder or a pool. Attempts with different seeds are at the same task."""

    known: tuple[Task, ...]

    async def tasks(self, seed: int) -> tuple[Task, ...]:
        """See `TaskSource`."""
        return tuple(_with_seed(task, seed) for task in self.known)


def open_source(plan: RolloutPlan, bridge: BridgeClient) -> TaskSource:
    """The source of a plan's tasks. Raises InvalidSource, and also if the source changed since the plan was made."""
    if not plan.source:
        return SuiteSource(plan, bridge)
    known = read_source(plan.source, plan.image)
    if known.sha256 != plan.source_sha256:
        raise InvalidSource(f"{plan.source} was changed meanwhile")
    return StoredSource(known.tasks)


async def list_tasks(plan: RolloutPlan, bridge: BridgeClient) -> tuple[Task, ...]:
    """Every task of a plan, ordered by seed, so that the first attempts cover all tasks. Raises what `choose_tasks`
    raises."""
    source = open_source(plan, bridge)
    seeds = range(plan.first_seed, plan.first_seed + plan.seeds)
    return choose_tasks(plan, [task for seed in seeds for task in await source.tasks(seed)])


def choose_tasks(plan: RolloutPlan, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """The tasks of a source that a plan names, with the plan's step limit.

    Raises UnknownTask for a name or kind that is not among them, InvalidAction if no task is left, and SecretMissing if
    an MCP server of a task asks for a secret that is not set.
    """
    names, kinds = {task.name for task in tasks}, {task_kind(task) for task in tasks}
    where = plan.source or f"the suite {plan.suite}"
    missing = [name for name in plan.names if name not in names] + [kind for kind in plan.kinds if kind not in kinds]
    if missing:
        raise UnknownTask(f"{where} has no task {', '.join(missing)} in this form")
    chosen = tuple(
        task
        for task in tasks
        if (not plan.names or task.name in plan.names) and (not plan.kinds or task_kind(task) in plan.kinds)
    )
    if not chosen:
        raise InvalidAction(f"nothing of {where} was chosen")
    check_task_secrets(chosen)
    if plan.max_steps is None:
        return chosen
    return tuple(task.model_copy(update={"max_steps": plan.max_steps}) for task in chosen)


def _with_seed(task: Task, seed: int) -> Task:
    """The task with a seed added. Its name identifies the task for every seed.

    A bundled task keeps its own seed, because its instruction was made for that seed.
    """
    more: dict[str, Any] = {"name": task.name or task.id}
    if seed:
        more |= {"id": f"{task.id}-{seed}", "seed": task.seed + (seed if task.suite is None else 0)}
    return task.model_copy(update=more)


def check_publishable(tasks: Iterable[Task]) -> None:
    """Raise InvalidSource for sealed tasks, whose text may only be stored sealed. No pool and no trainer takes them."""
    sealed = next((task.id for task in tasks if SEALED in task.parameters), None)
    if sealed is not None:
        message = f"the words of {sealed} are sealed: such tasks are attempted by rollouts and evaluations alone"
        raise InvalidSource(message, "sealed_tasks")


def read_tasks(path: Path, image: str | None = None) -> tuple[Task, ...]:
    """Read tasks from a path.

    The path is a Harbor folder, a folder or zip archive of Harbor folders, a JSON Lines file, or a JSON file with one
    task, a list of tasks or a task of OSWorld. It may also be a benchmark's file or the folder that holds it.
    `image` is the image of the machines that the tasks are for. Raises InvalidSource.
    """
    containers = image == CONTAINER_IMAGE
    try:
        files = find_row_files(path) if path.is_dir() else (path,)
        reader = BenchmarkReader.of(path if path.is_dir() else path.parent, containers=containers)
        if not files:
            tasks = tuple(map(reader.harbor_task, read_task_folders(path, containers=containers)))
        elif path.suffix == ".zip":
            tasks = tuple(map(reader.harbor_task, _archived(_read_bytes(path), containers)))
        else:
            tasks = tuple(
                _task_of(file, place, value, number, reader)
                for file in files
                for number, place, value in _numbered(file)
            )
    except (FolderError, FormError) as error:
        raise InvalidSource(f"{path}: {error}", error.code) from None
    if not tasks:
        raise InvalidSource(f"{path} holds no task")
    seen: set[str] = set()
    for task in tasks:
        if task.id in seen:
            raise InvalidSource(f"{path}: the id {task.id} is there twice")
        seen.add(task.id)
    return tasks


@dataclass(frozen=True, slots=True)
class SourceTasks:
    """The content of a source."""

    tasks: tuple[Task, ...]
    sha256: str
    """Checksum of the file, or of the tasks of a folder or a pool."""
    image: str | None = None
    """The machine image that a pool sets."""


def read_source(source: str, image: str | None = None) -> SourceTasks:
    """The tasks of a file, a folder, or `pool:NAME`, for machines of an image. Raises InvalidSource and
    PoolUnavailable."""
    if is_pool(source):
        pool = read_pool(source)
        return SourceTasks(pool.items, tasks_checksum(pool.items), pool.image)
    path = Path(source)
    tasks = read_tasks(path, image)
    sha256 = tasks_checksum(tasks) if path.is_dir() else hashlib.sha256(_read_bytes(path)).hexdigest()
    return SourceTasks(tasks, sha256)


def tasks_checksum(tasks: Iterable[Task]) -> str:
    """The sha256 of tasks as lines of JSON."""
    whole = hashlib.sha256()
    for task in tasks:
        whole.update(task.model_dump_json().encode() + b"\n")
    return whole.hexdigest()


def _read_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise InvalidSource(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > MAX_SOURCE_BYTES:
        raise InvalidSource(f"{path} has more than {MAX_SOURCE_BYTES} bytes")
    return data


def _archived(data: bytes, containers: bool) -> Iterator[Task]:
    for name, found in read_task_archive(data, containers=containers):
        if isinstance(found, FolderError):
            raise FolderError(found.code, f"{name}: {found}")
        yield found


def _numbered(path: Path) -> Iterator[tuple[int, str, Any]]:
    """The rows of a file, each with its number from 1 and its position in the file."""
    rows = table_rows(_read_bytes(path), path.suffix) if path.suffix in TABLES else _values(path)
    yield from ((number, place, row) for number, (place, row) in enumerate(rows, 1))


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    """The JSON values of a file, each with its position: the line, or the index in a list. A program is one value, its
    text."""
    data = _read_bytes(path)
    if path.suffix == PROGRAM_SUFFIX:
        yield "the program", data.decode("utf-8", "replace")
        return
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if path.suffix in (".jsonl", ".ndjson"):
        places = ((f"line {number}", line) for number, line in enumerate(lines, 1) if line.strip())
        yield from ((place, _parsed(path, line, place)) for place, line in places)
        return
    value = _parsed(path, b"\n".join(lines), "line 1")
    tasks = value if isinstance(value, list) else [value]
    yield from ((f"task {number}", task) for number, task in enumerate(tasks, 1))


def _parsed(path: Path, data: bytes, place: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidSource(f"{path}, {place}: it is no JSON: {error}") from None


def _task_of(path: Path, place: str, value: Any, number: int, reader: BenchmarkReader) -> Task:
    """Parse a task in Pilothouse's, a benchmark's or OSWorld's form. An OSWorld task keeps its start state and
    evaluator as parameters. Raises InvalidSource."""
    if path.suffix == PROGRAM_SUFFIX:
        return _program(path, value, reader)
    if isinstance(value, dict):
        try:
            found = reader.task(value, number)
        except (FolderError, FormError) as error:
            raise InvalidSource(f"{path}, {place}: {error}", error.code) from None
        if found is not None:
            return found
    if isinstance(value, dict) and all(name in value for name in OSWORLD_PARTS):
        others = {name: each for name, each in value.items() if name not in ("id", "instruction")}
        parameters = {"osworld": others, **_task_file_parameters(path, place, value, reader)}
        value = {"id": value["id"], "instruction": value["instruction"], "parameters": parameters}
    try:
        return Task.model_validate_json(json.dumps(value))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise InvalidSource(f"{path}, {place}: {reason}") from None


def _program(path: Path, source: str, reader: BenchmarkReader) -> Task:
    """A task program of OSWorld 2.0. Raises InvalidSource."""
    try:
        read = read_task_program(source)
        task = None if read is None else program_task(source, path.stem, reader.task_file_parameters(read.id))
    except FormError as error:
        raise InvalidSource(f"{path}: {error}", error.code) from None
    if task is None:
        raise InvalidSource(f"{path}: it has no class with an id and an evaluate()")
    return task


def _task_file_parameters(path: Path, place: str, value: dict[str, Any], reader: BenchmarkReader) -> dict[str, Any]:
    try:
        return reader.task_file_parameters(value["id"])
    except FormError as error:
        raise InvalidSource(f"{path}, {place}: {error}", error.code) from None
