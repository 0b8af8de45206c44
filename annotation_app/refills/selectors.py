"""Queries on refills: what a pool needs, and what has been added."""

from collections.abc import Callable, Mapping
from datetime import timedelta

from django.db.models import BigIntegerField, Count, F, Func, Max, Q, QuerySet, Sum, TextField, Value
from django.db.models.functions import Cast
from django.utils import timezone

import protocol.trajectory.tasks
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.episodes.models import Episode
from annotation_app.errors import NotFound
from annotation_app.flywheel.models import Wheel
from annotation_app.refills.models import Refill, RefillRule
from annotation_app.refills.planning import KindState, TaskKind, WantedTasks, plan_refill
from annotation_app.refills.schemas import RefilledKind, RefillEntry, RefillPage, RefillSettings
from annotation_app.refills.task_makers import TaskMaker, find_suite_maker
from annotation_app.tasks.models import Pool, Task, TaskState
from annotation_app.tasks.selectors import counts_by_kind
from annotation_app.tasks.task_sampling import ProposalCounts
from protocol.trajectory.tasks import format_task_kind, task_level

QUOTA_WINDOW = timedelta(hours=24)
ENTRIES_SHOWN = 50


def refill_page(*, user: User, pool_id: int) -> RefillPage:
    """A pool's rule, what it would add now, and what was added. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool_id")
    rule = rule_of(pool)
    maker = find_suite_maker()
    planned = () if maker is None else plan_for(pool, rule, maker)
    return RefillPage(
        settings=settings_of(rule),
        added_in_24_hours=added_lately(pool),
        pending=is_pending(rule),
        looked_at=rule.looked_at,
        error=rule.error,
        reachable=maker is not None,
        planned=planned,
        kinds=_kinds(pool),
        entries=tuple(map(_entry, pool.refills.select_related("revision")[:ENTRIES_SHOWN])),
    )


def rule_of(pool: Pool) -> RefillRule:
    """The pool's rule, or the one that it begins with, which is off and not stored."""
    return RefillRule.objects.filter(pool=pool).first() or RefillRule(pool=pool)


def settings_of(rule: RefillRule) -> RefillSettings:
    """What an admin sets of a rule."""
    return RefillSettings.model_validate(rule, from_attributes=True)


def is_pending(rule: RefillRule) -> bool:
    """Whether a refill was requested after the last check."""
    return rule.requested_at is not None and (rule.looked_at is None or rule.looked_at < rule.requested_at)


def rules_due() -> tuple[int, ...]:
    """The pools whose rules are on, or for which somebody asked; not those that are stopped or paused."""
    rules = RefillRule.objects.filter(Q(active=True) | Q(requested_at__isnull=False)).select_related("pool")
    return tuple(rule.pool_id for rule in rules if is_pending(rule) or (rule.active and _gives_out(rule.pool)))


def _gives_out(pool: Pool) -> bool:
    return pool.stopped_at is None and not pool.paused


def plan_for(pool: Pool, rule: RefillRule, maker: TaskMaker) -> tuple[WantedTasks, ...]:
    """The tasks that a pool needs now, within what is left of its quota."""
    return plan_refill(
        kind_states(pool),
        maker.levels(),
        quota=max(0, rule.per_day - added_lately(pool)),
        waiting_per_kind=rule.waiting_per_kind,
        need_at_least=rule.need_at_least,
    )


def added_lately(pool: Pool) -> int:
    """Tasks that were added in the last 24 hours."""
    lately = pool.refills.filter(created_at__gt=timezone.now() - QUOTA_WINDOW)
    return int(lately.aggregate(added=Sum("added", default=0))["added"])


def kind_states(pool: Pool) -> tuple[KindState, ...]:
    """How the active revision does at the kinds of task of suites that the pool has, and how many wait."""
    counts = counts_by_kind(pool)
    rows = (
        Task.objects.filter(pool=pool)
        .values("kind")
        .annotate(waiting=Count("pk", filter=Q(state=TaskState.WAITING)), newest=Max("pk"))
    )
    waiting = {row["newest"]: row["waiting"] for row in rows}
    found = list[KindState]()
    for task in Task.objects.filter(pk__in=waiting).only("definition", "kind"):
        kind = kind_of(task.definition)
        if kind is not None:
            seen = counts.get(task.kind, ProposalCounts())
            found.append(KindState(kind=kind, counts=seen, waiting=waiting[task.pk]))
    return tuple(found)


def kind_of(task: protocol.trajectory.tasks.Task) -> TaskKind | None:
    """The kind of a suite's task; None for others."""
    if not task.suite or not task.name:
        return None
    return TaskKind(suite=task.suite, name=task.name, level=task_level(task))


def newest_like(pool: Pool, kind: TaskKind) -> protocol.trajectory.tasks.Task | None:
    """The pool's newest task of this suite and name, of any level."""
    task = _like(pool, kind).order_by("-pk").first()
    return task.definition if task is not None else None


def next_seed(pool: Pool, kind: TaskKind) -> int:
    """The seed behind all that the pool has of this suite and name."""
    # The column is text, not `jsonb`. The first `"seed":` in it is the task's own: quotes in its texts are escaped.
    text = Func(F("definition"), Value('"seed":([0-9]+)'), function="substring", output_field=TextField())
    seed = Cast(text, BigIntegerField())
    last = _like(pool, kind).aggregate(last=Max(seed))["last"]
    return 0 if last is None else last + 1


def _like(pool: Pool, kind: TaskKind) -> QuerySet[Task]:
    first_level = format_task_kind(kind.suite, kind.name)
    return Task.objects.filter(Q(kind=first_level) | Q(kind__startswith=f"{first_level} level "), pool=pool)


def held_by_gates(suite: str) -> Callable[[int], bool]:
    """Whether a seed of the suite is what a flywheel's gate tries: nothing is learned from it."""
    trials = [wheel.recipe.trials for wheel in Wheel.objects.all()]
    return lambda seed: any(one.holds(suite, seed) for one in trials)


def _kinds(pool: Pool) -> tuple[RefilledKind, ...]:
    totals = pool.refills.values("kind").annotate(made=Sum("made"), added=Sum("added")).order_by("kind")
    tasks = Task.objects.filter(pool=pool, refills__isnull=False).distinct()
    done = _count_by_kind(tasks.filter(done__gt=0))
    solved = _count_by_kind(
        tasks.filter(pk__in=Episode.objects.filter(task__pool=pool, outcome="success").values("task_id"))
    )
    return tuple(
        RefilledKind(
            kind=row["kind"],
            made=row["made"],
            added=row["added"],
            done=done.get(row["kind"], 0),
            solved=solved.get(row["kind"], 0),
        )
        for row in totals
    )


def _count_by_kind(tasks: QuerySet[Task]) -> Mapping[str, int]:
    return dict(tasks.order_by().values_list("kind").annotate(Count("pk", distinct=True)))


def _entry(refill: Refill) -> RefillEntry:
    return RefillEntry(
        id=refill.pk,
        kind=refill.kind,
        source=refill.source,
        revision=str(refill.revision or ""),
        reason=refill.reason,
        need=refill.need,
        counts=ProposalCounts(
            accepted=refill.accepted,
            overridden=refill.overridden,
            succeeded=refill.succeeded,
            failed=refill.failed,
        ),
        made=refill.made,
        added=refill.added,
        created_at=refill.created_at,
    )
