"""Items of the home page: one query for each kind, or figures that are cached for a minute."""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Exists, F, Model, OuterRef, QuerySet, Subquery, TextField, Value, Window
from django.db.models.functions import Cast
from django.utils import timezone
from redis.exceptions import RedisError

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.benchmark_runs.selectors import failed_runs
from annotation_app.episodes.models import OPEN_STATUSES, Command, Episode
from annotation_app.episodes.selectors import episodes_visible
from annotation_app.exports.models import Export
from annotation_app.flywheel.models import Turn, TurnState
from annotation_app.health.history import last_checks
from annotation_app.health.part_status import HEARTBEAT_TIMEOUT_SECONDS
from annotation_app.health.schemas import Check, Problem
from annotation_app.health.uptime import uptime_seconds
from annotation_app.home.schemas import (
    CycleFailed,
    EvaluationFailed,
    GateDecided,
    HealthUnknown,
    HelpAsked,
    Home,
    HomeItem,
    Job,
    JobFailed,
    MoreHelpAsked,
    PartFailed,
    PolicyDegraded,
    PoolRunsDry,
    ReviewsWaiting,
)
from annotation_app.home.selectors.hours import hours_of, policies_overridden, policy_hours
from annotation_app.imports.models import Import
from annotation_app.judges.models import Run
from annotation_app.notifications.models import Notice
from annotation_app.probes.models import PolicyProbe
from annotation_app.promotions.models import GateDecision
from annotation_app.reviews.selectors.queue import QueueFilters, reviewable_by
from annotation_app.tasks.models import Pool, Task, TaskState

DAY = timedelta(days=1)
RECENT = timedelta(days=3)
"""How long failed jobs and failed gates are shown."""
MAX_HELP, MAX_REVIEWS, MAX_ITEMS = 5, 1_000, 20
"""Most episodes listed singly, reviews counted, and items of any other kind."""
HEALTH_TIMEOUT = timedelta(minutes=5)
"""Health checks run every minute. After this time without one, the scheduler or the worker is down."""
URGENT_WARNINGS: frozenset[Problem] = frozenset(
    {
        *("disk_filling", "queue_old", "connections_short", "memory_short", "backup_old", "not_heard", "too_slow"),
        "not_known",
    }
)
"""Warnings that need action before a part fails."""


def home_page(*, user: User) -> Home:
    """What needs this person's attention. Raises Forbidden for annotators."""
    role_check(user, Role.ADMIN, Role.RESEARCHER, Role.REVIEWER)
    now = timezone.now()
    admin, researcher = user.has_role(Role.ADMIN), user.has_role(Role.ADMIN, Role.RESEARCHER)
    reviewer = user.has_role(Role.ADMIN, Role.REVIEWER)
    hours = policy_hours(now)
    items: list[HomeItem] = []
    if reviewer:
        items += _help_asked(user)
    if researcher:
        items += _parts(now)
        pools = _pool_states(now)
        items += policies_overridden(hours, (policy for pool in pools for policy in pool.policies), now)
        if admin:
            items += _degraded(user)
            items += _pools_dry(pools)
        items += _gates(now)
        items += _cycles()
        items += _jobs(None if admin else user, now)
        items += _evaluations(user, now)
    if reviewer:
        items += _reviews(user)
    return Home(at=now, items=tuple(items), hours=hours_of(hours, now))


def _help_asked(user: User) -> Iterator[HomeItem]:
    found = episodes_visible(user).filter(status__in=OPEN_STATUSES, help_requested=True)
    notes = Command.objects.filter(episode=OuterRef("pk")).exclude(note="").order_by("-id").values("note")
    counted = found.annotate(waiting=Window(Count("pk")), note=Subquery(notes[:1])).order_by("created_at", "id")
    named = list(counted.select_related("task", "annotator").defer("desk")[:MAX_HELP])
    for episode in named:
        yield HelpAsked(
            subject=episode.annotator.name,
            since=episode.created_at,
            episode=str(episode.pk),
            instruction=episode.task.definition.instruction,
            message=episode.note or "",
        )
    if named and named[0].waiting > MAX_HELP:
        yield MoreHelpAsked(count=named[0].waiting - MAX_HELP)


def _reviews(user: User) -> Iterator[HomeItem]:
    waiting = reviewable_by(user, QueueFilters()).order_by("finished_at", "id")
    finished = list(waiting.values_list("finished_at", flat=True)[: MAX_REVIEWS + 1])
    if finished:
        count, capped = min(len(finished), MAX_REVIEWS), len(finished) > MAX_REVIEWS
        yield ReviewsWaiting(since=finished[0], count=count, capped=capped)


def _parts(now: datetime) -> Iterator[HomeItem]:
    """Results of the last health check. A new check takes seconds."""
    try:
        known = last_checks()
    except RedisError as error:
        yield PartFailed(part="redis", problem="unreachable", detail=type(error).__name__, down=True)
        return
    if known is None:
        return
    at, checks = known
    uptime = uptime_seconds()
    if uptime < HEARTBEAT_TIMEOUT_SECONDS and (now - at).total_seconds() > uptime:
        return  # these checks are from before the start; the next are due soon
    if now - at > HEALTH_TIMEOUT:
        yield HealthUnknown(since=at)
        return
    for check in sorted(filter(_is_urgent, checks), key=lambda check: check.ok):
        yield PartFailed(
            subject=check.subject,
            since=check.since,
            part=check.kind,
            problem=check.problem,
            detail=check.detail,
            down=not check.ok,
        )


def _is_urgent(check: Check) -> bool:
    return not check.ok or check.problem in URGENT_WARNINGS


