"""The background worker: `celery -A annotation_app worker` and `beat`."""

import protocol.program_start  # noqa: F401 - first, for what the others load

# isort: split

import logging
import os
import time
from typing import Any

from celery import Celery
from celery.signals import (
    after_setup_logger,
    after_setup_task_logger,
    before_task_publish,
    heartbeat_sent,
    task_prerun,
    worker_init,
)
from django.conf import settings

from annotation_app.audit.sources import source_begin
from annotation_app.queues import TRAINING_QUEUE, training_worker_heartbeat
from annotation_app.trace import JOB_HEADER, TraceFilter, log_formatter, trace_begin, trace_id

QUEUED_HEADER = "pilothouse_queued"
"""When a job was queued (seconds since 1970). The age of the oldest waiting job is computed from it."""

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation_app.settings.local")

app = Celery("pilothouse")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="jobs")


@after_setup_logger.connect
@after_setup_task_logger.connect
def _log_trace_ids(logger: logging.Logger, **_: Any) -> None:
    """Log lines of Celery's own handlers in the same format as the web processes."""
    for handler in logger.handlers:
        handler.addFilter(TraceFilter())
        handler.setFormatter(log_formatter(settings.ENV.log_format))


@worker_init.connect
def _check_shared_folder(**_: Any) -> None:
    """Stop a worker that would write to a folder that no other process reads; its jobs stay for another worker. Also
    stop one that cannot check, because Celery would log the error and continue."""
    from django.db import DatabaseError, connection

    from annotation_app.blobs.services import data_folder_claim
    from annotation_app.errors import Conflict

    try:
        data_folder_claim()
    except Conflict as error:
        raise SystemExit(f"{error.code}: {error.message}") from None
    except (DatabaseError, OSError) as error:
        raise SystemExit(f"The data folder cannot be read: {error}") from error
    finally:
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL's: what workers fork from holds no connection


@heartbeat_sent.connect
def _record_training_heartbeat(**_: Any) -> None:
    """Record a heartbeat every other second. The process that receives jobs does it, so it also runs while its child
    trains."""
    if TRAINING_QUEUE in app.amqp.queues.consume_from:
        training_worker_heartbeat()


@before_task_publish.connect
def _add_trace_headers(headers: dict[str, Any], **_: Any) -> None:
    headers[JOB_HEADER] = trace_id()
    headers[QUEUED_HEADER] = time.time()


@task_prerun.connect
def _adopt_trace(task: Any, **_: Any) -> None:
    """Give the work of a job the trace id of the work that queued it. A job run inline, as in tests, has that id
    already."""
    if not task.request.is_eager:
        trace_begin(getattr(task.request, JOB_HEADER, None))
        source_begin("job", task.name)
