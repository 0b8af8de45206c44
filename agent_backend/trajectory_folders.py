"""Reading and writing folders of trajectories. Their trainer has a reader of its own, which this layer cannot know."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from pydantic import JsonValue, ValidationError

from agent_backend.errors import AgentError
from protocol.blobs import BlobRef
from protocol.trajectory.export_folders import (
    IMAGES,
    MANIFEST,
    TRAJECTORIES,
    UNFINISHED_SUFFIX,
    ExportCounts,
    ExportedFile,
    ExportManifest,
    count_images,
    image_path,
    trajectory_files,
    trajectory_images,
    trajectory_prompts,
)
from protocol.trajectory.proposals import strip_token_data
from protocol.trajectory.sealing import InvalidSeal, Seal, unseal_trajectory
from protocol.trajectory.tasks import Task
from protocol.trajectory.trajectories import Trajectory

PLAN_FILE = "plan.json"
SEALED_MARK = b'"sealed"'
"""What is in the line of a sealed task."""
"""What an unfinished folder is to hold."""


class InvalidFolder(AgentError):
    """A folder is unfinished, of another format, or not what its manifest says."""

    code = "folder_unusable"


def read_manifest(folder: Path) -> ExportManifest:
    """What a folder says it holds. Raises InvalidFolder."""
    if folder.name.endswith(UNFINISHED_SUFFIX) or not (folder / MANIFEST).is_file():
        raise InvalidFolder(f"{folder} is no finished folder of trajectories")
    try:
        return ExportManifest.model_validate_json((folder / MANIFEST).read_bytes())
    except ValidationError as error:
        raise InvalidFolder(f"{folder / MANIFEST} cannot be read: {error.errors()[0]['msg']}") from None


def count_infrastructure(folder: Path) -> int:
    """How many attempts for a folder were lost with their machines or verifiers. Raises InvalidFolder."""
    count = read_manifest(folder).filters.get("infrastructure", 0)
    return count if isinstance(count, int) else 0


def read_trajectories(folders: Iterable[Path]) -> Iterator[tuple[Path, Trajectory]]:
    """Every trajectory with its folder, in order. Raises InvalidFolder, also where one comes twice."""
    found_in: dict[str, Path] = {}
    for folder in folders:
        listed = {file.path: file.sha256 for file in read_manifest(folder).files}
        path = folder / TRAJECTORIES
        if not path.is_file() or listed.get(TRAJECTORIES) != file_sha256(path):
            raise InvalidFolder(f"{path} is not the file that the manifest lists")
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    trajectory = parse_line(line)
                except InvalidSeal as error:
                    raise InvalidFolder(f"{path}, line {number}: {error}") from None
                except ValidationError as error:
                    raise InvalidFolder(f"{path}, line {number}: {error.errors()[0]['msg']}") from None
                if trajectory.id in found_in:
                    raise InvalidFolder(f"{trajectory.id} is in {found_in[trajectory.id]} and again in {folder}")
                found_in[trajectory.id] = folder
                yield folder, trajectory


def parse_line(line: bytes) -> Trajectory:
    """A line of a folder as a trajectory, with the words of a sealed task. Raises ValidationError, InvalidSeal."""
    if SEALED_MARK not in line:
        return Trajectory.model_validate_json(line)
    try:
        value = unseal_trajectory(json.loads(line))
    except ValueError as error:
        raise InvalidSeal(f"it cannot be read: {error}") from None
    return Trajectory.model_validate_json(json.dumps(value))


def format_line(trajectory: Trajectory) -> bytes:
    """A trajectory as a line of a folder; the words of a sealed task are encrypted, and no tokens are kept."""
    seal = Seal.of(trajectory.task)
    if seal is None:
        return trajectory.model_dump_json().encode() + b"\n"
    proposals = tuple(tuple(map(strip_token_data, offered)) for offered in trajectory.proposals)  # tokens are text too
    whole = trajectory.model_copy(update={"proposals": proposals})
    value = seal.seal(whole.model_dump(mode="json"), trajectory.task)
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all."""
    unfinished = path.with_name(path.name + UNFINISHED_SUFFIX)
    unfinished.write_bytes(data)
    unfinished.replace(path)


