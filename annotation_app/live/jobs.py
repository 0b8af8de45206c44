"""What is fetched in the background."""

import asyncio

from annotation_app.celery import app
from annotation_app.live.recordings import recordings_collect


@app.task(name="live.recordings_collect")
def recordings_collect_job() -> None:
    """Store the videos of episodes that have ended."""
    asyncio.run(recordings_collect())
