"""A running job says that its worker lives; one whose worker died is taken up again."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation_app import heartbeats
from annotation_app.exports.jobs import exports_requeue_job
from annotation_app.exports.models import Export
from annotation_app.heartbeats import DEAD_AFTER, LOST_AFTER, abandoned_jobs, heartbeat
from tests.integration.web.conftest import World
from tests.waiting import wait_until

PAST = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(heartbeats, "BEAT_SECONDS", 0.01)
    yield
    connection.close()


def running(world: World, status: str = "running") -> Export:
    return Export.objects.create(
        filters={}, requested_by=world.ravi, status=status, heard_at=timezone.now() - PAST, attempts=1
    )


def silent_for(export: Export) -> timedelta:
    export.refresh_from_db()
    return timezone.now() - export.heard_at


def test_a_job_beats_while_its_worker_has_it(committed: World) -> None:
    export = running(committed)
    with heartbeat(Export.objects.filter(pk=export.pk, status="running", attempts=1)):
        wait_until(lambda: silent_for(export) < DEAD_AFTER)
        exports_requeue_job()
        export.refresh_from_db()
        assert export.status == "running", "it is left to its worker"


def test_a_job_that_another_worker_took_up_is_not_kept_alive_by_the_first(committed: World) -> None:
    mine, other = running(committed), running(committed)
    Export.objects.filter(pk=mine.pk).update(attempts=2)
    with (
        heartbeat(Export.objects.filter(pk=mine.pk, status="running", attempts=1)),
        heartbeat(Export.objects.filter(pk=other.pk, status="running", attempts=1)),
    ):
        wait_until(lambda: silent_for(other) < DEAD_AFTER)
    assert silent_for(mine) >= PAST


def test_nothing_is_written_once_the_job_has_ended(committed: World) -> None:
    export = running(committed)
    with heartbeat(Export.objects.filter(pk=export.pk)):
        wait_until(lambda: silent_for(export) < DEAD_AFTER)
    Export.objects.filter(pk=export.pk).update(heard_at=timezone.now() - PAST)
    assert silent_for(export) >= PAST


@pytest.mark.parametrize(
    ("status", "silent", "found"),
    [
        ("running", DEAD_AFTER / 2, False),
        ("running", DEAD_AFTER * 2, True),
        ("queued", DEAD_AFTER * 2, False),
        ("queued", LOST_AFTER * 2, True),
        ("done", PAST, False),
    ],
)
def test_the_dead_are_told_from_those_that_wait(world: World, status: str, silent: timedelta, found: bool) -> None:
    export = running(world, status)
    Export.objects.filter(pk=export.pk).update(heard_at=timezone.now() - silent)
    assert abandoned_jobs(Export.objects.all()).exists() is found