def file_sha256(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def read_blob(folder: Path, ref: BlobRef) -> bytes | None:
    """A file of a finished folder; None where it is not there."""
    path = folder / image_path(ref)
    return path.read_bytes() if path.is_file() else None


class TrajectoryFolderWriter:
    """Writes a folder of trajectories under a temporary name, and renames it when it is complete.

    After a writer was killed, a new one with the same target and `filters` resumes after the last complete trajectory.
    Raises InvalidFolder if the target exists, or if the unfinished folder was begun with other filters.

    Args:
        on_existing: Called with each trajectory that the unfinished folder already holds.
    """

    def __init__(
        self,
        target: Path,
        filters: Mapping[str, JsonValue],
        *,
        on_existing: Callable[[Trajectory], None] = lambda _: None,
    ) -> None:
        if target.exists():
            raise InvalidFolder(f"{target} exists")
        self._target, self._filters = target, dict(filters)
        self._unfinished = target.with_name(target.name + UNFINISHED_SUFFIX)
        self._on_existing = on_existing
        self._files: dict[str, ExportedFile] = {}
        self._steps = 0
        self.tasks_by_id: dict[str, Task] = {}
        """The tasks of the trajectories in the folder, by trajectory id."""
        (self._unfinished / IMAGES).mkdir(parents=True, exist_ok=True)
        self._check_plan()
        self._resume()

    def add(self, trajectory: Trajectory, blob: Callable[[BlobRef], bytes | None]) -> None:
        """Add one trajectory and the files that it refers to. Files and prompts may be missing, pictures may not.
        Raises InvalidFolder."""
        for ref, needed in _referenced_blobs(trajectory):
            path = image_path(ref)
            if path in self._files:
                continue
            content = blob(ref)
            if content is None and needed:
                raise InvalidFolder(f"{path} of {trajectory.id} is missing")
            if content is None:
                continue
            if hashlib.sha256(content).hexdigest() != ref.sha256:
                raise InvalidFolder(f"{path} of {trajectory.id} was altered")
            (self._unfinished / path).write_bytes(content)
            self._files[path] = ExportedFile(path=path, sha256=ref.sha256, size=len(content))
        with (self._unfinished / TRAJECTORIES).open("ab") as lines:
            lines.write(format_line(trajectory))
        self._count(trajectory)

    def finish(self, *, at: datetime, pool: str | None = None, **more: JsonValue) -> ExportManifest:
        """Write the manifest and rename the folder to its target. `more` is stored with the filters."""
        path = self._unfinished / TRAJECTORIES
        listed = ExportedFile(path=TRAJECTORIES, sha256=file_sha256(path), size=path.stat().st_size)
        manifest = ExportManifest(
            created_at=at,
            filters=self._filters | more,
            pool=pool,
            counts=ExportCounts(
                trajectories=len(self.tasks_by_id), steps=self._steps, images=count_images(self._files)
            ),
            files=(listed, *(self._files[path] for path in sorted(self._files))),
        )
        (self._unfinished / MANIFEST).write_text(manifest.model_dump_json(indent=1))
        (self._unfinished / PLAN_FILE).unlink(missing_ok=True)
        self._unfinished.rename(self._target)
        return manifest

    def discard(self) -> None:
        """Delete the unfinished folder."""
        shutil.rmtree(self._unfinished, ignore_errors=True)

    def _check_plan(self) -> None:
        """Check that the unfinished folder was begun with the same filters."""
        plan, plan_text = self._unfinished / PLAN_FILE, json.dumps(self._filters, indent=1, sort_keys=True)
        if plan.is_file() and plan.read_text() != plan_text:
            raise InvalidFolder(f"{self._unfinished} is the beginning of another folder; remove it or write elsewhere")
        write_atomically(plan, plan_text.encode())

    def _resume(self) -> None:
        """Register the complete trajectories in the unfinished folder, and cut off everything after them."""
        whole = 0
        (self._unfinished / TRAJECTORIES).touch()
        with (self._unfinished / TRAJECTORIES).open("r+b") as lines:
            for line in lines:
                try:
                    trajectory = parse_line(line)
                except (ValidationError, InvalidSeal):
                    break
                if not line.endswith(b"\n") or not self._register_existing(trajectory):
                    break
                self._on_existing(trajectory)
                whole += len(line)
            lines.truncate(whole)

    def _register_existing(self, trajectory: Trajectory) -> bool:
        """Register a trajectory of the unfinished folder. Returns False if one of its pictures is missing."""
        for ref, needed in _referenced_blobs(trajectory):
            path = image_path(ref)
            if (self._unfinished / path).is_file():
                self._files[path] = ExportedFile(path=path, sha256=ref.sha256, size=ref.size)
            elif needed:
                return False
        self._count(trajectory)
        return True

    def _count(self, trajectory: Trajectory) -> None:
        self.tasks_by_id[trajectory.id] = trajectory.task
        self._steps += len(trajectory.steps)


def _referenced_blobs(trajectory: Trajectory) -> Iterator[tuple[BlobRef, bool]]:
    """The files that a trajectory refers to, and whether each is required. Omits the prompts of a sealed task."""
    for picture in trajectory_images(trajectory):
        yield picture, True
    prompts = () if Seal.of(trajectory.task) is not None else trajectory_prompts(trajectory)
    for ref in (*trajectory_files(trajectory), *prompts):
        yield ref, False
