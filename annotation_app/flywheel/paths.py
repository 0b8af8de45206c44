"""Where everything of a turn lies, and its attempts at the gate in it."""

from pathlib import Path
from uuid import UUID

from django.conf import settings

TURNS_FOLDER = "flywheel"
"""Of the data folder: a folder a turn."""
TRIALS_FOLDER = "trials"
"""Of a turn's folder: a folder of attempts by the active revision, one by the candidate, and the report on both."""


GENERAL_FOLDER = "general-data"
"""Of the data folder: documents and conversations of other sources, for recipes made in the web app."""


def general_data_path() -> Path:
    """Where general data lies that recipes of the web app may name."""
    folder: Path = settings.ENV.data / GENERAL_FOLDER
    return folder.absolute()


def turn_path(turn_id: UUID) -> Path:
    """A turn's folder, by the turn's name."""
    folder: Path = settings.ENV.data / TURNS_FOLDER / str(turn_id)
    return folder.absolute()


def checkpoint_path(checkpoint: str) -> str:
    """Where a checkpoint lies: one that a turn made went along when the installation was restored elsewhere."""
    parts = Path(checkpoint).parts
    if Path(checkpoint).exists() or TURNS_FOLDER not in parts:
        return checkpoint
    below = parts[len(parts) - parts[::-1].index(TURNS_FOLDER) :]
    here = Path(settings.ENV.data, TURNS_FOLDER, *below).absolute()
    return str(here) if here.exists() else checkpoint
