"""What a trainer leaves in the folder it takes attempts from: what became of those that came, and word to who plays
that it has too few."""

from pydantic import Field

from protocol.base import FrozenModel

PROCESSED_FOLDER, REJECTED_FOLDER = ".taken", ".refused"
"""The folders of what was learned from, and of what it cannot use."""
SHORTAGE_FILE = ".short.json"
"""There while an update waits for attempts; written aside and renamed, and gone as soon as there are enough."""


class AttemptShortage(FrozenModel):
    """All that came was looked at, and does not suffice."""

    wanted: int = Field(ge=1)
    usable: int = Field(ge=0)
    folders: tuple[str, ...]
    """Which have attempts that can be used; these wait with the others that come."""
    refused: dict[str, int]
    """Attempts and folders that could not be used, by the reason's code."""
