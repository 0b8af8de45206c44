"""A task folder as a `Task`: its settings checked, its files kept with it under `parameters["harbor"]`."""

import base64
import binascii
import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from protocol.base import FrozenModel
from protocol.harbor.dockerfile import BuildPlan, parse_dockerfile
from protocol.harbor.errors import FolderError
from protocol.harbor.folder_files import (
    MANIFEST_NAME,
    MAX_FOLDER_BYTES,
    FolderFiles,
    check_path,
    find_folders,
    read_archive,
    read_folder,
)
from protocol.trajectory.tasks import Task

HARBOR = "harbor"
"""The parameter of a task that came from a folder."""
KNOWN_VERSIONS = ((1, 0), (1, 4))
"""The oldest and the newest `schema_version` that is read."""
MAX_SECONDS = 600.0
"""Longest the tests, or the solution, may take."""
_TASK_FOLDERS = ("environment/", "tests/", "solution/")
_SETTINGS = {
    "task": {"name", "version", "description", "authors", "keywords"},
    "agent": {"timeout_sec", "network_mode", "allowed_hosts"},
    "verifier": {"timeout_sec", "env", "environment_mode", "network_mode"},
    "environment": {
        *("build_timeout_sec", "os", "cpus", "memory_mb", "storage_mb", "gpus", "gpu_types", "env", "workdir"),
        *("network_mode", "allowed_hosts"),
    },
    "solution": {"env"},
}
"""What is read of each table, or means nothing here; the rest is refused by name."""
_TOP = {*_SETTINGS, "schema_version", "version", "metadata"}


class HarborTask(FrozenModel):
    """What a machine needs of a task folder; travels as `parameters["harbor"]`."""

    name: str = Field(max_length=200)
    files: dict[str, str]
    """Text by path within the folder; those listed in `binary` are base64."""
    binary: tuple[str, ...] = ()
    agent_seconds: float = Field(default=MAX_SECONDS, gt=0, le=MAX_SECONDS)
    verifier_seconds: float = Field(default=MAX_SECONDS, gt=0, le=MAX_SECONDS)
    build_seconds: float = Field(default=MAX_SECONDS, gt=0, le=MAX_SECONDS)
    environment_env: dict[str, str] = {}
    verifier_env: dict[str, str] = {}
    solution_env: dict[str, str] = {}
    workdir: str | None = None

    def folder(self, name: str) -> dict[str, bytes]:
        """The files of a folder by their paths within it."""
        prefix = f"{name}/"
        return {path[len(prefix) :]: self._data(path) for path in self.files if path.startswith(prefix)}

    def build_plan(self) -> BuildPlan:
        """What its Dockerfile asks for. Raises FolderError."""
        context = frozenset(path for path in self.folder("environment") if path != "Dockerfile")
        plan = parse_dockerfile(self.files["environment/Dockerfile"], context)
        return plan.model_copy(update={"env": plan.env | self.environment_env, "workdir": self.workdir or plan.workdir})

    def _data(self, path: str) -> bytes:
        text = self.files[path]
        return base64.b64decode(text, validate=True) if path in self.binary else text.encode()


def parse_folder(files: FolderFiles, fallback_name: str = "task") -> Task:
    """The task of a folder. Raises FolderError."""
    for needed in (MANIFEST_NAME, "instruction.md", "environment/Dockerfile", "tests/test.sh"):
        if needed not in files:
            raise FolderError("harbor_missing", f"there is no {needed}")
    for name in files:
        if name.startswith("steps/") or name.rpartition("/")[2].startswith(("docker-compose", "compose.y")):
            raise FolderError("harbor_unsupported", f"no machine here does {name}")
    config = _read_config(files[MANIFEST_NAME])
    name = _text_setting(config, "task", "name", fallback_name)
    included = {path: data for path, data in files.items() if path.startswith(_TASK_FOLDERS)}
    texts, binary = _as_text(included)
    environment = config.get("environment", {})
    harbor = _validated(
        {
            "name": name,
            "files": texts,
            "binary": tuple(binary),
            "environment_env": environment.get("env", {}),
            "verifier_env": config.get("verifier", {}).get("env", {}),
            "solution_env": config.get("solution", {}).get("env", {}),
            "workdir": environment.get("workdir"),
            "agent_seconds": _seconds(config, "agent", "timeout_sec"),
            "verifier_seconds": _seconds(config, "verifier", "timeout_sec"),
            "build_seconds": _seconds(config, "environment", "build_timeout_sec"),
        }
    )
    plan = harbor.build_plan()
    instruction = _decoded(files["instruction.md"], "instruction.md").strip()
    metadata = config.get("metadata", {})
    fields = {
        "id": f"harbor/{name}",
        "instruction": instruction,
        "platform": plan.platform,
        "name": name,
        "network": _allowed_hosts(config),
        "parameters": {HARBOR: harbor.model_dump(mode="json", exclude_defaults=True)},
        "max_steps": metadata.get("max_steps", 30) if isinstance(metadata, dict) else 30,
    }
    try:
        return Task.model_validate(fields)
    except ValidationError as error:
        raise FolderError("harbor_invalid", _first_message(error)) from None


