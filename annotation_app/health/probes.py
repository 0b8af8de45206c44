"""Asking each part whether it works, all at once and each within a bound."""

import json
import socket
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLong
from datetime import datetime
from functools import partial
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
from annotation_app.fleet.services import hosts_now, missing_images
from annotation_app.health import history, part_status
from annotation_app.health.part_status import PartStatus, QueueStatus
from annotation_app.health.schemas import CheckKind
from annotation_app.health.uptime import uptime_seconds
from annotation_app.live.missing_suites import missing_suites
from annotation_app.policies.api_keys import api_key_for
from annotation_app.probes.runs import picture_problem
from annotation_app.public_urls import public_url
from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE, training_worker_alive

PROBE_TIMEOUT_SECONDS = 3.0
"""Seconds one check may take."""
PICTURE_TIMEOUT_SECONDS = 5.0
"""Seconds in which a model has to say one token about a picture; a busy one may take longer, which is a warning."""
HEARTBEAT_KEY = "health:heartbeat"
LAST_BACKUP_NAME = "last-backup.json"
"""Left in the data folder by `./pilothouse backup`."""
T = TypeVar("T")
FleetStatuses = tuple[tuple[CheckKind, str, PartStatus], ...]
"""What is said of hosts, images and suites, each by its kind and name."""
PROBE_ERRORS = (DatabaseError, RedisError, OSError, httpx.HTTPError, ApplicationError)


class ModelServer(NamedTuple):
    """A server that is asked for; a judge's has no dialect and is not shown a picture. `model` is empty where the
    server's list of models says nothing of it, as for hosted models."""

    base_url: str
    scripted: bool
    model: str = ""
    dialect: str = ""


class ProbeResult(NamedTuple):
    """A part, and what it answered."""

    name: str
    kind: CheckKind
    subject: str
    status: PartStatus
    seconds: float


class Probe(NamedTuple):
    """One thing that is asked; `subject` says which of its kind."""

    kind: CheckKind
    run: Callable[[], PartStatus]
    subject: str = ""

    @property
    def name(self) -> str:
        """What it is called in a list of all."""
        return f"{self.kind} {self.subject}".rstrip()


def run_probes(models: dict[str, ModelServer], *, with_trainer: bool) -> tuple[ProbeResult, ...]:
    """Everything, asked at once: the parts there always are, these model servers, the hosts the bridge knows, and where
    wheels turn (`trains`) who trains."""
    parts = (
        Probe("web", PartStatus),
        Probe("worker", lambda: part_status.worker_status(_heartbeat(), queue_status())),
        Probe("beat", lambda: part_status.beat_status(_heartbeat(), queue_status())),
        Probe("bridge", lambda: _http_status(_fetch(f"{settings.ENV.bridge_url}/healthz"))),
        Probe("gateway", _gateway),
        Probe("database", _database),
        Probe("redis", _redis),
        Probe("queue", lambda: part_status.queue_length_status(queue_status())),
        Probe("disk", _disk),
        Probe("backup", _backup),
        *(
            (
                Probe(
                    "trainer", lambda: part_status.trainer_status(training_worker_alive(), queue_status(TRAINING_QUEUE))
                ),
            )
            if with_trainer
            else ()
        ),
        *(Probe("model", partial(_model_status, server), name) for name, server in models.items()),
    )
    with ThreadPoolExecutor(max_workers=len(parts) + 1) as threads:
        hosts = threads.submit(_timed_call, _fleet_statuses)
        results = [(part, threads.submit(_timed_call, part.run)) for part in parts]
        silent = _silent_parts()
        found = (_probe_result(part, status, silent) for part, status in results)
        return (*found, *_host_results(hosts, silent))


def probe_model_server(server: ModelServer) -> PartStatus:
    """Whether one server works."""
    with ThreadPoolExecutor(max_workers=1) as threads:
        status = threads.submit(_timed_call, partial(_model_status, server))
        return _probe_result(Probe("model", PartStatus), status).status


