"""Heartbeats of background jobs. A row shows that its worker is alive; a job is requeued soon after its worker dies.

A job's model has `status` (`queued`, `running` and its end states) and `heard_at`.
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
"""Seconds between heartbeats of a running job."""
DEAD_AFTER = timedelta(seconds=15)
"""A running job without a heartbeat for this time has lost its worker. Jobs are checked every ten seconds."""
LOST_AFTER = timedelta(minutes=10)
"""The broker may have lost a job that was queued for this time. It is queued again, which is harmless."""


@contextmanager
def heartbeat(rows: models.QuerySet[Any]) -> Iterator[None]:
    """Set `heard_at` of these rows every few seconds while the block runs.

    Args:
        rows: The job's row while this worker has it, filtered by key, `running`, and what another worker changes.

    It runs in a thread with its own database connection. A job that ends before the first heartbeat never opens one.
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
    """Those of these jobs whose worker died, or that no worker has taken for a long time."""
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
