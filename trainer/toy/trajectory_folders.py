"""Writing folders of trajectories as an environment does: beside their name, renamed when they are whole."""

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

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
)
from protocol.trajectory.trajectories import Trajectory


def write_trajectory_folder(target: Path, trajectories: Sequence[Trajectory], blobs: Mapping[BlobRef, bytes]) -> None:
    """Write a whole folder; what an earlier, broken try left is thrown away."""
    aside = target.with_name(target.name + UNFINISHED_SUFFIX)
    shutil.rmtree(aside, ignore_errors=True)
    (aside / IMAGES).mkdir(parents=True)
    files = []
    for ref, data in blobs.items():
        (aside / image_path(ref)).write_bytes(data)
        files.append(ExportedFile(path=image_path(ref), sha256=ref.sha256, size=ref.size))
    body = b"".join(one.model_dump_json().encode() + b"\n" for one in trajectories)
    (aside / TRAJECTORIES).write_bytes(body)
    files.append(ExportedFile(path=TRAJECTORIES, sha256=hashlib.sha256(body).hexdigest(), size=len(body)))
    manifest = ExportManifest(
        created_at=datetime.now(UTC),
        filters={"origin": "rollout"},
        counts=ExportCounts(
            trajectories=len(trajectories),
            steps=sum(len(one.steps) for one in trajectories),
            images=count_images(file.path for file in files if file.path != TRAJECTORIES),
        ),
        files=tuple(sorted(files, key=lambda file: file.path)),
    )
    (aside / MANIFEST).write_text(manifest.model_dump_json())
    aside.rename(target)
