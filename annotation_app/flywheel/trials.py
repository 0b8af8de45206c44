"""Reads a folder of gate attempts: summaries of all attempts at one task, or one in full with its pictures.

No state is kept between requests. A folder is read line by line, and only as far as the answer needs. An attempt is
identified by its position in the folder, so that no request names a file.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from annotation_app.errors import Conflict, NotFound, TooLarge
from protocol.blobs import BlobRef
from protocol.trajectory.export_folders import MANIFEST, TRAJECTORIES, image_path, trajectory_images
from protocol.trajectory.observations import Verdict
from protocol.trajectory.tasks import Task, task_kind
from protocol.trajectory.trajectories import Outcome, Trajectory, without_undone_steps

MAX_FOLDER_BYTES = 512 * 1024 * 1024
"""Most bytes of a folder's attempts that a request reads."""
Parsed = TypeVar("Parsed", bound=BaseModel)
PICTURE_TYPES = frozenset({"image/jpeg", "image/png"})
MAX_ATTEMPT_BYTES = 16 * 1024 * 1024
"""Largest size of one attempt, and of one picture (bytes)."""


class TrialHead(BaseModel):
    """What a list of a task's attempts needs of one. The rest of its line is skipped."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    class Act(BaseModel):
        """A step, and whether it was taken back."""

        model_config = ConfigDict(extra="ignore", frozen=True)
        undone: bool = False

    task: Task
    steps: tuple[Act, ...]
    outcome: Outcome | None
    verdict: Verdict | None


def trial_heads(folder: Path, kind: str) -> list[tuple[int, TrialHead]]:
    """The attempts at a kind of task, each with its position. Raises NotFound, TooLarge and Conflict."""
    read = ((place, _parsed(TrialHead, line)) for place, line in enumerate(_lines(folder)))
    return [(place, head) for place, head in read if task_kind(head.task) == kind]


def trial_trajectory(folder: Path, place: int) -> Trajectory:
    """The attempt at a position, without steps that were taken back. Raises NotFound, TooLarge and Conflict."""
    line = next(islice(_lines(folder), place, None), None)
    if line is None:
        raise NotFound("There is no such attempt.", code="trial_unknown")
    return without_undone_steps(_parsed(Trajectory, line))


def picture_read(folder: Path, place: int, sha256: str) -> tuple[BlobRef, bytes]:
    """A picture of the attempt at a position. Raises NotFound, TooLarge and Conflict."""
    shown = trajectory_images(trial_trajectory(folder, place))
    ref = next((one for one in shown if one.sha256 == sha256 and one.media_type in PICTURE_TYPES), None)
    path = None if ref is None else folder / image_path(ref)
    if ref is None or path is None or not path.is_file():
        raise NotFound("This attempt has no such picture.", code="picture_unknown")
    if path.stat().st_size > MAX_ATTEMPT_BYTES:
        raise TooLarge("The picture is too large to be shown.", code="picture_too_large")
    data = path.read_bytes()
    if BlobRef.of(data, ref.media_type) != ref:
        raise NotFound("The picture is not the one that the attempt showed.", code="picture_changed")
    return ref, data


def _lines(folder: Path) -> Iterator[bytes]:
    """The attempts as they are written, one by one."""
    path = folder / TRAJECTORIES
    if not (folder / MANIFEST).is_file() or not path.is_file():
        raise NotFound("The attempts are no longer in the turn's folder.", code="trials_gone")
    if path.stat().st_size > MAX_FOLDER_BYTES:
        raise TooLarge("The turn has too many attempts to be read here.", code="trials_too_large")
    with path.open("rb") as file:
        while line := file.readline(MAX_ATTEMPT_BYTES + 1):
            if len(line) > MAX_ATTEMPT_BYTES:
                raise TooLarge("An attempt of the turn is too long to be read here.", code="trials_too_large")
            yield line


def _parsed(kind: type[Parsed], line: bytes) -> Parsed:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        message = f"An attempt of the turn cannot be read: {error.errors()[0]['msg']}"
        raise Conflict(message, code="trials_unreadable") from None
