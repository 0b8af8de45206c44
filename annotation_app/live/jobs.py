"""Background jobs for recordings and task pictures."""

import asyncio
from typing import Any

from annotation_app.celery import app
from annotation_app.live.recordings import recordings_collect
from annotation_app.live.task_pictures import pictures_make
from protocol.trajectory.tasks import TaskVariant


@app.task(name="live.recordings_collect")
def recordings_collect_job() -> None:
    """Store the videos of episodes that have ended."""
    asyncio.run(recordings_collect())


@app.task(name="live.task_pictures")
def task_pictures_job(suite: str, variant: dict[str, Any]) -> None:
    """Make the pictures of one variant of a suite's tasks."""
    asyncio.run(pictures_make(suite, TaskVariant.model_validate(variant)))
