"""Reading and writing folders of trajectories. Their trainer has a reader of its own, which this layer cannot know."""

import hashlib
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from agent_backend.errors import AgentError
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
from vocabulary.trajectories import Trajectory


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


def sha256_of(path: Path) -> str:
    """The checksum of a file."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def folder_write(target: Path, chosen: Iterable[tuple[Path, Trajectory]], template: Manifest) -> Manifest:
    """Write trajectories with the files they refer to into a new folder, which appears when it is whole.

    Date, filters and pool are the template's. Raises FileExistsError, and FolderUnusable for a file that is missing
    or altered.
    """
    if target.exists():
        raise FileExistsError(f"{target} exists")
    aside = target.with_name(target.name + UNFINISHED)
    shutil.rmtree(aside, ignore_errors=True)
    (aside / IMAGES).mkdir(parents=True)
    copied: dict[str, ExportedFile] = {}
    digest, size, count, steps = hashlib.sha256(), 0, 0, 0
    with (aside / TRAJECTORIES).open("wb") as lines:
        for folder, trajectory in chosen:
            for path, needed in _named(trajectory):
                if path not in copied and (needed or (folder / path).is_file()):
                    copied[path] = _file_copy(folder, aside, path)
            line = trajectory.model_dump_json().encode() + b"\n"
            lines.write(line)
            digest.update(line)
            size, count, steps = size + len(line), count + 1, steps + len(trajectory.steps)
    listed = ExportedFile(path=TRAJECTORIES, sha256=digest.hexdigest(), size=size)
    manifest = template.model_copy(
        update={
            "counts": Counts(trajectories=count, steps=steps, images=images_in(copied)),
            "files": (listed, *(copied[path] for path in sorted(copied))),
        }
    )
    (aside / MANIFEST).write_text(manifest.model_dump_json(indent=1))
    aside.rename(target)
    return manifest


def _named(trajectory: Trajectory) -> Iterator[tuple[str, bool]]:
    """The files a trajectory refers to, and whether it is nothing without them: files and prompts may be missing."""
    for picture in pictures_of(trajectory):
        yield image_path(picture), True
    for ref in (*files_of(trajectory), *prompts_of(trajectory)):
        yield image_path(ref), False


def _file_copy(folder: Path, aside: Path, path: str) -> ExportedFile:
    """Copy a file named by its content. Raises FolderUnusable where it is not that content."""
    source = folder / path
    if not source.is_file():
        raise FolderUnusable(f"{source} is missing")
    shutil.copyfile(source, aside / path)
    sha256 = sha256_of(aside / path)
    if sha256 != source.stem:
        raise FolderUnusable(f"{source} was altered")
    return ExportedFile(path=path, sha256=sha256, size=(aside / path).stat().st_size)
