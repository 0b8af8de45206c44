"""Where everything of a turn lies, and its attempts at the gate in it."""

from pathlib import Path
from uuid import UUID

from django.conf import settings

TURNS = "flywheel"
"""Of the data folder: a folder a turn."""
TRIALS = "trials"
"""Of a turn's folder: a folder of attempts by the active revision, one by the candidate, and the report on both."""


def folder_of(turn_id: UUID) -> Path:
    """A turn's folder, by the turn's name."""
    folder: Path = settings.ENV.data / TURNS / str(turn_id)
    return folder.absolute()
