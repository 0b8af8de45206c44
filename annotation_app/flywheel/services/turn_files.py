"""The folder of a cycle: its path, its training copies, and their deletion."""

import json
import logging
import os
import shutil
from pathlib import Path
from typing import Any

from annotation_app.flywheel.models import Turn, TurnState
from annotation_app.flywheel.paths import turn_path
from annotation_app.flywheel.programs import turn_lock

logger = logging.getLogger(__name__)
COPIES_FOLDER = "data"
"""In a cycle's folder: trajectories in the trainer's format."""


def turn_folder(turn: Turn) -> Path:
    """The folder of all files of a cycle."""
    return turn_path(turn.pk)


def training_copies_delete(turn: Turn) -> None:
    """Delete the folders that a cycle learned from. The database has their content, and what is deleted there must not
    survive in copies. Raises OSError."""
    if (turn_folder(turn) / COPIES_FOLDER).exists():
        shutil.rmtree(turn_folder(turn) / COPIES_FOLDER)


def training_copies_sweep() -> None:
    """Delete the copies of cycles that failed, were cancelled, or whose worker died before deleting them. A resumed
    cycle makes them again. A folder that another process uses is skipped."""
    ended = Turn.objects.exclude(state=TurnState.RUNNING)
    for turn_id in ended.values_list("pk", flat=True):
        folder = turn_path(turn_id)
        try:
            if not (folder / COPIES_FOLDER).exists():
                continue
            with turn_lock(folder) as lock:
                if lock is not None and ended.filter(pk=turn_id).exists():
                    shutil.rmtree(folder / COPIES_FOLDER)
        except OSError:
            logger.exception("the copies in %s could not be deleted", folder / COPIES_FOLDER)


def file_write(path: Path, value: Any) -> None:
    """Write a value as JSON, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".part")
    aside.write_text(json.dumps(value, indent=1))
    os.replace(aside, path)