def queue_status(name: str = DEFAULT_QUEUE) -> QueueStatus:
    """Jobs of a queue that no worker has taken yet; new ones stand at the front of the list. Raises RedisError."""
    with (
        Redis.from_url(settings.ENV.redis_url, socket_timeout=PROBE_TIMEOUT_SECONDS) as broker,
        broker.pipeline() as results,
    ):
        length, newest, oldest = results.llen(name).lindex(name, 0).lindex(name, -1).execute()
    return QueueStatus(int(length), _age(oldest), _age(newest))


def _age(message: bytes | None) -> float | None:
    """For how long a job has waited; None where it does not say when it was queued."""
    try:
        queued = json.loads(message or b"")["headers"][QUEUED_HEADER]
        return max(0.0, time.time() - float(queued))
    except (ValueError, KeyError, TypeError):
        return None


def _timed_call(run: Callable[[], T]) -> tuple[T, float]:
    began = time.monotonic()
    try:
        return run(), round(time.monotonic() - began, 3)
    finally:
        databases.close_all()


def _silent_parts() -> frozenset[str]:
    """No part where Redis does not answer, which its own check tells."""
    try:
        return history.silent_parts()
    except RedisError:
        return frozenset()


def _probe_result(
    part: Probe, future: Future[tuple[PartStatus, float]], silent_before: frozenset[str] = frozenset()
) -> ProbeResult:
    try:
        status, seconds = future.result(2 * PROBE_TIMEOUT_SECONDS)
    except (TooLong, httpx.TimeoutException):
        status, seconds = PartStatus("down", "too_slow"), PROBE_TIMEOUT_SECONDS
    except PROBE_ERRORS as error:
        status, seconds = PartStatus("down", "unreachable", type(error).__name__), PROBE_TIMEOUT_SECONDS
    status = part_status.status_since_start(status, uptime_seconds(), silent_before=part.name in silent_before)
    return ProbeResult(part.name, part.kind, part.subject, status, seconds)


def _host_results(future: Future[tuple[FleetStatuses, float]], silent_before: frozenset[str]) -> Iterator[ProbeResult]:
    """Nothing where the bridge does not say, which its own check tells."""
    try:
        hosts, seconds = future.result(2 * PROBE_TIMEOUT_SECONDS)
    except (TooLong, *PROBE_ERRORS):
        return
    uptime = uptime_seconds()
    for kind, subject, found in hosts:
        name = f"{kind} {subject}"
        status = part_status.status_since_start(found, uptime, silent_before=name in silent_before)
        yield ProbeResult(name, kind, subject, status, seconds)


def _heartbeat() -> float | None:
    at = cache.get(HEARTBEAT_KEY)
    return None if at is None else max(0.0, time.time() - at)


def _database() -> PartStatus:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_database_size(current_database()), (SELECT count(*) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend'), current_setting('max_connections')::int"
        )
        size, connections, most = cursor.fetchone()
    return part_status.database_status(size, connections, most)


def _redis() -> PartStatus:
    with Redis.from_url(settings.ENV.redis_url, socket_timeout=PROBE_TIMEOUT_SECONDS) as redis:
        memory, user = redis.info("memory"), str(redis.acl_whoami())
    return part_status.redis_status(int(memory["used_memory"]), int(memory.get("maxmemory", 0)), user)


def _disk() -> PartStatus:
    usage, now = disk_usage(settings.ENV.data), time.time()
    try:
        growth = history.disk_growth(history.record_disk_usage(now, usage.used), now, usage.used)
    except RedisError:
        growth = None
    return part_status.disk_status(usage.free, usage.total, growth)


def _backup() -> PartStatus:
    """What the last backup left in the data folder; one that cannot be read is none."""
    try:
        detail = json.loads((settings.ENV.data / LAST_BACKUP_NAME).read_text())
        age = (timezone.now() - datetime.fromisoformat(detail["created_at"])).total_seconds()
        return part_status.backup_status(max(0.0, age), int(detail["bytes"]))
    except (OSError, ValueError, KeyError, TypeError):
        return part_status.backup_status(None, 0)