def _degraded(user: User) -> Iterator[HomeItem]:
    """Notices of degraded policies that this person has not read."""
    unread = Notice.objects.filter(user=user, kind="policy.degraded", read_at__isnull=True)
    for notice in unread[:MAX_ITEMS]:
        yield PolicyDegraded(
            subject=str(notice.details.get("policy", "")),
            since=notice.created_at,
            detail=str(notice.details.get("reason", "")),
        )


class _PoolState(NamedTuple):
    """A pool, its waiting tasks, its rate, and the revisions that propose there."""

    name: str
    is_open: bool
    waiting: int
    done_last_day: int
    policies: tuple[str, ...]


def _pool_states(now: datetime) -> list[_PoolState]:
    """Every pool except those for practice. Waiting tasks are counted only if an episode finished in the last day."""
    done = _counts(Episode.objects.filter(status="finished", finished_at__gte=now - DAY), "task__pool")
    waiting = _counts(Task.objects.filter(pool__in=done, state=TaskState.WAITING), "pool")
    proposing = [f"{who}__{column}" for who in ("policy", "canary") for column in ("name", "revision", "scripted")]
    rows = Pool.objects.filter(practice=False).values_list("pk", "name", "paused", "stopped_at", *proposing)
    return [
        _PoolState(name, not paused and stopped is None, waiting.get(pk, 0), done.get(pk, 0), _labels(*revisions))
        for pk, name, paused, stopped, *revisions in rows
    ]


def _labels(*revisions: Any) -> tuple[str, ...]:
    """The labels of revisions, given as name, revision and whether it is a script. Scripts are left out."""
    named = (revisions[:3], revisions[3:])
    return tuple(f"{name} {revision}" for name, revision, scripted in named if name is not None and not scripted)


def _pools_dry(pools: Iterable[_PoolState]) -> Iterator[HomeItem]:
    """Pools that run out of tasks within a day, at the rate of the last day."""
    dry = (pool for pool in pools if pool.is_open and pool.waiting < pool.done_last_day)
    for pool in sorted(dry, key=lambda pool: (pool.waiting, pool.name))[:MAX_ITEMS]:
        yield PoolRunsDry(subject=pool.name, waiting=pool.waiting, done_last_day=pool.done_last_day)


def _counts(found: QuerySet[Any], by: str) -> dict[Any, int]:
    return dict(found.order_by().values_list(by).annotate(n=Count("pk")))


def _gates(now: datetime) -> Iterator[HomeItem]:
    """Each pool's last gate decision, if the revision failed or an admin has to promote it. Decisions on a revision
    that was retired since are left out."""
    newest = GateDecision.objects.order_by("pool_id", "-id").distinct("pool_id")
    columns = ("passed", "promoted", "active_id", "pool__policy_id", "pool__name", "created_at")
    revision = [f"evaluation__revision__{column}" for column in ("name", "revision", "retired_at")]
    for passed, promoted, active, proposing, pool, at, name, number, retired in newest.values_list(*columns, *revision):
        if promoted or retired is not None or active != proposing or (not passed and at < now - RECENT):
            continue
        yield GateDecided(subject=f"{name} {number}", pool=pool, passed=passed, since=at)


def _cycles() -> Iterator[HomeItem]:
    newest = Turn.objects.order_by("wheel_id", "-number").distinct("wheel_id")
    columns = ("pk", "number", "state", "wheel__name", "ended_at")
    for key, number, state, name, ended in newest.values_list(*columns):
        if state == TurnState.FAILED:
            yield CycleFailed(subject=name, cycle=str(key), number=number, since=ended)


def _jobs(user: User | None, now: datetime) -> Iterator[HomeItem]:
    """Failed jobs of all people, or only those that this person requested."""
    since = now - RECENT
    exports = _failed(Export, "export", since, ("requested_by",), user, subject="requested_by__username")
    others = (
        _failed(Import, "import", since, ("requested_by",), user, subject="name"),
        _failed(PolicyProbe, "probe", since, ("base_url", "model", "dialect"), None, subject="model"),
        _failed(Run, "judge", since, ("pool", "judge"), user, subject="pool__name"),
    )
    for job, subject, error, ended in exports.union(*others, all=True).order_by("-ended")[:MAX_ITEMS]:
        yield JobFailed(subject=subject, job=job, detail=error[:300], since=ended)


def _evaluations(user: User, now: datetime) -> Iterator[HomeItem]:
    for run in failed_runs(user=user, since=now - RECENT)[:MAX_ITEMS]:
        yield EvaluationFailed(run=run.name, detail=run.error[:300], since=run.ended_at)


JOB_COLUMNS = ("job", "about", "error", "ended")


def _failed(
    model: type[Model], job: Job, since: datetime, same: tuple[str, ...], user: User | None, *, subject: str
) -> QuerySet[Any, tuple[Any, ...]]:
    """The failed jobs of a table. Those followed by a done job with the same values in the columns `same` are left
    out."""
    jobs = model._default_manager
    later = jobs.filter(status="done", created_at__gt=OuterRef("created_at"), **{each: OuterRef(each) for each in same})
    failed = jobs.filter(~Exists(later), status="failed", finished_at__gte=since)
    if user is not None:
        failed = failed.filter(requested_by=user)
    columns = {"job": Value(job, TextField()), "about": Cast(subject, TextField()), "ended": F("finished_at")}
    rows: QuerySet[Any, tuple[Any, ...]] = failed.order_by().annotate(**columns).values_list(*JOB_COLUMNS)
    return rows
