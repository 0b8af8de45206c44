"""Heartbeats of background jobs: a row says that its worker lives, and is taken up again soon after it died.

A job's model has `status` (`queued`, `running` and what ends it) and `heard_at`.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, connection, models
from django.db.models import Q
from django.utils import timezone

logger = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
"""Between two heartbeats of a running job."""
DEAD_AFTER = timedelta(seconds=15)
"""A running job that was silent for so long has lost its worker. Jobs are looked through every ten seconds."""
LOST_AFTER = timedelta(minutes=10)
"""A job that was queued for so long may have been lost by the broker. It is queued once more, which does no harm."""


@contextmanager
def heartbeat(rows: models.QuerySet[Any]) -> Iterator[None]:
    """Set `heard_at` of these rows every few seconds while the block runs.

    Args:
        rows: The job's row while this worker has it: filtered by its key, `running`, and what another worker changes.

    It runs in a thread with a database connection of its own, which a job that ends before the first beat never opens.
    """
    ended = threading.Event()
    thread = threading.Thread(target=_beat, args=(rows.all(), ended), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def abandoned_jobs(rows: models.QuerySet[Any]) -> models.QuerySet[Any]:
    """Those of these jobs whose worker died, or that no worker has taken up in a long time."""
    now = timezone.now()
    dead = Q(status="running", heard_at__lt=now - DEAD_AFTER)
    lost = Q(status="queued", heard_at__lt=now - LOST_AFTER)
    return rows.filter(dead | lost)


def _beat(rows: models.QuerySet[Any], ended: threading.Event) -> None:
    try:
        while not ended.wait(BEAT_SECONDS):
            try:
                rows.update(heard_at=timezone.now())
            except DatabaseError:
                logger.warning("a heartbeat could not be stored", exc_info=True)
                connection.close()
    finally:
        connection.close()