def harbor_task(task: Task | None) -> HarborTask | None:
    """What a machine needs of a task that came from a folder, checked anew; None for every other task.

    Raises FolderError.
    """
    given = None if task is None else task.parameters.get(HARBOR)
    if given is None:
        return None
    found = _validated(given)
    for path in found.files:
        check_path(path)
    for needed in ("environment/Dockerfile", "tests/test.sh"):
        if needed not in found.files:
            raise FolderError("harbor_missing", f"there is no {needed}")
    if sum(map(len, found.files.values())) > 2 * MAX_FOLDER_BYTES:
        raise FolderError("harbor_too_large", f"the folder has more than {MAX_FOLDER_BYTES} bytes")
    try:
        for folder in _TASK_FOLDERS:
            found.folder(folder.rstrip("/"))
    except binascii.Error as error:
        raise FolderError("harbor_invalid", f"a file is no base64: {error}") from None
    found.build_plan()
    return found


def read_task_folders(root: Path) -> Iterator[Task]:
    """The tasks of the folders at a path. Raises FolderError with the folder's name."""
    for folder in find_folders(root):
        try:
            yield parse_folder(read_folder(folder), folder.name)
        except FolderError as error:
            raise FolderError(error.code, f"{folder.name}: {error}") from None


def read_task_archive(data: bytes) -> Iterator[tuple[str, Task | FolderError]]:
    """The tasks of a zip archive of folders, each with its path in it, or what is wrong there. Raises FolderError."""
    for name, files in read_archive(data):
        try:
            if isinstance(files, FolderError):
                raise files
            yield name, parse_folder(files, name.rpartition("/")[2] or "task")
        except FolderError as error:
            yield name, error


def _read_config(data: bytes) -> dict[str, Any]:
    try:
        config = tomllib.loads(_decoded(data, MANIFEST_NAME))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FolderError("harbor_invalid", f"{MANIFEST_NAME}: {error}") from None
    _check_version(config.get("schema_version", config.get("version", "1.0")))
    for name, known in _SETTINGS.items():
        table = config.get(name, {})
        if not isinstance(table, dict):
            raise FolderError("harbor_invalid", f"{MANIFEST_NAME}: {name} is no table")
        _refuse(f"{name}." + key for key in sorted(table.keys() - known))
    _refuse(sorted(config.keys() - _TOP))
    _check_environment(config)
    return config


def _refuse(names: Iterator[str] | list[str]) -> None:
    for name in names:
        raise FolderError("harbor_unsupported", f"{MANIFEST_NAME}: no machine here does {name[:80]}")


def _check_version(given: object) -> None:
    """Versions are numbers with a dot, so 1.10 comes after 1.4."""
    match = re.fullmatch(r"([0-9]{1,4})\.([0-9]{1,4})", given) if isinstance(given, str) else None
    if match is None:
        raise FolderError("harbor_version", f"schema_version {given!r} is no version like 1.4")
    oldest, newest = KNOWN_VERSIONS
    if not oldest <= (int(match[1]), int(match[2])) <= newest:
        known = " to ".join(".".join(map(str, version)) for version in KNOWN_VERSIONS)
        raise FolderError("harbor_version", f"schema_version {given} is not known; {known} are")


def _check_environment(config: dict[str, Any]) -> None:
    """Values that ask for what our machines are not."""
    environment = config.get("environment", {})
    wanted = {
        "environment.os": environment.get("os", "linux") != "linux",
        "environment.gpus": environment.get("gpus", 0) != 0 or bool(environment.get("gpu_types")),
        "verifier.environment_mode": config.get("verifier", {}).get("environment_mode", "shared") != "shared",
    }
    for table in ("agent", "environment", "verifier"):
        mode = config.get(table, {}).get("network_mode", "no-network")
        wanted[f"{table}.network_mode {mode}"] = mode not in ("no-network", "allowlist")
    _refuse([name for name, refused in wanted.items() if refused])


def _allowed_hosts(config: dict[str, Any]) -> object:
    environment = config.get("environment", {})
    return environment.get("allowed_hosts", ()) if environment.get("network_mode") == "allowlist" else ()


def _text_setting(config: dict[str, Any], table: str, key: str, default: str) -> str:
    value = config.get(table, {}).get(key, default)
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z0-9._-]{1,90}(/[A-Za-z0-9._-]{1,90})?", value) is None:
        raise FolderError("harbor_invalid", f"{MANIFEST_NAME}: {table}.{key} is no name like org/task")
    return value


def _seconds(config: dict[str, Any], table: str, key: str) -> float:
    """A time limit, at most ours."""
    value = config.get(table, {}).get(key, MAX_SECONDS)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or value <= 0:
        raise FolderError("harbor_invalid", f"{MANIFEST_NAME}: {table}.{key} is no number of seconds")
    return min(float(value), MAX_SECONDS)


def _as_text(files: FolderFiles) -> tuple[dict[str, str], list[str]]:
    """Every file as text, and which of them are base64."""
    texts: dict[str, str] = {}
    binary: list[str] = []
    for path, data in sorted(files.items()):
        try:
            text = data.decode()
            if "\0" in text:
                raise ValueError
        except ValueError:
            text = base64.b64encode(data).decode()
            binary.append(path)
        texts[path] = text
    for path in ("environment/Dockerfile", "tests/test.sh", "solution/solve.sh"):
        if path in binary:
            raise FolderError("harbor_invalid", f"{path} is not UTF-8")
    return texts, binary


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FolderError("harbor_invalid", f"{name} is not UTF-8") from None


def _validated(given: object) -> HarborTask:
    try:
        return HarborTask.model_validate(given)
    except ValidationError as error:
        raise FolderError("harbor_invalid", _first_message(error)) from None


def _first_message(error: ValidationError) -> str:
    first = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
