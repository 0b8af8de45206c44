"""A folder of trajectories, as it is handed to the trainer: what its files are called and what its manifest says.

`manifest.json`, `trajectories.jsonl` (one `Trajectory` a line), `images/<sha256>.<jpg|png|bin>` and the prompts the
policies were given, `images/<sha256>.json`. A folder is written
under a name ending in `.tmp` and renamed when it is whole, so that a reader only meets finished ones.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Literal

from pydantic import Field

from protocol.actions.types import UploadFile, Zoom
from protocol.base import FrozenModel, JsonObject
from protocol.blobs import BlobRef, Sha256
from protocol.trajectory.trajectories import Trajectory

EXPORT_FORMAT: Literal["pilothouse-export-1"] = "pilothouse-export-1"
MANIFEST = "manifest.json"
TRAJECTORIES = "trajectories.jsonl"
IMAGES = "images"
UNFINISHED_SUFFIX = ".tmp"
EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "application/octet-stream": "bin", "application/json": "json"}


class ExportedFile(FrozenModel):
    """One file, by its path inside the folder (with `/`); `size` in bytes."""

    path: str
    sha256: Sha256
    size: int = Field(ge=0)


class ExportCounts(FrozenModel):
    """How many `trajectories`, `steps` and distinct `images` a folder holds."""

    trajectories: int = Field(ge=0)
    steps: int = Field(ge=0)
    images: int = Field(ge=0)


CoordinateSpace = Literal["pixels", "shares", "thousandths", "scaled_pixels"]


class CoordinateSystem(FrozenModel):
    """How rows name points, and to which sizes a processor must scale pictures so that the points stay in place."""

    space: CoordinateSpace
    """pixels: of the picture as it is exported; shares: 0 to 1 of its width and height; thousandths: 0 to 1000 of them;
    scaled_pixels: of the picture as a processor of these limits scales it (`smart_resize`)."""
    min_pixels: int | None = Field(default=None, ge=1)
    max_pixels: int | None = Field(default=None, ge=1)
    factor: int | None = Field(default=None, ge=1)
    """Both sides of a scaled picture are multiples of it."""


class ExportManifest(FrozenModel):
    """What is in a folder, and how it was chosen; readers check every file against it."""

    format: Literal["pilothouse-export-1"] = EXPORT_FORMAT
    created_at: datetime
    filters: JsonObject = {}
    pool: str | None = None
    plan: JsonObject = {}
    """In which format, and how it was divided."""
    splits: dict[str, int] = {}
    """How many trajectories each split has."""
    missing: int = Field(default=0, ge=0)
    """Pictures that are lost; `missing.jsonl` names them and the trajectories that were left out for them."""
    refused: int = Field(default=0, ge=0)
    """Rows that would have misled a consumer, and trajectories left out for one; `refused.jsonl` has each with the
    reason."""
    refused_codes: dict[str, int] = {}
    """How many of them by the reason's code."""
    variants: dict[str, int] = {}
    """How many of the trajectories are a model's variants of recorded thoughts, by their kind."""
    coordinates: CoordinateSystem | None = None
    """None in folders of older releases."""
    counts: ExportCounts
    files: tuple[ExportedFile, ...]


def image_path(picture: BlobRef) -> str:
    """Where a picture or a file lies inside the folder. Raises KeyError for a media type that is never exported."""
    return f"{IMAGES}/{picture.sha256}.{EXTENSIONS[picture.media_type]}"


def count_images(paths: Iterable[str]) -> int:
    """How many of these files are pictures or files of a machine, and no prompts."""
    return sum(not path.endswith(".json") for path in paths)


def trajectory_images(trajectory: Trajectory) -> tuple[BlobRef, ...]:
    """Every picture a trajectory refers to, each once, in order."""
    looks = (look for step in trajectory.steps for look in (step.before, step.after) if look is not None)
    screenshots = [look.screenshot for look in looks if look.screenshot is not None]
    return tuple(dict.fromkeys((*screenshots, *_zoomed_images(trajectory))))


def _zoomed_images(trajectory: Trajectory) -> Iterator[BlobRef]:
    """The parts of screens that were asked for: prompts show them as pictures."""
    for step in trajectory.steps:
        if isinstance(step.action, Zoom) and step.after is not None and step.after.attachment is not None:
            yield step.after.attachment


def trajectory_files(trajectory: Trajectory) -> tuple[BlobRef, ...]:
    """Every file that was to be brought in, or came out, each once, in order; an act that was refused names one that
    nobody may have."""
    uploads = (step.action.blob for step in trajectory.steps if isinstance(step.action, UploadFile))
    looks = (step.after for step in trajectory.steps if step.after is not None)
    attachments = (look.attachment for look in looks if look.attachment is not None)
    pictures = set(_zoomed_images(trajectory))
    return tuple(dict.fromkeys(file for file in (*uploads, *attachments) if file not in pictures))


def trajectory_prompts(trajectory: Trajectory) -> tuple[BlobRef, ...]:
    """What the policies were asked, each prompt once, in order."""
    prompts = (proposal.prompt for offered in trajectory.proposals for proposal in offered)
    return tuple(dict.fromkeys(ref for ref in prompts if ref is not None))
