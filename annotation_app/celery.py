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
"""When a job was queued (seconds since 1970), by which it is known how long the oldest one waits."""

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "annotation_app.settings.local")

app = Celery("pilothouse")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(related_name="jobs")


@after_setup_logger.connect
@after_setup_task_logger.connect
def _log_trace_ids(logger: logging.Logger, **_: Any) -> None:
    """Celery's own handlers write lines as the web's do."""
    for handler in logger.handlers:
        handler.addFilter(TraceFilter())
        handler.setFormatter(log_formatter(settings.ENV.log_format))


@worker_init.connect
def _check_shared_folder(**_: Any) -> None:
    """A worker that would write where nobody reads does not begin; its jobs stay for another. Nor does one that cannot
    ask: Celery would note the error and go on."""
    from django.db import DatabaseError, connection

    from annotation_app.blobs.services import data_folder_claim
    from annotation_app.errors import Conflict

    try:
        data_folder_claim()
    except Conflict as error:
        raise SystemExit(f"{error.code}: {error.message}") from None
    except (DatabaseError, OSError) as error:
        raise SystemExit(f"The data folder cannot be asked for: {error}") from error
    finally:
        connection.close()
        connection.close_pool()  # type: ignore[attr-defined]  # PostgreSQL's: what workers fork from holds no connection


@heartbeat_sent.connect
def _record_training_heartbeat(**_: Any) -> None:
    """Every other second, by the process that takes jobs: while the one that does them trains, too."""
    if TRAINING_QUEUE in app.amqp.queues.consume_from:
        training_worker_heartbeat()


@before_task_publish.connect
def _add_trace_headers(headers: dict[str, Any], **_: Any) -> None:
    headers[JOB_HEADER] = trace_id()
    headers[QUEUED_HEADER] = time.time()


@task_prerun.connect
def _adopt_trace(task: Any, **_: Any) -> None:
    """The work of a job has the id of whoever queued it; one done at once, as in tests, has it already."""
    if not task.request.is_eager:
        trace_begin(getattr(task.request, JOB_HEADER, None))
        source_begin("job", task.name)
