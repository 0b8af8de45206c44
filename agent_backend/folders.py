"""Reading and writing folders of trajectories. Their trainer has a reader of its own, which this layer cannot know."""

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from pydantic import JsonValue, ValidationError

from agent_backend.errors import AgentError
from vocabulary.blobs import BlobRef
from vocabulary.exports import (
    IMAGES,
    MANIFEST,
    TRAJECTORIES,
    UNFINISHED,
    Counts,
    ExportedFile,
    Manifest,
    files_of,
    image_path,
    images_in,
    pictures_of,
    prompts_of,
)
from vocabulary.tasks import Task
from vocabulary.trajectories import Trajectory

PLAN = "plan.json"
"""What an unfinished folder is to hold."""


class FolderUnusable(AgentError):
    """A folder is unfinished, of another format, or not what its manifest says."""

    code = "folder_unusable"


def manifest_read(folder: Path) -> Manifest:
    """What a folder says it holds. Raises FolderUnusable."""
    if folder.name.endswith(UNFINISHED) or not (folder / MANIFEST).is_file():
        raise FolderUnusable(f"{folder} is no finished folder of trajectories")
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except ValidationError as error:
        raise FolderUnusable(f"{folder / MANIFEST} cannot be read: {error.errors()[0]['msg']}") from None


def trajectories_read(folders: Iterable[Path]) -> Iterator[tuple[Path, Trajectory]]:
    """Every trajectory with its folder, in order. Raises FolderUnusable, also where one comes twice."""
    met: dict[str, Path] = {}
    for folder in folders:
        listed = {file.path: file.sha256 for file in manifest_read(folder).files}
        path = folder / TRAJECTORIES
        if not path.is_file() or listed.get(TRAJECTORIES) != sha256_of(path):
            raise FolderUnusable(f"{path} is not the file that the manifest lists")
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    trajectory = Trajectory.model_validate_json(line)
                except ValidationError as error:
                    raise FolderUnusable(f"{path}, line {number}: {error.errors()[0]['msg']}") from None
                if trajectory.id in met:
                    raise FolderUnusable(f"{trajectory.id} is in {met[trajectory.id]} and again in {folder}")
                met[trajectory.id] = folder
                yield folder, trajectory


def whole_write(path: Path, data: bytes) -> None:
    """Write a file that is there whole or not at all."""
    aside = path.with_name(path.name + UNFINISHED)
    aside.write_bytes(data)
    aside.replace(path)


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def blob_read(folder: Path, ref: BlobRef) -> bytes | None:
    """A file of a finished folder; None where it is not there."""
    path = folder / image_path(ref)
    return path.read_bytes() if path.is_file() else None


class FolderWriter:
    """A folder of trajectories on its way: written aside, and given its name when it is whole.

    A writer that was killed is followed by another with the same target and `filters`, which goes on after the last
    whole trajectory. Raises FolderUnusable when the target is there already, or when what stands aside is the
    beginning of another.
    """

    def __init__(self, target: Path, filters: Mapping[str, JsonValue]) -> None:
        if target.exists():
            raise FolderUnusable(f"{target} exists")
        self._target, self._filters = target, dict(filters)
        self._aside = target.with_name(target.name + UNFINISHED)
        self._files: dict[str, ExportedFile] = {}
        self._steps = 0
        self.kept: dict[str, Task] = {}
        """The ids of the trajectories that are in it, and what they were attempts at."""
        (self._aside / IMAGES).mkdir(parents=True, exist_ok=True)
        self._agree()
        self._go_on()

    def add(self, trajectory: Trajectory, blob: Callable[[BlobRef], bytes | None]) -> None:
        """Take one trajectory and the files it refers to; files and prompts may be missing, pictures may not. Raises
        FolderUnusable."""
        for ref, needed in _named(trajectory):
            path = image_path(ref)
            if path in self._files:
                continue
            content = blob(ref)
            if content is None and needed:
                raise FolderUnusable(f"{path} of {trajectory.id} is missing")
            if content is None:
                continue
            if hashlib.sha256(content).hexdigest() != ref.sha256:
                raise FolderUnusable(f"{path} of {trajectory.id} was altered")
            (self._aside / path).write_bytes(content)
            self._files[path] = ExportedFile(path=path, sha256=ref.sha256, size=len(content))
        with (self._aside / TRAJECTORIES).open("ab") as lines:
            lines.write(trajectory.model_dump_json().encode() + b"\n")
        self._count(trajectory)

    def finish(self, *, at: datetime, pool: str | None = None, **more: JsonValue) -> Manifest:
        """Write the list of all and give the folder its name. `more` is said beside the filters."""
        path = self._aside / TRAJECTORIES
        listed = ExportedFile(path=TRAJECTORIES, sha256=sha256_of(path), size=path.stat().st_size)
        manifest = Manifest(
            created_at=at,
            filters=self._filters | more,
            pool=pool,
            counts=Counts(trajectories=len(self.kept), steps=self._steps, images=images_in(self._files)),
            files=(listed, *(self._files[path] for path in sorted(self._files))),
        )
        (self._aside / MANIFEST).write_text(manifest.model_dump_json(indent=1))
        (self._aside / PLAN).unlink(missing_ok=True)
        self._aside.rename(self._target)
        return manifest

    def drop(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self._aside, ignore_errors=True)

    def _agree(self) -> None:
        """See that what stands aside was chosen as this is."""
        plan, own = self._aside / PLAN, json.dumps(self._filters, indent=1, sort_keys=True)
        if plan.is_file() and plan.read_text() != own:
            raise FolderUnusable(f"{self._aside} is the beginning of another folder; remove it or write elsewhere")
        whole_write(plan, own.encode())

    def _go_on(self) -> None:
        """Take note of the whole trajectories that are there, and cut off what comes after them."""
        whole = 0
        (self._aside / TRAJECTORIES).touch()
        with (self._aside / TRAJECTORIES).open("r+b") as lines:
            for line in lines:
                try:
                    trajectory = Trajectory.model_validate_json(line)
                except ValidationError:
                    break
                if not line.endswith(b"\n") or not self._met(trajectory):
                    break
                whole += len(line)
            lines.truncate(whole)

    def _met(self, trajectory: Trajectory) -> bool:
        """Take note of one that is there already; whether all its pictures are."""
        for ref, needed in _named(trajectory):
            path = image_path(ref)
            if (self._aside / path).is_file():
                self._files[path] = ExportedFile(path=path, sha256=ref.sha256, size=ref.size)
            elif needed:
                return False
        self._count(trajectory)
        return True

    def _count(self, trajectory: Trajectory) -> None:
        self.kept[trajectory.id] = trajectory.task
        self._steps += len(trajectory.steps)


def _named(trajectory: Trajectory) -> Iterator[tuple[BlobRef, bool]]:
    """The files a trajectory refers to, and whether it is nothing without them."""
    for picture in pictures_of(trajectory):
        yield picture, True
    for ref in (*files_of(trajectory), *prompts_of(trajectory)):
        yield ref, False