def _gateway() -> PartStatus:
    """Whether the places viewers are sent to take connections; where these are behind a proxy they may not be reached
    from here, so it is no failure."""
    name, pattern = urlsplit(settings.ENV.bridge_url).hostname or "localhost", settings.ENV.vnc_public_url
    bridges = [host.id for host in hosts_now(within=PROBE_TIMEOUT_SECONDS)] if "{bridge}" in pattern else [""]
    statuses = [_accepts_connection(public_url(pattern, host=name, bridge=bridge), name) for bridge in bridges]
    return next((status for status in statuses if status.state != "ok"), PartStatus())


def _accepts_connection(url: str, bridge: str) -> PartStatus:
    address = urlsplit(url)
    port = address.port or (443 if address.scheme == "wss" else 80)
    try:
        with socket.create_connection((address.hostname or bridge, port), PROBE_TIMEOUT_SECONDS):
            return PartStatus()
    except OSError as error:
        return PartStatus("warn", "unreachable", type(error).__name__)


def _served_models(response: httpx.Response) -> frozenset[str]:
    """The models that a server lists, with those that its adapters (`root`) begin from; none where it does not say."""
    try:
        listed = response.json()["data"]
        return frozenset(str(each[name]) for each in listed for name in ("id", "root") if each.get(name))
    except (ValueError, KeyError, TypeError, AttributeError):
        return frozenset()


def _fetch(url: str, headers: dict[str, str] | None = None) -> httpx.Response:
    return httpx.get(url, timeout=PROBE_TIMEOUT_SECONDS, trust_env=False, headers=headers)


def _http_status(response: httpx.Response) -> PartStatus:
    detail = f"HTTP {response.status_code}"
    if response.status_code >= httpx.codes.INTERNAL_SERVER_ERROR:
        return PartStatus("down", "unreachable", detail)
    if response.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        return PartStatus("warn", "refused", detail)
    return PartStatus(detail=detail)


def _model_status(server: ModelServer) -> PartStatus:
    """Whether a server is there, and where it serves a policy, whether it answers a picture."""
    key = "" if server.scripted else api_key_for(server.base_url)
    headers = {"Authorization": f"Bearer {key}"} if key else None
    response = _fetch(f"{server.base_url.rstrip('/')}/models", headers)
    status = _http_status(response)
    if status.state == "ok" and server.model and (served := _served_models(response)) and server.model not in served:
        return PartStatus("down", "no_model", f"{server.model}; it has {', '.join(sorted(served))}"[:300])
    if status.state != "ok" or server.scripted or not server.dialect:
        return status
    try:
        problem = picture_problem(
            server.base_url, server.model, server.dialect, timeout_seconds=PICTURE_TIMEOUT_SECONDS
        )
    except TimeoutError:
        return PartStatus("warn", "too_slow")
    return PartStatus("down", "no_answer", problem[:300]) if problem else status


def _fleet_statuses() -> FleetStatuses:
    """Every host, and every image and suite for which tasks wait and that are not there."""
    hosts = hosts_now(within=PROBE_TIMEOUT_SECONDS)
    missing = missing_images(hosts, waiting=True)
    now = timezone.now()
    statuses: list[tuple[CheckKind, str, PartStatus]] = [
        (
            "host",
            host.id,
            part_status.host_status(
                (now - host.last_seen).total_seconds(),
                host.machines,
                host.capacity,
                host.draining,
                browser_age=None if host.browser_built is None else (now - host.browser_built).total_seconds(),
                warnings=host.warnings,
            ),
        )
        for host in hosts
    ]
    statuses += [("image", one.image, PartStatus("down", "no_host", ", ".join(one.pools)[:300])) for one in missing]
    waiting: defaultdict[str, list[str]] = defaultdict(list)
    for each in missing_suites():
        waiting[each.name].append(each.pool_name)
    statuses += [
        ("suite", name, PartStatus("warn", "no_suite", ", ".join(pools)[:300])) for name, pools in waiting.items()
    ]
    return tuple(statuses)
