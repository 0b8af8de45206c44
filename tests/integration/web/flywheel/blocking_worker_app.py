"""The jobs of a worker whose trainer is the program that HELD_TRAINER names."""

import os
from typing import Any

from celery.signals import worker_process_init

from annotation_app.celery import app

__all__ = ["app"]


@worker_process_init.connect
def block_training(**_: Any) -> None:
    """Once models can be imported, in each process that does jobs."""
    from annotation_app.flywheel.services import training

    training.trainer_python = lambda: os.environ["HELD_TRAINER"]  # type: ignore[attr-defined]  # it imports the name
