"""Writing trajectories to a folder: written aside, renamed when whole, the same bytes for the same input."""

import hashlib
import shutil
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from annotation_app.blobs.selectors import blob_path
from annotation_app.exports.schemas import ExportFilters
from vocabulary.base import Frozen
from vocabulary.blobs import BlobRef
from vocabulary.trajectories import Trajectory

EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png"}
TRAJECTORIES = "trajectories.jsonl"
MANIFEST = "manifest.json"


class ExportedFile(Frozen):
    """One file of an export, by its path inside the folder; `size` in bytes."""

    path: str
    sha256: str
    size: int


class Counts(Frozen):
    """How much an export holds."""

    trajectories: int
    steps: int
    images: int


class Manifest(Frozen):
    """What is in an export; readers check every file against it."""

    format: str = "pilothouse-export-1"
    created_at: datetime
    filters: ExportFilters
    pool: str | None
    counts: Counts
    files: tuple[ExportedFile, ...]


def folder_write(
    *,
    target: Path,
    trajectories: Iterable[Trajectory],
    filters: ExportFilters,
    pool: str | None,
    created_at: datetime,
    progress: Callable[[int], None] = lambda _: None,
) -> Manifest:
    """Write trajectories and their pictures to `target`, which appears only when it is whole.

    Pictures that an interrupted run has copied are kept. `progress` hears the number written.
    """
    aside = target.with_name(target.name + ".tmp")
    (aside / "images").mkdir(parents=True, exist_ok=True)
    images: dict[str, ExportedFile] = {}
    digest, size, count, steps = hashlib.sha256(), 0, 0, 0
    with (aside / TRAJECTORIES).open("wb") as lines:
        for trajectory in trajectories:
            for ref in _pictures(trajectory):
                if ref.sha256 not in images:
                    images[ref.sha256] = _picture_copy(ref, aside)
            line = trajectory.model_dump_json().encode() + b"\n"
            lines.write(line)
            digest.update(line)
            size, count, steps = size + len(line), count + 1, steps + len(trajectory.steps)
            progress(count)
    manifest = Manifest(
        created_at=created_at,
        filters=filters,
        pool=pool,
        counts=Counts(trajectories=count, steps=steps, images=len(images)),
        files=(
            ExportedFile(path=TRAJECTORIES, sha256=digest.hexdigest(), size=size),
            *sorted(images.values(), key=lambda file: file.path),
        ),
    )
    (aside / MANIFEST).write_text(manifest.model_dump_json(indent=1))
    if target.exists():
        shutil.rmtree(target)
    aside.rename(target)
    return manifest


def _pictures(trajectory: Trajectory) -> Iterable[BlobRef]:
    for step in trajectory.steps:
        for observation in (step.before, step.after):
            if observation is not None and observation.screenshot is not None:
                yield observation.screenshot


def _picture_copy(ref: BlobRef, folder: Path) -> ExportedFile:
    path = f"images/{ref.sha256}.{EXTENSIONS[ref.media_type]}"
    copy = folder / path
    if not copy.exists() or copy.stat().st_size != ref.size:
        shutil.copyfile(blob_path(ref.sha256), copy)
    return ExportedFile(path=path, sha256=ref.sha256, size=ref.size)
