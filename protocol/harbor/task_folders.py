"""A task folder as a `Task`: its settings checked, its files kept with it under `parameters["harbor"]`."""

import base64
import binascii
import math
import re
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from protocol.base import FrozenModel
from protocol.harbor.dockerfile import CONTAINER_IMAGE, BuildPlan, parse_dockerfile
from protocol.harbor.errors import FolderError
from protocol.harbor.folder_files import (
    MANIFEST_NAME,
    MAX_FOLDER_BYTES,
    FolderFiles,
    TaskFolder,
    check_path,
    find_folders,
    read_archive,
    read_folder,
)
from protocol.harbor.older_settings import with_present_names
from protocol.trajectory.tasks import Task

HARBOR = "harbor"
"""The parameter of a task that came from a folder."""
KNOWN_VERSIONS = ((1, 0), (1, 4))
"""The oldest and the newest `schema_version` that is read."""
MAX_SECONDS = 600.0
"""Longest the tests, or the solution, may take."""
DOCKERFILE = "environment/Dockerfile"
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
_CONTAINER_SETTINGS = {"environment.docker_image"}
"""What is read beside them where an engine makes the environment."""
_IMAGE_NAME = r"[a-z0-9][A-Za-z0-9._/:@-]{0,254}"
_TOP = {*_SETTINGS, "schema_version", "version", "metadata"}


class ContainerSettings(FrozenModel):
    """What a container engine must know of a folder beside its files."""

    docker_image: str | None = Field(default=None, pattern=f"^{_IMAGE_NAME}$")
    """A ready-made image in the place of the Dockerfile."""
    executable: tuple[str, ...] = ()
    """Paths of the files that may be executed."""
    network: bool = False
    """Whether the container wants the open network."""
    cpus: float | None = Field(default=None, gt=0, le=1024)
    memory_mb: int | None = Field(default=None, ge=16, le=2**24)


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
    keep_processes: bool = False
    """Whether the tests need what the attempt left running, such as a server."""
    container: ContainerSettings | None = None
    """Set where a container engine makes the environment; otherwise a machine of ours does."""

    def folder(self, name: str) -> dict[str, bytes]:
        """The files of a folder by their paths within it."""
        prefix = f"{name}/"
        return {path[len(prefix) :]: self._data(path) for path in self.files if path.startswith(prefix)}

    def build_plan(self) -> BuildPlan:
        """What its Dockerfile asks of a machine of ours. Raises FolderError."""
        if self.container is not None:
            message = f"its environment is made by a container engine: it needs the machine image {CONTAINER_IMAGE}"
            raise FolderError("harbor_unsupported", message)
        context = frozenset(path for path in self.folder("environment") if path != "Dockerfile")
        plan = parse_dockerfile(self.files[DOCKERFILE], context)
        return plan.model_copy(update={"env": plan.env | self.environment_env, "workdir": self.workdir or plan.workdir})

    def _data(self, path: str) -> bytes:
        text = self.files[path]
        return base64.b64decode(text, validate=True) if path in self.binary else text.encode()


def parse_folder(
    files: FolderFiles,
    fallback_name: str = "task",
    *,
    executable: Collection[str] = (),
    containers: bool = False,
) -> Task:
    """The task of a folder. Raises FolderError.

    With `containers` a container engine makes the environment, whatever its Dockerfile says; `executable` are the paths
    of files that may be executed.
    """
    for needed in (MANIFEST_NAME, "instruction.md", "tests/test.sh"):
        if needed not in files:
            raise FolderError("harbor_missing", f"there is no {needed}")
    for name in files:
        if name.startswith("steps/") or name.rpartition("/")[2].startswith(("docker-compose", "compose.y")):
            raise FolderError("harbor_unsupported", f"no machine here does {name}")
    if containers and "environment/.dockerignore" in files:
        raise FolderError("harbor_unsupported", "no machine here does environment/.dockerignore")
    config = _read_config(files[MANIFEST_NAME], containers=containers)
    container = _container_settings(config, executable) if containers else None
    if DOCKERFILE not in files and (container is None or container["docker_image"] is None):
        raise FolderError("harbor_missing", f"there is no {DOCKERFILE}")
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
            "keep_processes": _flag(config, "keep_processes"),
            "container": container,
        }
    )
    platform = "terminal" if containers else harbor.build_plan().platform
    instruction = _decoded(files["instruction.md"], "instruction.md").strip()
    metadata = config.get("metadata", {})
    fields = {
        "id": f"harbor/{name}",
        "instruction": instruction,
        "platform": platform,
        "name": name,
        "network": () if containers else _allowed_hosts(config),
        "parameters": {HARBOR: harbor.model_dump(mode="json", exclude_defaults=True)},
        "max_steps": metadata.get("max_steps", 30) if isinstance(metadata, dict) else 30,
    }
    try:
        return Task.model_validate(fields)
    except ValidationError as error:
        raise FolderError("harbor_invalid", _first_message(error)) from None


