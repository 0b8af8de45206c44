"""Writes small folders of trajectories, as an export would."""

import hashlib
from pathlib import Path

from protocol.trajectory.export_folders import (
    MANIFEST,
    TRAJECTORIES,
    ExportCounts,
    ExportedFile,
    ExportManifest,
    image_path,
    trajectory_images,
)
from protocol.trajectory.trajectories import Trajectory
from tests.unit.protocol.examples import at


def write_trajectory_folder(path: Path, *trajectories: Trajectory) -> ExportManifest:
    """A whole folder; the bytes of a picture are the name `observation` made its reference of."""
    names = {hashlib.sha256(f"screen-{index}".encode()).hexdigest(): f"screen-{index}".encode() for index in range(100)}
    pictures = {picture for trajectory in trajectories for picture in trajectory_images(trajectory)}
    contents = {image_path(picture): names[picture.sha256] for picture in pictures}
    contents[TRAJECTORIES] = b"".join(trajectory.model_dump_json().encode() + b"\n" for trajectory in trajectories)
    for name, content in contents.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    manifest = ExportManifest(
        created_at=at(0),
        filters={"review": "accepted"},
        pool="Desktop",
        counts=ExportCounts(
            trajectories=len(trajectories),
            steps=sum(len(trajectory.steps) for trajectory in trajectories),
            images=len(pictures),
        ),
        files=tuple(
            ExportedFile(path=name, sha256=hashlib.sha256(content).hexdigest(), size=len(content))
            for name, content in sorted(contents.items())
        ),
    )
    write_manifest(path, manifest)
    return manifest


def write_manifest(path: Path, manifest: ExportManifest) -> None:
    """Write a folder's manifest, true or not."""
    (path / MANIFEST).write_text(manifest.model_dump_json(), encoding="utf-8")
