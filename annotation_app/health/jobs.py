"""The heartbeat: queued by the beat, written by the worker."""

import time

from django.core.cache import cache

from annotation_app.celery import app
from annotation_app.health.selectors import HEARTBEAT


@app.task(name="health.heartbeat")
def heartbeat() -> None:
    """Say that the beat queues and a worker works."""
    cache.set(HEARTBEAT, time.time(), None)
