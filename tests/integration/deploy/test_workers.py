"""Celery workers of two hosts over one Redis, PostgreSQL and data folder: both work, and one follows the other."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from django.db import connection, transaction
from django.utils import timezone

from annotation_app.catalogue.services import entries_refresh
from annotation_app.celery import app
from annotation_app.episodes.models import Step
from annotation_app.exports.jobs import export_write_job, exports_requeue_job
from annotation_app.exports.models import Export
from annotation_app.exports.schemas import ExportFilters
from annotation_app.exports.selectors import export_folder
from annotation_app.exports.services import export_request
from annotation_app.heartbeats import LOST_AFTER
from annotation_app.notifications.models import Notice
from protocol.trajectory.export_folders import MANIFEST, TRAJECTORIES, UNFINISHED_SUFFIX
from tests.integration.web.celery_workers import worker_kill, worker_running
from tests.integration.web.conftest import World
from tests.integration.web.flywheel.flywheel_helpers import import_attempts
from tests.waiting import wait_until

FIRST, SECOND = "exports@host-a.example", "exports@host-b.example"
PATIENCE = 200.0
"""Seconds workers may take to begin and to answer on a busy machine."""


@pytest.fixture
def send(redis_url: str) -> Iterator[Callable[..., None]]:
    """Queues a job for whichever worker comes first."""
    with app.connection_for_write(redis_url) as broker:
        yield lambda job, *words: job.apply_async(words, connection=broker)


@pytest.fixture
def inspect_worker(redis_url: str) -> Iterator[Callable[[str, str], Any]]:
    """What the worker of a name says of itself; None while it does not answer."""
    with Celery("asking", broker=redis_url, set_as_current=False) as asking:

        def ask(name: str, what: str) -> Any:
            looking = asking.control.inspect([name], timeout=10, limit=1)
            return (getattr(looking, what)() or {}).get(name)

        yield ask


@contextmanager
def steps_withheld() -> Iterator[None]:
    """Nobody reads what an export is made of, so that whoever writes one stays in the middle of it."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {Step._meta.db_table} IN ACCESS EXCLUSIVE MODE")
        yield


def states() -> list[tuple[str, int]]:
    return list(Export.objects.order_by("status", "attempts").values_list("status", "attempts"))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_hosts_share_the_work_and_what_one_dies_at_the_other_does_once(
    committed: World,
    data: Path,
    redis_url: str,
    settings: Any,
    tmp_path_factory: pytest.TempPathFactory,
    send: Callable[..., None],
    inspect_worker: Callable[[str, str], Any],
) -> None:
    import_attempts(tmp_path_factory.mktemp("attempts") / "first", {1: True, 2: False, 3: True})
    entries_refresh()
    with (
        worker_running(redis_url, settings, FIRST) as first,
        worker_running(redis_url, settings, SECOND),
    ):
        for name in (FIRST, SECOND):
            wait_until(lambda: inspect_worker(name, "ping"), limit=PATIENCE)  # noqa: B023
        exports = [export_request(user=committed.ravi, pool_id=None, filters=ExportFilters(review=None)) for _ in "ab"]
        with steps_withheld():
            for export in exports:
                send(export_write_job, str(export.pk))
            wait_until(lambda: states() == [("running", 1), ("running", 1)], limit=PATIENCE)
            at = {name: [job["args"] for job in inspect_worker(name, "active")] for name in (FIRST, SECOND)}
            assert sorted(at.values()) == sorted([[str(export.pk)]] for export in exports), "each host has one of them"
            ((lost,),) = at[FIRST]
            folder = export_folder(Export.objects.get(pk=lost).id)
            wait_until(folder.with_name(folder.name + UNFINISHED_SUFFIX).is_dir, limit=PATIENCE)
            worker_kill(first)
        wait_until(lambda: states() == [("done", 1), ("running", 1)], limit=PATIENCE)
        assert not folder.exists()

        Export.objects.filter(pk=lost).update(heard_at=timezone.now() + LOST_AFTER)  # as if it still beat
        send(exports_requeue_job)
        send(export_write_job, lost)  # as Redis does an hour after its worker died
        wait_until(
            lambda: jobs_of_worker(inspect_worker, SECOND) == {"exports.write": 2, "exports.again": 1}, limit=PATIENCE
        )
        wait_until(lambda: inspect_worker(SECOND, "active") == [], limit=PATIENCE)
        assert states() == [("done", 1), ("running", 1)], "nobody takes it up while it beats"

        Export.objects.filter(pk=lost).update(heard_at=timezone.now() - LOST_AFTER)
        send(exports_requeue_job)
        wait_until(lambda: states() == [("done", 1), ("done", 2)], limit=PATIENCE)
        manifest = (folder / MANIFEST).stat()
        send(exports_requeue_job)
        send(export_write_job, lost)
        wait_until(
            lambda: jobs_of_worker(inspect_worker, SECOND) == {"exports.write": 4, "exports.again": 3}, limit=PATIENCE
        )
        wait_until(lambda: inspect_worker(SECOND, "active") == [], limit=PATIENCE)
    assert states() == [("done", 1), ("done", 2)]
    assert (folder / MANIFEST).stat() == manifest, "once and never again"
    for export in exports:
        whole = export_folder(export.pk)
        assert len((whole / TRAJECTORIES).read_text().splitlines()) == 3
        assert not whole.with_name(whole.name + UNFINISHED_SUFFIX).exists()
        assert Notice.objects.filter(subject=f"export:{export.pk}", kind="export.finished").count() == 1


def jobs_of_worker(inspect_worker: Callable[[str, str], Any], name: str) -> dict[str, int]:
    """Which jobs a worker was given since it began, and how many of each."""
    told: dict[str, int] = (inspect_worker(name, "stats") or {}).get("total", {})
    return told
