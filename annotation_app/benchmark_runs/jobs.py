"""Beginning the commands of benchmark runs, in a worker: they would slow the desks of a web process down."""

import shutil

from django.conf import settings
from django.core.cache import cache

from annotation_app.benchmark_runs import commands, run_folder, selectors
from annotation_app.celery import app
from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE

REQUEUE_AFTER_SECONDS = 600
"""Seconds after which a job that was queued and never begun may have been lost, and is queued again."""


@app.task(name="benchmark_runs.spawn")
def run_spawn_job(name: str) -> None:
    """Begin or resume a pending run where there is a place for it. Running it again does no harm."""
    cache.delete(_queued_key(name))
    folder = selectors.runs_folder()
    run = folder / name
    request = run_folder.read_request(run)
    if request is None or selectors.is_finished(run):
        (run / run_folder.PENDING_FILE).unlink(missing_ok=True)
        return
    commands.spawn_next(folder, run, request, most=settings.ENV.evaluations_at_once)


@app.task(name="benchmark_runs.due")
def runs_due_job() -> None:
    """Begin pending runs for which there is a place by now, and those whose command was killed; remove what is left of
    deleted ones."""
    for leftover in (*selectors.deleted_folder().glob("*"), *settings.ENV.data.glob("deleted-*")):
        shutil.rmtree(leftover, ignore_errors=True)
    for run in run_folder.pending_runs(selectors.runs_folder()):
        if not run_folder.is_running(run):
            run_queue(run.name)


def run_queue(name: str) -> None:
    """Queue the beginning of a run once; where it needs the trainer's environment, for the workers that have it."""
    request = run_folder.read_request(selectors.runs_folder() / name)
    queue = TRAINING_QUEUE if request is not None and request.checkpoint else DEFAULT_QUEUE
    if cache.add(_queued_key(name), True, REQUEUE_AFTER_SECONDS):
        run_spawn_job.apply_async((name,), queue=queue)


def _queued_key(name: str) -> str:
    """The key that says that a job for a run waits."""
    return f"benchmark_runs:queued:{name}"
