"""The heartbeat, queued by the beat and written by the worker; and a look at every part, now and then."""

import time

from django.core.cache import cache

from annotation_app.celery import app
from annotation_app.health.notices import notify_of_failures
from annotation_app.health.probes import HEARTBEAT_KEY
from annotation_app.health.selectors import check_all_parts


@app.task(name="health.heartbeat")
def heartbeat_job() -> None:
    """Say that the beat queues and a worker works."""
    cache.set(HEARTBEAT_KEY, time.time(), None)


@app.task(name="health.look")
def check_parts_job() -> None:
    """Look at every part, so that the page knows since when one is as it is, and how fast the disk fills; and tell
    admins of what failed."""
    notify_of_failures(check_all_parts())
