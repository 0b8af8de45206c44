"""Reading a folder of trajectories, checked against its manifest.

`python -m trainer.data.trajectories FOLDER` checks one and sums it up.
"""

import argparse
import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from pydantic import ValidationError

from protocol.blobs import BlobRef
from protocol.dialects.prompts import Prompt
from protocol.training.inbox import waiting_folders
from protocol.trajectory.export_folders import (
    EXTENSIONS,
    MANIFEST,
    TRAJECTORIES,
    UNFINISHED_SUFFIX,
    ExportedFile,
    ExportManifest,
    image_path,
    trajectory_images,
)
from protocol.trajectory.sealing import SEALED
from protocol.trajectory.trajectories import Trajectory
from trainer.errors import FolderDamaged, FolderUnfinished, FolderUnknown, TrainerError, TrajectoryUnreadable


@dataclass(frozen=True)
class TrajectoryFolder:
    """A whole folder: its manifest holds, and every file is what the manifest says."""

    path: Path
    manifest: ExportManifest

    def trajectories(self) -> Iterator[Trajectory]:
        """Every trajectory, in the order of the file.

        Raises TrajectoryUnreadable at a line that is none, FolderDamaged where one refers to a picture that is
        not there.
        """
        listed = {file.path: file.sha256 for file in self.manifest.files}
        with (self.path / TRAJECTORIES).open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                trajectory = _parse_trajectory(line, number)
                for picture in trajectory_images(trajectory):
                    if picture.media_type not in EXTENSIONS or listed.get(image_path(picture)) != picture.sha256:
                        raise FolderDamaged(f"line {number} refers to a picture that is not there: {picture.sha256}")
                yield trajectory

    def image(self, picture: BlobRef) -> Path:
        """Where the bytes of a picture lie."""
        return self.path / image_path(picture)

    def bytes(self, picture: BlobRef) -> bytes:
        """The bytes of a picture."""
        return self.image(picture).read_bytes()

    def prompt(self, ref: BlobRef) -> Prompt | None:
        """What a policy was asked, word for word; None where the folder does not have it. Raises FolderDamaged."""
        path = self.path / image_path(ref)
        if not path.is_file():
            return None
        try:
            return Prompt.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise FolderDamaged(f"{path.name} is no prompt: {_first_reason(error)}") from None


def open_folder(path: Path) -> TrajectoryFolder:
    """Check a folder and every file in it.

    Raises FolderUnfinished, FolderUnknown or FolderDamaged.
    """
    if path.name.endswith(UNFINISHED_SUFFIX):
        raise FolderUnfinished(f"{path.name} is still being written")
    if not path.is_dir():
        raise FolderUnknown(f"{path.name} is no folder")
    manifest = _read_manifest(path)
    for file in manifest.files:
        _check_file(path, file)
    if TRAJECTORIES not in {file.path for file in manifest.files}:
        raise FolderDamaged(f"the manifest does not list {TRAJECTORIES}")
    with (path / TRAJECTORIES).open("rb") as lines:
        count = sum(1 for _ in lines)
    if count != manifest.counts.trajectories:
        raise FolderDamaged(f"the manifest lists {manifest.counts.trajectories} trajectories, the folder has {count}")
    return TrajectoryFolder(path=path, manifest=manifest)


def open_folders(paths: Iterable[Path]) -> Iterator[TrajectoryFolder]:
    """Each of these folders, and of an inbox every whole folder that has come by now, the oldest name first.

    Raises FolderUnfinished, FolderUnknown or FolderDamaged.
    """
    for path in paths:
        come = waiting_folders(path) if path.is_dir() and not (path / MANIFEST).exists() else []
        yield from map(open_folder, [path / name for name in come] or [path])


def _read_manifest(path: Path) -> ExportManifest:
    try:
        text = (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise FolderUnfinished(f"{path.name} has no {MANIFEST}") from None
    try:
        return ExportManifest.model_validate_json(text)
    except ValidationError as error:
        raise FolderUnknown(f"{MANIFEST} cannot be read: {_first_reason(error)}") from None


def _check_file(path: Path, file: ExportedFile) -> None:
    """Refuse a file that is not inside the folder, or not the one the manifest means."""
    parts = PurePosixPath(file.path).parts
    place = path.joinpath(*parts)
    if not parts or not place.resolve().is_relative_to(path.resolve()):
        raise FolderDamaged(f"the manifest names a file outside the folder: {file.path}")
    if not place.is_file():
        raise FolderDamaged(f"{file.path} is missing")
    if place.stat().st_size != file.size:
        raise FolderDamaged(f"{file.path} has {place.stat().st_size} bytes, {file.size} in the manifest")
    with place.open("rb") as content:
        if hashlib.file_digest(content, "sha256").hexdigest() != file.sha256:
            raise FolderDamaged(f"{file.path} was altered: its sha256 is not the manifest's")


def _parse_trajectory(line: bytes, number: int) -> Trajectory:
    try:
        trajectory = Trajectory.model_validate_json(line)
    except ValidationError as error:
        raise TrajectoryUnreadable(f"line {number} is no trajectory: {_first_reason(error)}") from None
    if SEALED in trajectory.task.parameters:
        raise TrajectoryUnreadable(f"line {number} is an attempt at a sealed task, from which no model may learn")
    return trajectory


def _first_reason(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]


def summary(folder: TrajectoryFolder) -> dict[str, object]:
    """How much of what a folder holds; reads every trajectory."""
    outcomes: Counter[str] = Counter()
    decisions: Counter[str] = Counter()
    actors: Counter[str] = Counter()
    for trajectory in folder.trajectories():
        outcomes[trajectory.outcome or "none"] += 1
        decisions.update(step.decision for step in trajectory.steps)
        actors.update(step.actor for step in trajectory.steps)
    return {
        "format": folder.manifest.format,
        "created_at": folder.manifest.created_at.isoformat(),
        **folder.manifest.counts.model_dump(),
        "outcomes": dict(sorted(outcomes.items())),
        "decisions": dict(sorted(decisions.items())),
        "actors": dict(sorted(actors.items())),
    }


def main(arguments: list[str] | None = None) -> int:
    """Print the summary of a folder, or why it cannot be used."""
    parser = argparse.ArgumentParser(prog="trainer.data.trajectories", description="Check a folder and sum it up.")
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args(arguments).folder
    try:
        print(json.dumps(summary(open_folder(folder)), indent=2))
    except TrainerError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
