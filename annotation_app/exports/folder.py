"""Writing trajectories to a folder: written aside, renamed when whole, the same bytes for the same input."""

import hashlib
import shutil
from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path

from annotation_app.blobs.selectors import blob_path
from annotation_app.exports.schemas import ExportFilters
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
from vocabulary.trajectories import Trajectory


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
    aside = target.with_name(target.name + UNFINISHED)
    (aside / IMAGES).mkdir(parents=True, exist_ok=True)
    images: dict[str, ExportedFile] = {}
    digest, size, count, steps = hashlib.sha256(), 0, 0, 0
    with (aside / TRAJECTORIES).open("wb") as lines:
        for trajectory in trajectories:
            for ref in pictures_of(trajectory):
                if ref.sha256 not in images:
                    images[ref.sha256] = _picture_copy(ref, aside)
            for ref in (*files_of(trajectory), *prompts_of(trajectory)):
                if ref.sha256 not in images and blob_path(ref.sha256).exists():
                    images[ref.sha256] = _picture_copy(ref, aside)
            line = trajectory.model_dump_json().encode() + b"\n"
            lines.write(line)
            digest.update(line)
            size, count, steps = size + len(line), count + 1, steps + len(trajectory.steps)
            progress(count)
    manifest = Manifest(
        created_at=created_at,
        filters=filters.model_dump(mode="json"),
        pool=pool,
        counts=Counts(trajectories=count, steps=steps, images=images_in(file.path for file in images.values())),
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


def _picture_copy(ref: BlobRef, folder: Path) -> ExportedFile:
    path = image_path(ref)
    copy = folder / path
    if not copy.exists() or copy.stat().st_size != ref.size:
        shutil.copyfile(blob_path(ref.sha256), copy)
    return ExportedFile(path=path, sha256=ref.sha256, size=ref.size)
