"""The folder through which attempts reach a trainer: waiting, taken and refused attempts, and the trainer's report of a
shortage to the player."""

from pathlib import Path

from pydantic import Field

from protocol.base import FrozenModel
from protocol.trajectory.export_folders import UNFINISHED_SUFFIX

PROCESSED_FOLDER, REJECTED_FOLDER = ".taken", ".refused"
"""The folders of what was learned from, and of what it cannot use."""
REASONS_FILE = "refused.json"
"""In each refused folder: how many attempts were refused, by the reason's code."""
SHORTAGE_FILE = ".short.json"
"""There while an update waits for attempts; written aside and renamed, and gone as soon as there are enough."""


class AttemptShortage(FrozenModel):
    """All that came was looked at, and does not suffice."""

    wanted: int = Field(ge=1)
    usable: int = Field(ge=0)
    folders: tuple[str, ...]
    """Which have attempts that can be used; these wait with the others that come."""
    later: tuple[str, ...] = ()
    """Folders that wait for a later update, or for attempts to compare theirs with."""
    refused: dict[str, int]
    """Attempts and folders that could not be used, by the reason's code."""


def waiting_folders(path: Path) -> list[str]:
    """The whole folders in an inbox, the oldest name first."""
    found = (one.name for one in path.iterdir() if one.is_dir())
    return sorted(name for name in found if not name.startswith(".") and not name.endswith(UNFINISHED_SUFFIX))
