"""Compute reports: one database pass over the steps and one over the episodes of the requested days."""

from collections.abc import Iterator, Mapping
from datetime import datetime, time, timedelta
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.core.cache import cache
from django.db.models import (
    Aggregate,
    Case,
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    FloatField,
    Func,
    Min,
    Model,
    Q,
    QuerySet,
    Sum,
    TextField,
    Value,
    When,
)
from django.db.models.functions import Cast, Coalesce, Concat, TruncDate
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.accounts.selectors import can_see_all_work
from annotation_app.episodes.models import Episode, Proposal, Review, Step
from annotation_app.errors import Forbidden, Invalid
from annotation_app.natural_order import natural_key
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policies_reader_check, policy_of
from annotation_app.reports.schemas import (
    Figures,
    FirstReplies,
    Grain,
    Latency,
    MachineUsage,
    QueueAge,
    Report,
    ReportQuery,
    ReportRow,
)
from annotation_app.tasks.models import Pool, Task, TaskState
from protocol.evaluation.reports import Rate
from protocol.evaluation.statistics import wilson_rate
from protocol.trajectory.steps import HUMAN_DECISIONS, REJECTING_DECISIONS

Row = dict[str, Any]
M = TypeVar("M", bound=Model)


class Percentile(Aggregate):
    """PostgreSQL's `percentile_cont`: exact, interpolated if there is no middle value."""

    function = "percentile_cont"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()

    def __init__(self, expression: Any, share: float) -> None:
        super().__init__(expression, share=share)


def build_report(*, user: User, query: ReportQuery) -> Report:
    """The report. Raises Forbidden for annotators and Invalid for invalid days or zones."""
    if not can_see_all_work(user):
        raise Forbidden("Only reviewers, admins and researchers see reports.")
    steps, episodes = _filtered_rows(query.checked())
    by_day = _rows("day", query, steps, episodes)
    return Report(
        total=_figures(steps.aggregate(**STEP_AGGREGATES), episodes.aggregate(**EPISODE_AGGREGATES)),
        rows=by_day if query.by == "day" else _rows(query.by, query, steps, episodes),
        days=by_day,
        latencies=_latencies(query),
        machines=_machines(episodes),
        queues=_queues(query),
        asked_at=timezone.now(),
    )


def report_table(*, user: User, query: ReportQuery) -> Iterator[tuple[object, ...]]:
    """The rows with a header, for a spreadsheet. Raises as `build_report`."""
    report = build_report(user=user, query=query)
    return _table(query.by, report.rows)


def _table(by: Grain, rows: tuple[ReportRow, ...]) -> Iterator[tuple[object, ...]]:
    rates = ("rate", "low", "high", "attempts")
    head = [
        name
        for field in Figures.model_fields
        for name in ([f"{field}_{part}" for part in rates] if field in RATE_FIELDS else [field])
    ]
    yield (by, *head)
    for row in rows:
        cells: list[object] = []
        for name in Figures.model_fields:
            value = getattr(row.figures, name)
            cells += [getattr(value, part, None) for part in rates] if name in RATE_FIELDS else [value]
        yield (row.label, *cells)


RATE_FIELDS = ("success", "returned", "override")


def _period(query: ReportQuery) -> tuple[datetime, datetime]:
    zone = _zone(query)
    first, last = (datetime.combine(day, time(), zone) for day in (query.since, query.until + timedelta(days=1)))
    return first, last


