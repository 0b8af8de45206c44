"""Celery worker processes on the database, the Redis and the data folder of a test."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from annotation_app.celery import app
from annotation_app.settings.base import ROOT
from tests.integration.web.conftest import SECRET, database_url


@contextmanager
def worker_running(
    redis_url: str, settings: Any, name: str = "", queues: str = "", jobs: str = "annotation_app", **more: str
) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker, by the name of its host where several run, of these queues alone where some are named, with the jobs of
    this module, and a client here that sends to it. It leads a process group of its own, so that it can be killed with
    the child that does the work."""
    environment = {
        "DJANGO_SETTINGS_MODULE": "annotation_app.settings.local",
        "PILOTHOUSE_DATABASE_URL": database_url(),
        "PILOTHOUSE_REDIS_URL": redis_url,
        "PILOTHOUSE_BRIDGE_MASTER_KEY": SECRET,
        "PILOTHOUSE_DATA": str(settings.ENV.data),
        **more,
    }
    command = [sys.executable, "-m", "celery", "-A", jobs, "worker", "--concurrency", "1"]
    command += ["--hostname", name] if name else []
    command += ["--queues", queues] if queues else []
    app.conf.update(task_always_eager=False)
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment}, start_new_session=True)
    try:
        yield process
    finally:
        app.conf.update(task_always_eager=True)
        process.terminate()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            worker_kill(process)


def worker_kill(process: "subprocess.Popen[bytes]") -> None:
    """End a worker and its child at once, wherever they are."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)
