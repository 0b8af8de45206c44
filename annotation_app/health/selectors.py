"""What is told of the platform: yes and no for load balancers, every part for admins, figures for Prometheus."""

import shutil
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Count, Manager, Q
from django.utils import timezone
from pydantic import ValidationError
from redis.exceptions import RedisError

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.blobs.models import Blob
from annotation_app.blobs.selectors import blob_size
from annotation_app.episodes.models import Episode
from annotation_app.episodes.selectors.trajectories import episode_trajectory
from annotation_app.errors import NotFound
from annotation_app.exports.models import Export
from annotation_app.flywheel.models import Wheel
from annotation_app.health import history
from annotation_app.health.part_status import DISK_FULL_BYTES
from annotation_app.health.probes import ModelServer, ProbeResult, probe_model_server, queue_status, run_probes
from annotation_app.health.schemas import Check, DataReport, HealthPage, ModelServerStatus
from annotation_app.judges.models import PoolJudge
from annotation_app.policies.expert import EXPERT_URL
from annotation_app.policies.models import PolicyRevision
from annotation_app.queues import DEFAULT_QUEUE, TRAINING_QUEUE
from annotation_app.tasks.models import Pool, Task

MAX_REPORTED_FAULTS = 100
"""Faults that are named."""


def _database_responds() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return False
    return True


def _cache_responds() -> bool:
    try:
        cache.set("health", 1, 10)
    except RedisError:
        return False
    return True


def _disk_has_room() -> bool:
    """Whether pictures and exports can be stored. Where the disk cannot be asked it is not known to be full."""
    try:
        return disk_free()[0] >= DISK_FULL_BYTES
    except OSError:
        return True


def run_readiness_checks() -> dict[str, bool]:
    """What load balancers ask, each check by its name."""
    return {"database": _database_responds(), "redis": _cache_responds(), "disk": _disk_has_room()}


def admin_check(user: User) -> None:
    """Raises Forbidden for who does not look after the platform."""
    role_check(user, Role.ADMIN)


def health_page(*, user: User) -> HealthPage:
    """Every process, queue, disk, host and model server, asked now. Raises Forbidden."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)
    return HealthPage(at=timezone.now(), checks=check_all_parts())


def check_all_parts() -> tuple[Check, ...]:
    """Each part by its name, and since when it is as it is; all are asked at once."""
    results = run_probes(_model_servers(), with_trainer=_uses_trainer())
    now = timezone.now()
    since = _states_since(results, now)
    checks = tuple(
        Check(
            name=one.name,
            kind=one.kind,
            subject=one.subject,
            seconds=one.seconds,
            since=since.get(one.name, now),
            **one.status._asdict(),
        )
        for one in results
    )
    with suppress(RedisError):
        history.record_checks(now, checks)
    return checks


def disk_free() -> tuple[int, int]:
    """Bytes free and in all where the data lies."""
    usage = shutil.disk_usage(settings.ENV.data)
    return usage.free, usage.total


def object_counts() -> tuple[tuple[str, str, str, dict[str, int]], ...]:
    """What is counted of what there is: a gauge's name, what it says, its label, and the label's values."""
    return (
        ("episodes", "Episodes by how they stand", "status", _count_by(Episode.objects, "status")),
        ("tasks", "Tasks by whether they wait", "state", _count_by(Task.objects, "state")),
        ("exports", "Exports by how they stand", "status", _count_by(Export.objects, "status")),
        ("people", "Accounts by whether they may sign in", "active", _count_by(User.objects, "is_active")),
        ("queue_jobs", "Jobs no worker has taken yet", "queue", _queued_jobs()),
    )


def check_data(*, episodes: int | None = None) -> DataReport:
    """Read every episode, or the newest so many, and look for the file of every blob; one at a time."""
    due = MigrationExecutor(connection).loader
    unapplied = [f"{app}.{name}" for app, name in due.graph.nodes if (app, name) not in due.applied_migrations]
    if unapplied:
        return DataReport(migrations_due=tuple(unapplied), episodes=0, steps=0, files=0, missing=(), unreadable=())
    read = steps = files = 0
    missing: list[str] = []
    unreadable: list[str] = []
    for key in Episode.objects.order_by("-created_at").values_list("pk", flat=True)[:episodes].iterator():
        try:
            steps += len(episode_trajectory(episode_id=key).steps)
        except ValidationError:
            unreadable.append(str(key))
        read += 1
    for digest, size in Blob.objects.values_list("sha256", "size").iterator(chunk_size=5_000):
        if blob_size(digest) != size:
            missing.append(digest)
        files += 1
    return DataReport(
        migrations_due=(),
        episodes=read,
        steps=steps,
        files=files,
        missing=tuple(missing[:MAX_REPORTED_FAULTS]),
        unreadable=tuple(unreadable[:MAX_REPORTED_FAULTS]),
    )


def _queued_jobs() -> dict[str, int]:
    """Nothing where the broker does not answer, which `pilothouse_up` says."""
    try:
        return {name: queue_status(name).length for name in (DEFAULT_QUEUE, TRAINING_QUEUE)}
    except RedisError:
        return {}


def _count_by(rows: "Manager[Any]", column: str) -> dict[str, int]:
    found = rows.order_by().values_list(column).annotate(count=Count("pk"))
    return {str(value).lower(): count for value, count in found}


def _states_since(results: tuple[ProbeResult, ...], now: datetime) -> dict[str, datetime]:
    """Nothing where Redis does not answer."""
    try:
        return history.states_since({one.name: one.status.state for one in results}, now)
    except RedisError:
        return {}


def _uses_trainer() -> bool:
    """Whether there is a wheel, which needs somebody who turns it."""
    try:
        return Wheel.objects.exists()
    except DatabaseError:
        return False


def model_server_status(*, user: User, revision_id: int) -> ModelServerStatus:
    """Whether the server of a revision answers, asked now; that of a script is the machine itself. Raises Forbidden and
    NotFound."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)
    revision = PolicyRevision.objects.filter(pk=revision_id).first()
    if revision is None:
        raise NotFound("There is no such revision.", field="revision_id")
    if revision.base_url == EXPERT_URL:
        return ModelServerStatus(state="ok")
    status = probe_model_server(_server_of(revision))
    return ModelServerStatus(state=status.state, problem=status.problem, detail=status.detail)


def _server_of(policy: PolicyRevision) -> ModelServer:
    hosted = policy.provider != "openai_compatible"  # their answers cost money
    model, dialect = ("", "") if hosted else (policy.model, policy.dialect)
    return ModelServer(policy.base_url, policy.scripted, model, dialect)


def _model_servers() -> dict[str, ModelServer]:
    """The servers of the policies that propose or are on trial in some pool now, and of the judges. Experts are asked
    of the machines."""
    try:
        proposing = Q(policy__isnull=False) | Q(canary__isnull=False)
        pools = list(Pool.objects.filter(proposing).select_related("policy", "canary"))
        judges = [one.judge for one in PoolJudge.objects.exclude(judge__base_url="").select_related("judge")]
    except DatabaseError:
        return {}
    servers = {str(judge): ModelServer(judge.base_url, judge.scripted, judge.model) for judge in judges}
    for policy in (each for pool in pools for each in (pool.policy, pool.canary)):
        if policy is not None and policy.base_url != EXPERT_URL:
            servers[str(policy)] = _server_of(policy)
    return servers
