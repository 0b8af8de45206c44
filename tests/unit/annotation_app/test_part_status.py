"""What the answers of the parts mean, without any of them."""

import pytest

from annotation_app.health.history import DAY_SECONDS, MIN_SPAN_SECONDS, disk_growth
from annotation_app.health.part_status import (
    DISK_FULL_BYTES,
    HEARTBEAT_TIMEOUT_SECONDS,
    QueueStatus,
    backup_status,
    beat_status,
    disk_status,
    host_status,
    queue_length_status,
    redis_status,
    status_since_start,
    trainer_status,
    worker_status,
)

EMPTY = QueueStatus(0, None, None)
GIB = 2**30


@pytest.mark.parametrize(
    ("heartbeat", "queue", "worker", "beat"),
    [
        (1.0, EMPTY, "ok", "ok"),
        (1.0, QueueStatus(5, 400.0, 300.0), "ok", "ok"),
        (HEARTBEAT_TIMEOUT_SECONDS, QueueStatus(5, 200.0, 10.0), "down", "ok"),
        (HEARTBEAT_TIMEOUT_SECONDS, QueueStatus(5, 900.0, 300.0), "down", "down"),
        (HEARTBEAT_TIMEOUT_SECONDS, EMPTY, "warn", "down"),
        (None, EMPTY, "warn", "down"),
        (None, QueueStatus(1, 1.0, 1.0), "down", "ok"),
    ],
)
def test_a_late_heartbeat_is_the_beats_where_nothing_comes_and_the_workers_where_nothing_goes(
    heartbeat: float | None, queue: QueueStatus, worker: str, beat: str
) -> None:
    assert (worker_status(heartbeat, queue).state, beat_status(heartbeat, queue).state) == (worker, beat)


@pytest.mark.parametrize(
    ("uptime", "status"), [(0.0, ("warn", "starting")), (HEARTBEAT_TIMEOUT_SECONDS, ("down", "no_heartbeat"))]
)
def test_a_part_that_has_not_reported_since_the_start_is_starting_for_its_interval(
    uptime: float, status: tuple[str, str]
) -> None:
    assert status_since_start(beat_status(None, EMPTY), uptime)[:2] == status
    assert status_since_start(disk_status(0, GIB, None), uptime).problem == "disk_full", "it is asked, and answers"


def test_a_part_that_was_silent_before_the_start_is_not_starting() -> None:
    silent = beat_status(1_000.0, EMPTY)
    assert status_since_start(silent, 0.0, silent_before=True) == silent


def test_who_trains_may_be_busy_for_long_and_is_missed_where_a_turn_waits() -> None:
    waits = QueueStatus(1, 900.0, 900.0)
    assert [trainer_status(heard, queue).state for heard in (True, False) for queue in (EMPTY, waits)] == [
        *("ok", "ok", "warn", "down")
    ]


def test_a_disk_is_told_of_before_it_is_full() -> None:
    assert disk_status(500 * GIB, 1_000 * GIB, None).state == "ok"
    assert disk_status(100 * GIB, 1_000 * GIB, None).problem == "disk_filling"
    assert disk_status(50 * GIB, 1_000 * GIB, None).problem == "disk_full"
    filling = disk_status(500 * GIB, 1_000 * GIB, 250.0 * GIB)
    assert (filling.problem, filling.figures["days"]) == ("disk_filling", 2.0)
    assert "days" not in disk_status(500 * GIB, 1_000 * GIB, -250.0 * GIB).figures


def test_a_small_disk_is_told_of_before_it_is_full_too() -> None:
    assert disk_status(GIB, 2 * GIB, None).state == "ok"
    assert disk_status(DISK_FULL_BYTES, GIB, None).problem == "disk_filling"
    assert disk_status(DISK_FULL_BYTES - 1, GIB, None).problem == "disk_full"


def test_growth_is_by_the_day_and_said_only_when_enough_is_known() -> None:
    assert disk_growth((), 0.0, 10) is None
    assert disk_growth(((0.0, 10),), MIN_SPAN_SECONDS - 1, 20) is None
    assert disk_growth(((0.0, 10),), DAY_SECONDS / 2, 20) == 20.0


def test_other_parts() -> None:
    assert queue_length_status(QueueStatus(2_000, 1.0, 1.0)).problem == "queue_long"
    assert queue_length_status(QueueStatus(1, 301.0, 1.0)).problem == "queue_old"
    assert (redis_status(95, 100, "platform").problem, redis_status(95, 0, "platform").state) == ("memory_short", "ok")
    shared = redis_status(5, 0, "default")
    assert (shared.state, shared.problem) == ("warn", "redis_shared")
    assert [backup_status(age, 1).problem for age in (None, 10.0, 8 * DAY_SECONDS)] == ["no_backup", None, "backup_old"]
    assert [
        host_status(age, 1, 2, draining).state
        for age, draining in ((0.0, False), (0.0, True), (HEARTBEAT_TIMEOUT_SECONDS, False))
    ] == [*("ok", "warn", "down")]
    of_browsers = [host_status(0.0, 1, 2, False, browser_age=days * DAY_SECONDS) for days in (6, 46)]
    assert [status.problem for status in of_browsers] == [None, "browser_old"]
    assert of_browsers[0].figures["browser_age"] == 6 * DAY_SECONDS
    shared_host = host_status(0.0, 1, 2, False, warnings=("secret_shared", "redis_shared"))
    assert (shared_host.state, shared_host.problem) == ("warn", "secret_shared")
