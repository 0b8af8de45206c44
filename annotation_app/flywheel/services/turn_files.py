"""The folder of a turn: where it lies, what is copied into it, and when the copies end."""

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
"""Of a turn's folder: trajectories as the trainer reads them."""


def turn_folder(turn: Turn) -> Path:
    """Where everything of a turn lies."""
    return turn_path(turn.pk)


def training_copies_delete(turn: Turn) -> None:
    """Delete the folders that a turn learned from: the database has it all, and what is deleted there must not live on
    in copies. Raises OSError."""
    if (turn_folder(turn) / COPIES_FOLDER).exists():
        shutil.rmtree(turn_folder(turn) / COPIES_FOLDER)


def training_copies_sweep() -> None:
    """Delete the copies of turns that failed, were stopped, or whose worker died before; going on makes them again.
    A folder that another process is at is its own affair."""
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
    """Write a value as JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(path.name + ".part")
    aside.write_text(json.dumps(value, indent=1))
    os.replace(aside, path)