def harbor_task(task: Task | None) -> HarborTask | None:
    """The Harbor parameters of a task that came from a folder, validated again; None for every other task.

    Raises FolderError.
    """
    given = None if task is None else task.parameters.get(HARBOR)
    if given is None:
        return None
    found = _validated(given)
    for path in found.files:
        check_path(path)
    ready_made = found.container is not None and found.container.docker_image is not None
    for needed in ("tests/test.sh", *(() if ready_made else (DOCKERFILE,))):
        if needed not in found.files:
            raise FolderError("harbor_missing", f"there is no {needed}")
    if sum(map(len, found.files.values())) > 2 * MAX_FOLDER_BYTES:
        raise FolderError("harbor_too_large", f"the folder has more than {MAX_FOLDER_BYTES} bytes")
    try:
        for folder in _TASK_FOLDERS:
            found.folder(folder.rstrip("/"))
    except binascii.Error as error:
        raise FolderError("harbor_invalid", f"a file is no base64: {error}") from None
    if found.container is None:
        found.build_plan()
    return found


def read_task_folders(root: Path, *, containers: bool = False) -> Iterator[Task]:
    """The tasks of the folders at a path; see `parse_folder`. Raises FolderError with the folder's name."""
    for folder in find_folders(root):
        try:
            yield _task_of(read_folder(folder), folder.name, containers)
        except FolderError as error:
            raise FolderError(error.code, f"{folder.name}: {error}") from None


def read_task_archive(data: bytes, *, containers: bool = False) -> Iterator[tuple[str, Task | FolderError]]:
    """The tasks of a zip archive of folders, each with its path in it, or what is wrong there; see `parse_folder`.

    Raises FolderError.
    """
    for name, folder in read_archive(data):
        try:
            if isinstance(folder, FolderError):
                raise folder
            yield name, _task_of(folder, name.rpartition("/")[2] or "task", containers)
        except FolderError as error:
            yield name, error


def _task_of(folder: TaskFolder, name: str, containers: bool) -> Task:
    return parse_folder(folder.files, name, executable=folder.executable, containers=containers)


def _read_config(data: bytes, *, containers: bool) -> dict[str, Any]:
    try:
        config = tomllib.loads(_decoded(data, MANIFEST_NAME))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise FolderError("harbor_invalid", f"{MANIFEST_NAME}: {error}") from None
    config = with_present_names(config)
    _check_version(config.get("schema_version", config.get("version", "1.0")))
    for name, known in _SETTINGS.items():
        table = config.get(name, {})
        if not isinstance(table, dict):
            raise FolderError("harbor_invalid", f"{MANIFEST_NAME}: {name} is no table")
        unknown = {f"{name}.{key}" for key in table.keys() - known}
        _refuse(sorted(unknown - _CONTAINER_SETTINGS if containers else unknown))
    _refuse(sorted(config.keys() - _TOP))
    _check_environment(config, containers=containers)
    return config


def _refuse(names: list[str]) -> None:
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


def _check_environment(config: dict[str, Any], *, containers: bool) -> None:
    """Values that ask for what our machines are not."""
    environment = config.get("environment", {})
    present = "no-network"
    modes: tuple[str, ...] = ("no-network", "allowlist")
    if containers:  # a container keeps one network mode for its whole life
        present = environment.get("network_mode", present)
        modes = tuple(mode for mode in ("no-network", "public") if mode == present)
    wanted = {
        "environment.os": environment.get("os", "linux") != "linux",
        "environment.gpus": environment.get("gpus", 0) != 0 or bool(environment.get("gpu_types")),
        "verifier.environment_mode": config.get("verifier", {}).get("environment_mode", "shared") != "shared",
    }
    for table in ("agent", "environment", "verifier"):
        mode = config.get(table, {}).get("network_mode", present)
        wanted[f"{table}.network_mode {mode}"] = mode not in modes
    _refuse([name for name, refused in wanted.items() if refused])


def _container_settings(config: dict[str, Any], executable: Collection[str]) -> dict[str, Any]:
    """Of the table `environment`, as `ContainerSettings` checks them."""
    environment = config.get("environment", {})
    return {
        "docker_image": environment.get("docker_image"),
        "executable": tuple(sorted(path for path in executable if path.startswith(_TASK_FOLDERS))),
        "network": environment.get("network_mode") == "public",
        "cpus": environment.get("cpus"),
        "memory_mb": environment.get("memory_mb"),
    }


def _allowed_hosts(config: dict[str, Any]) -> object:
    environment = config.get("environment", {})
    return environment.get("allowed_hosts", ()) if environment.get("network_mode") == "allowlist" else ()


def _text_setting(config: dict[str, Any], table: str, key: str, default: str) -> str:
    value = config.get(table, {}).get(key, default)
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z0-9._-]{1,90}(/[A-Za-z0-9._-]{1,90})?", value) is None:
        raise FolderError("harbor_invalid", f"{MANIFEST_NAME}: {table}.{key} is no name like org/task")
    return value


def _flag(config: dict[str, Any], key: str) -> bool:
    """A setting of our own under `metadata`. Raises FolderError."""
    metadata = config.get("metadata", {})
    value = metadata.get(key, False) if isinstance(metadata, dict) else False
    if not isinstance(value, bool):
        raise FolderError("harbor_invalid", f"{MANIFEST_NAME}: metadata.{key} is neither true nor false")
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
    for path in (DOCKERFILE, "tests/test.sh", "solution/solve.sh"):
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
