"""Paths of a cycle's files and of its gate attempts."""

from pathlib import Path
from uuid import UUID

from django.conf import settings

TURNS_FOLDER = "flywheel"
"""In the data folder: one folder for each cycle."""
TRIALS_FOLDER = "trials"
"""In a cycle's folder: attempts by the active revision, attempts by the candidate, and the report on both."""


GENERAL_FOLDER = "general-data"
"""In the data folder: documents and conversations of other sources, for recipes made in the web app."""


def general_data_path() -> Path:
    """The folder of general data that recipes of the web app may name."""
    folder: Path = settings.ENV.data / GENERAL_FOLDER
    return folder.absolute()


def turn_path(turn_id: UUID) -> Path:
    """A cycle's folder, by the cycle's name."""
    folder: Path = settings.ENV.data / TURNS_FOLDER / str(turn_id)
    return folder.absolute()


def checkpoint_path(checkpoint: str) -> str:
    """The path of a checkpoint. One that a cycle made is found after a restore elsewhere, too."""
    parts = Path(checkpoint).parts
    if Path(checkpoint).exists() or TURNS_FOLDER not in parts:
        return checkpoint
    below = parts[len(parts) - parts[::-1].index(TURNS_FOLDER) :]
    here = Path(settings.ENV.data, TURNS_FOLDER, *below).absolute()
    return str(here) if here.exists() else checkpoint
