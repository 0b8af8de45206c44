"""Asking everything the web app stands on whether it answers, each within a bound."""

import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLong
from typing import Any

import httpx
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db import connections as databases
from django.db.models import Count, Manager
from django.utils import timezone
from redis import Redis
from redis.exceptions import RedisError

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.episodes.models import Episode
from annotation_app.exports.models import Export
from annotation_app.health.schemas import Check, HealthPage
from annotation_app.tasks.models import Pool, Task

BOUND = 3.0
"""Seconds one check may take."""
HEARTBEAT = "health:heartbeat"
HEARTBEAT_EVERY = 30.0
LATE = 3 * HEARTBEAT_EVERY
"""So old a heartbeat says that the worker or the beat is gone (seconds)."""
LITTLE_ROOM = 0.05
"""Of a disk, free: below it pictures and exports soon find no room."""
LONG_QUEUE = 1_000
Answer = tuple[bool, str]


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _cache_answers() -> bool:
    try:
        cache.set("health", 1, 10)
    except RedisError:
        return False
    return True


def checks_run() -> dict[str, bool]:
    """What load balancers ask, each check by its name."""
    return {"database": _database_answers(), "redis": _cache_answers()}


def operator_check(user: User) -> None:
    """Raises Forbidden for who does not look after the platform."""
    role_check(user, Role.ADMIN)


def health_page(*, user: User) -> HealthPage:
    """Every process, queue, disk and model server, asked now. Raises Forbidden."""
    operator_check(user)
    return HealthPage(at=timezone.now(), checks=everything_checked())


def everything_checked() -> tuple[Check, ...]:
    """Each part by its name; all are asked at once."""
    parts: dict[str, Callable[[], Answer]] = {
        "database": _database,
        "redis": lambda: (_cache_answers(), ""),
        "worker": _worker,
        "queue": _queue,
        "disk": _disk,
        "bridge": lambda: _http(f"{settings.ENV.bridge_url}/healthz"),
        **{f"model {name}": _asking(f"{url}/models") for name, url in _models().items()},
    }
    with ThreadPoolExecutor(max_workers=len(parts)) as threads:
        asked = {name: threads.submit(_timed, part) for name, part in parts.items()}
        return tuple(_check(name, future.result) for name, future in asked.items())


def queue_length() -> int:
    """Jobs no worker has taken yet. Raises RedisError."""
    with Redis.from_url(settings.ENV.redis_url, socket_timeout=BOUND) as broker:
        return int(broker.llen("celery"))


def disk_free() -> tuple[int, int]:
    """Bytes free and in all where the data lies."""
    usage = shutil.disk_usage(settings.ENV.data)
    return usage.free, usage.total


def stock() -> tuple[tuple[str, str, str, dict[str, int]], ...]:
    """What is counted of what there is: a gauge's name, what it says, its label, and the label's values."""
    return (
        ("episodes", "Episodes by how they stand", "status", _counted(Episode.objects, "status")),
        ("tasks", "Tasks by whether they wait", "state", _counted(Task.objects, "state")),
        ("exports", "Exports by how they stand", "status", _counted(Export.objects, "status")),
        ("people", "Accounts by whether they may sign in", "active", _counted(User.objects, "is_active")),
        ("queue_jobs", "Jobs no worker has taken yet", "queue", _waiting()),
    )


def _waiting() -> dict[str, int]:
    """Nothing where the broker does not answer, which `pilothouse_up` says."""
    try:
        return {"celery": queue_length()}
    except RedisError:
        return {}


def _counted(rows: "Manager[Any]", column: str) -> dict[str, int]:
    found = rows.order_by().values_list(column).annotate(count=Count("pk"))
    return {str(value).lower(): count for value, count in found}


def _timed(part: Callable[[], Answer]) -> tuple[Answer, float]:
    began = time.monotonic()
    try:
        return part(), time.monotonic() - began
    finally:
        databases.close_all()


def _check(name: str, result: Callable[[float], tuple[Answer, float]]) -> Check:
    try:
        (ok, detail), seconds = result(2 * BOUND)
    except (TooLong, DatabaseError, RedisError, OSError, httpx.HTTPError) as error:
        return Check(name=name, ok=False, detail=type(error).__name__, seconds=BOUND)
    return Check(name=name, ok=ok, detail=detail, seconds=round(seconds, 3))


def _database() -> Answer:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        (size,) = cursor.fetchone()
    return True, f"{size} bytes"


def _worker() -> Answer:
    """The beat queues a heartbeat that the worker writes: a late one says that one of them is gone."""
    at = cache.get(HEARTBEAT)
    if at is None:
        return False, "no heartbeat"
    age = time.time() - at
    return age < LATE, f"heartbeat {age:.0f} s ago"


def _queue() -> Answer:
    length = queue_length()
    return length < LONG_QUEUE, f"{length} waiting"


def _disk() -> Answer:
    free, total = disk_free()
    return free / total > LITTLE_ROOM, f"{free} of {total} bytes free"


def _http(url: str) -> Answer:
    response = httpx.get(url, timeout=BOUND, trust_env=False)
    return response.status_code < httpx.codes.INTERNAL_SERVER_ERROR, f"HTTP {response.status_code}"


def _asking(url: str) -> Callable[[], Answer]:
    return lambda: _http(url)


def _models() -> dict[str, str]:
    """The servers of the policies that propose in some pool now."""
    pools = Pool.objects.filter(policy__isnull=False).select_related("policy")
    return {f"{pool.policy.name} {pool.policy.revision}": pool.policy.base_url for pool in pools if pool.policy}