def _zone(query: ReportQuery) -> ZoneInfo:
    try:
        return ZoneInfo(query.zone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Invalid("There is no such time zone.", code="time_zone", field="zone") from error


def _filtered_rows(query: ReportQuery) -> tuple[QuerySet[Step], QuerySet[Episode]]:
    """The steps and the episodes of these days that match the filters."""
    return (
        _matching(Step.objects.all(), query, task="episode__task__", episode="episode__", policy="policy"),
        _matching(Episode.objects.annotate(proposer=PROPOSER), query, task="task__", episode="", policy="proposer"),
    )


def _matching(found: QuerySet[M], query: ReportQuery, *, task: str, episode: str, policy: str) -> QuerySet[M]:
    """Rows of these days that match the filters. Their task, episode and policy have these lookup names."""
    since, until = _period(query)
    placed = {} if query.application is None else {"application": _application(task)}
    placed |= {} if query.level is None else {"level": _level(task)}
    conditions = {
        "application": query.application,
        "level": query.level,
        f"{task}pool_id": query.pool,
        f"{episode}annotator__username": query.annotator,
        f"{task}kind": query.kind,
        policy: query.policy,
    }
    filtered: QuerySet[Any] = found.order_by().alias(**placed)
    return filtered.filter(
        created_at__gte=since,
        created_at__lt=until,
        **{f"{task}pool__practice": False},
        **{name: value for name, value in conditions.items() if value is not None},
    )


def _application(task: str) -> Any:
    """The top-level node of a task in the design graph. For a task outside the graph, its suite, the first part of its
    kind."""
    node = f"{task}placement__node__"
    suite = Case(When(**{f"{task}kind__contains": "/"}, then=StrSplit(F(f"{task}kind"), Value("/"), Value(1))))
    names = (f"{node}parent__parent__name", f"{node}parent__name", f"{node}name")
    return Coalesce(*names, suite, Value(""), output_field=TextField())


def _level(task: str) -> Any:
    return Coalesce(Cast(f"{task}placement__level", TextField()), Value(""), output_field=TextField())


class StrSplit(Func):
    """PostgreSQL's `split_part`."""

    function = "split_part"
    output_field = TextField()


PROPOSER = Case(
    When(policy=None, then=Value("")),
    default=Concat("policy__name", Value(" "), "policy__revision"),
    output_field=TextField(),
)
"""An episode's policy as its steps name it."""

_DECIDED_BY_HUMAN = Q(decision__in=HUMAN_DECISIONS)
_STEP_MS = ExpressionWrapper(F("decide_ms") + F("took_ms"), output_field=FloatField())
STEP_AGGREGATES: Mapping[str, Any] = {
    "steps": Count("pk"),
    "accepted": Count("pk", filter=Q(decision="accept")),
    "edited": Count("pk", filter=Q(decision="edit")),
    "overridden": Count("pk", filter=Q(decision="override")),
    "taken_over": Count("pk", filter=Q(decision="takeover")),
    "alone": Count("pk", filter=Q(decision="auto")),
    "judged": Count("pk", filter=_DECIDED_BY_HUMAN & ~Q(policy="")),
    "refused": Count("pk", filter=Q(decision__in=REJECTING_DECISIONS) & ~Q(policy="")),
    "decide_p50_ms": Percentile("decide_ms", 0.5),
    "decide_p95_ms": Percentile("decide_ms", 0.95),
    "step_p50_ms": Percentile(_STEP_MS, 0.5),
    "step_p95_ms": Percentile(_STEP_MS, 0.95),
}
_DURATION = ExpressionWrapper(F("finished_at") - F("created_at"), output_field=DurationField())
EPISODE_AGGREGATES: Mapping[str, Any] = {
    "episodes": Count("pk"),
    "finished": Count("pk", filter=Q(status="finished")),
    "succeeded": Count("pk", filter=Q(outcome="success")),
    "failed": Count("pk", filter=Q(outcome="failure")),
    "lasted": Sum(_DURATION),
    "sent_back": Count("pk", filter=Q(review=Review.RETURNED)),
    "reviewed": Count("pk", filter=Q(review__in=(Review.RETURNED, Review.ACCEPTED))),
}


def _rows(by: Grain, query: ReportQuery, steps: QuerySet[Step], episodes: QuerySet[Episode]) -> tuple[ReportRow, ...]:
    """One row for each group (day, pool and so on) that has steps or episodes. Days are in order; other groups are
    sorted by activity, busiest first."""
    of_step, of_episode = _group_expressions(by, query)
    of_steps = _grouped(steps, of_step, STEP_AGGREGATES)
    of_episodes = _grouped(episodes, of_episode, EPISODE_AGGREGATES)
    keys = of_steps.keys() | of_episodes.keys()
    labels = dict(Pool.objects.values_list("pk", "name")) if by == "pool" else {}
    rows = [
        ReportRow(
            key=str(key),
            label=labels.get(key, str(key)),
            figures=_figures(of_steps.get(key, {}), of_episodes.get(key, {})),
        )
        for key in keys
    ]
    if by == "day":
        return tuple(sorted(rows, key=lambda row: row.key))
    return tuple(sorted(rows, key=lambda row: (-row.figures.steps, row.label)))


def _group_expressions(by: Grain, query: ReportQuery) -> tuple[Any, Any]:
    """Where the steps and the episodes store the value that rows group by."""
    match by:
        case "day":
            day = TruncDate("created_at", tzinfo=_zone(query))
            return day, day
        case "pool":
            return F("episode__task__pool_id"), F("task__pool_id")
        case "annotator":
            return F("episode__annotator__username"), F("annotator__username")
        case "policy":
            return F("policy"), F("proposer")
        case "application":
            return _application("episode__task__"), _application("task__")
        case "level":
            return _level("episode__task__"), _level("task__")
        case "kind":
            return F("episode__task__kind"), F("task__kind")


def _grouped(found: QuerySet[Any], key: Any, figures: Mapping[str, Any]) -> dict[Any, Row]:
    return {row["of"]: row for row in found.values(of=key).annotate(**figures)}


def _figures(steps: Row, episodes: Row) -> Figures:
    lasted = episodes.get("lasted") or timedelta()
    known = {name: steps[name] for name in Figures.model_fields if name in steps}
    return Figures(
        **known,
        episodes=episodes.get("episodes", 0),
        finished=episodes.get("finished", 0),
        success=_rate(episodes.get("succeeded", 0), episodes.get("succeeded", 0) + episodes.get("failed", 0)),
        hours=lasted / timedelta(hours=1),
        returned=_rate(episodes.get("sent_back", 0), episodes.get("reviewed", 0)),
        override=_rate(steps.get("refused", 0), steps.get("judged", 0)),
    )


def _rate(successes: int, attempts: int) -> Rate | None:
    return wilson_rate(successes, attempts) if attempts else None


def _latencies(query: ReportQuery) -> tuple[Latency, ...]:
    """By policy, over all its candidates. Candidates of one request took the same time."""
    found = _matching(Proposal.objects.all(), query, task="episode__task__", episode="episode__", policy="policy")
    rows = (
        found.filter(latency_ms__isnull=False)
        .values("policy")
        .annotate(
            count=Count("pk"),
            p50_ms=Percentile("latency_ms", 0.5),
            p95_ms=Percentile("latency_ms", 0.95),
            p99_ms=Percentile("latency_ms", 0.99),
        )
        .order_by("policy")
    )
    return tuple(Latency(**row) for row in rows)


def _machines(episodes: QuerySet[Episode]) -> tuple[MachineUsage, ...]:
    rows = (
        episodes.filter(finished_at__isnull=False)
        .values(image=F("task__pool__image"), platform=F("task__pool__platform"))
        .annotate(episodes=Count("pk"), lasted=Sum(_DURATION))
        .order_by("platform", "image")
    )
    return tuple(
        MachineUsage(
            image=row["image"],
            platform=row["platform"],
            episodes=row["episodes"],
            hours=(row["lasted"] or timedelta()) / timedelta(hours=1),
        )
        for row in rows
    )


def _queues(query: ReportQuery) -> tuple[QueueAge, ...]:
    pools = Pool.objects.filter(practice=False)
    if query.pool is not None:
        pools = pools.filter(pk=query.pool)
    waiting = Q(state=TaskState.WAITING)
    tasks = Task.objects.filter(Q(state=TaskState.CLAIMED) | waiting, pool__in=pools).order_by()
    unreviewed = Episode.objects.filter(status="finished", review=Review.PENDING, task__pool__in=pools).order_by()
    of_tasks = _grouped(
        tasks,
        F("pool_id"),
        {
            "tasks_waiting": Count("pk", filter=waiting),
            "tasks_held": Count("pk", filter=~waiting),
            "oldest_task_at": Min("created_at", filter=waiting),
        },
    )
    of_reviews = _grouped(
        unreviewed, F("task__pool_id"), {"reviews_waiting": Count("pk"), "oldest_review_at": Min("finished_at")}
    )
    return tuple(
        QueueAge(pool_id=pk, pool=name, **{**NO_QUEUE, **_figures_of(of_tasks, pk), **_figures_of(of_reviews, pk)})
        for pk, name in sorted(pools.values_list("pk", "name"), key=lambda row: natural_key(row[1]))
    )


NO_QUEUE: Mapping[str, Any] = {
    "tasks_waiting": 0,
    "tasks_held": 0,
    "reviews_waiting": 0,
    "oldest_task_at": None,
    "oldest_review_at": None,
}


def _figures_of(rows: Mapping[Any, Row], key: object) -> Row:
    return {name: value for name, value in rows.get(key, {}).items() if name != "of"}


REPLIES = 50
"""How many of a revision's first replies are checked."""
MISPLACED = ("wrong_space", "off_screen")
"""Error codes of replies whose points are not in the dialect's coordinate space."""
MIN_MISPLACED, MIN_MISPLACED_SHARE = 3, 0.2
"""How many points, and which share of the replies, must be misplaced. Any model occasionally points off the screen."""
RECENT_SECONDS, FINAL_SECONDS = 60, 86_400
"""How long a result is cached while more first replies may come, and after that."""


def first_replies(*, user: User) -> tuple[FirstReplies, ...]:
    """Whether the first replies of each proposing revision fit its dialect's coordinate space. Raises Forbidden."""
    policies_reader_check(user)
    proposing = Q(pools__isnull=False) | Q(tried_in__isnull=False)
    revisions = PolicyRevision.objects.filter(proposing, scripted=False).distinct()
    return tuple(map(_first_replies, revisions))


def _first_replies(revision: PolicyRevision) -> FirstReplies:
    key = f"reports.first_replies:{revision.pk}"
    known = cache.get(key)
    if known is not None:
        return FirstReplies.model_validate(known)
    first = Proposal.objects.filter(policy=str(revision), created_at__gte=revision.created_at).order_by("id")
    errors = [offer.document.error for offer in first.only("document")[:REPLIES]]
    codes = [error.code for error in errors if error is not None]
    misplaced = sum(code in MISPLACED for code in codes)
    found = FirstReplies(
        policy=policy_of(revision),
        replies=len(errors),
        misplaced=misplaced,
        suspicious=misplaced >= max(MIN_MISPLACED, len(errors) * MIN_MISPLACED_SHARE),
    )
    cache.set(key, found.model_dump(mode="json"), FINAL_SECONDS if len(errors) == REPLIES else RECENT_SECONDS)
    return found
