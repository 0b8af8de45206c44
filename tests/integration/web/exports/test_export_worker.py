"""A real Celery worker takes an export from Redis and writes it."""

from collections.abc import Iterator
from typing import Any

import pytest

from annotation_app.celery import app
from annotation_app.exports import selectors
from annotation_app.exports.jobs import export_write_job
from annotation_app.exports.models import Export
from tests.integration.web.celery_workers import worker_running
from tests.integration.web.conftest import World
from tests.waiting import wait_until


@pytest.fixture
def worker(committed: World, redis_url: str, settings: Any) -> Iterator[None]:
    with worker_running(redis_url, settings):
        yield


@pytest.mark.slow
@pytest.mark.usefixtures("worker")
def test_an_export_is_written_by_a_worker(committed: World, redis_url: str) -> None:
    export = Export.objects.create(filters={}, requested_by=committed.ravi)
    with app.connection_for_write(redis_url) as connection:
        export_write_job.apply_async((str(export.id),), connection=connection)  # type: ignore[call-arg]  # the stubs lack it
    wait_until(lambda: Export.objects.get(pk=export.pk).status in ("done", "failed"), limit=60)
    assert Export.objects.get(pk=export.pk).status == "done"
    assert (selectors.export_folder(export.id) / "manifest.json").is_file()
