"""A real Celery worker takes an export from Redis and writes it."""

import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from annotation_app.celery import app
from annotation_app.exports import selectors
from annotation_app.exports.jobs import export_write_job
from annotation_app.exports.models import Export
from annotation_app.settings.base import ROOT
from tests.integration.web.conftest import SECRET, World, database_url
from tests.waiting import wait_until


@pytest.fixture
def worker(committed: World, redis_url: str, settings: Any) -> Iterator[None]:
    """A worker process on the test's own database, and a client that sends to it."""
    app.conf.update(task_always_eager=False)
    environment = {
        "DJANGO_SETTINGS_MODULE": "annotation_app.settings.local",
        "PILOTHOUSE_DATABASE_URL": database_url(),
        "PILOTHOUSE_REDIS_URL": redis_url,
        "PILOTHOUSE_SECRET": SECRET,
        "PILOTHOUSE_DATA": str(settings.ENV.data),
    }
    command = [sys.executable, "-m", "celery", "-A", "annotation_app", "worker", "--concurrency", "1"]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **environment})
    yield
    process.terminate()
    process.wait(30)
    app.conf.update(task_always_eager=True)


@pytest.mark.slow
@pytest.mark.usefixtures("worker")
def test_an_export_is_written_by_a_worker(committed: World, redis_url: str) -> None:
    export = Export.objects.create(filters={}, requested_by=committed.ravi)
    with app.connection_for_write(redis_url) as connection:
        export_write_job.apply_async((str(export.id),), connection=connection)  # type: ignore[call-arg]  # the stubs lack it
    wait_until(lambda: Export.objects.get(pk=export.pk).status in ("done", "failed"), limit=60)
    assert Export.objects.get(pk=export.pk).status == "done"
    assert (selectors.export_folder(export.id) / "manifest.json").is_file()
