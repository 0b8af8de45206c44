"""Asking each part whether it works, all at once and each within a bound."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLong
from datetime import datetime
from shutil import disk_usage
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

import httpx
from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db import connections as databases
from django.utils import timezone
from redis import Redis
from redis.exceptions import RedisError

from annotation_app.celery import QUEUED_HEADER
from annotation_app.errors import ApplicationError
from annotation_app.fleet.services import hosts_now
from annotation_app.health import checks, history
from annotation_app.health.checks import Answer, Queue
from annotation_app.health.schemas import CheckKind
from annotation_app.policies.api_keys import api_key_for
from annotation_app.public_urls import public_url
from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE, training_worker_alive

BOUND = 3.0
"""Seconds one check may take."""
HEARTBEAT = "health:heartbeat"
BACKUP = "last-backup.json"
"""Left in the data folder by `./pilothouse backup`."""
T = TypeVar("T")
FAILURES = (DatabaseError, RedisError, OSError, httpx.HTTPError, ApplicationError)


class Asked(NamedTuple):
    """A part, and what it answered."""

    name: str
    kind: CheckKind
    subject: str
    answer: Answer
    seconds: float


class Part(NamedTuple):
    """One thing that is asked; `subject` says which of its kind."""

    kind: CheckKind
    ask: Callable[[], Answer]
    subject: str = ""

    @property
    def name(self) -> str:
        """What it is called in a list of all."""
        return f"{self.kind} {self.subject}".rstrip()


def together(models: dict[str, tuple[str, bool]], *, trains: bool) -> tuple[Asked, ...]:
    """Everything, asked at once: the parts there always are, these model servers, the hosts the bridge knows, and where
    wheels turn (`trains`) who trains."""
    parts = (
        Part("web", Answer),
        Part("worker", lambda: checks.worker_of(_heartbeat(), queue_now())),
        Part("beat", lambda: checks.beat_of(_heartbeat(), queue_now())),
        Part("bridge", lambda: _http(f"{settings.ENV.bridge_url}/healthz")),
        Part("gateway", _gateway),
        Part("database", _database),
        Part("redis", _redis),
        Part("queue", lambda: checks.queue_of(queue_now())),
        Part("disk", _disk),
        Part("backup", _backup),
        *(
            (Part("trainer", lambda: checks.trainer_of(training_worker_alive(), queue_now(TRAINING_QUEUE))),)
            if trains
            else ()
        ),
        *(Part("model", _model(url, scripted), name) for name, (url, scripted) in models.items()),
    )
    with ThreadPoolExecutor(max_workers=len(parts) + 1) as threads:
        hosts = threads.submit(_timed, _hosts)
        asked = [(part, threads.submit(_timed, part.ask)) for part in parts]
        return (*(_asked(part, answer) for part, answer in asked), *_hosts_asked(hosts))


def queue_now(name: str = DEFAULT_QUEUE) -> Queue:
    """Jobs of a queue that no worker has taken yet; new ones stand at the front of the list. Raises RedisError."""
    with Redis.from_url(settings.ENV.redis_url, socket_timeout=BOUND) as broker, broker.pipeline() as asked:
        length, newest, oldest = asked.llen(name).lindex(name, 0).lindex(name, -1).execute()
    return Queue(int(length), _age(oldest), _age(newest))


def _age(message: bytes | None) -> float | None:
    """For how long a job has waited; None where it does not say when it was queued."""
    try:
        queued = json.loads(message or b"")["headers"][QUEUED_HEADER]
        return max(0.0, time.time() - float(queued))
    except (ValueError, KeyError, TypeError):
        return None


def _timed(ask: Callable[[], T]) -> tuple[T, float]:
    began = time.monotonic()
    try:
        return ask(), round(time.monotonic() - began, 3)
    finally:
        databases.close_all()


def _asked(part: Part, future: Future[tuple[Answer, float]]) -> Asked:
    try:
        answer, seconds = future.result(2 * BOUND)
    except (TooLong, httpx.TimeoutException):
        answer, seconds = Answer("down", "too_slow"), BOUND
    except FAILURES as error:
        answer, seconds = Answer("down", "unreachable", type(error).__name__), BOUND
    return Asked(part.name, part.kind, part.subject, answer, seconds)


def _hosts_asked(future: Future[tuple[dict[str, Answer], float]]) -> Iterator[Asked]:
    """Nothing where the bridge does not say, which its own check tells."""
    try:
        hosts, seconds = future.result(2 * BOUND)
    except (TooLong, *FAILURES):
        return
    for name, answer in hosts.items():
        yield Asked(f"host {name}", "host", name, answer, seconds)


def _heartbeat() -> float | None:
    at = cache.get(HEARTBEAT)
    return None if at is None else max(0.0, time.time() - at)


def _database() -> Answer:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_database_size(current_database()), (SELECT count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend'), current_setting('max_connections')::int"
        )
        size, connections, most = cursor.fetchone()
    return checks.database_of(size, connections, most)


def _redis() -> Answer:
    with Redis.from_url(settings.ENV.redis_url, socket_timeout=BOUND) as redis:
        memory, user = redis.info("memory"), str(redis.acl_whoami())
    return checks.redis_of(int(memory["used_memory"]), int(memory.get("maxmemory", 0)), user)


def _disk() -> Answer:
    usage, now = disk_usage(settings.ENV.data), time.time()
    try:
        growth = history.growth(history.disk_note(now, usage.used), now, usage.used)
    except RedisError:
        growth = None
    return checks.disk_of(usage.free, usage.total, growth)


def _backup() -> Answer:
    """What the last backup left in the data folder; one that cannot be read is none."""
    try:
        said = json.loads((settings.ENV.data / BACKUP).read_text())
        age = (timezone.now() - datetime.fromisoformat(said["created_at"])).total_seconds()
        return checks.backup_of(max(0.0, age), int(said["bytes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return checks.backup_of(None, 0)


def _gateway() -> Answer:
    """Whether the places viewers are sent to take connections; where these are behind a proxy they may not be reached
    from here, so it is no failure."""
    name, pattern = urlsplit(settings.ENV.bridge_url).hostname or "localhost", settings.ENV.vnc_public_url
    bridges = [host.id for host in hosts_now(within=BOUND)] if "{bridge}" in pattern else [""]
    answers = [_listens(public_url(pattern, host=name, bridge=bridge), name) for bridge in bridges]
    return next((answer for answer in answers if answer.state != "ok"), Answer())


def _listens(url: str, bridge: str) -> Answer:
    address = urlsplit(url)
    port = address.port or (443 if address.scheme == "wss" else 80)
    try:
        with socket.create_connection((address.hostname or bridge, port), BOUND):
            return Answer()
    except OSError as error:
        return Answer("warn", "unreachable", type(error).__name__)


def _http(url: str, headers: dict[str, str] | None = None) -> Answer:
    response = httpx.get(url, timeout=BOUND, trust_env=False, headers=headers)
    said = f"HTTP {response.status_code}"
    if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        return Answer("down", "unreachable", said)
    if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        return Answer("warn", "refused", said)
    return Answer(detail=said)


def _model(url: str, scripted: bool) -> Callable[[], Answer]:
    key = "" if scripted else api_key_for(url)
    return lambda: _http(f"{url.rstrip('/')}/models", {"Authorization": f"Bearer {key}"} if key else None)


def _hosts() -> dict[str, Answer]:
    now = timezone.now()
    return {
        host.id: checks.host_of((now - host.last_seen).total_seconds(), host.machines, host.capacity, host.draining)
        for host in hosts_now(within=BOUND)
    }
