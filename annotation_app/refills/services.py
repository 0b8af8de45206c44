"""Setting refills, and adding the tasks that a pool needs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.errors import ApplicationError, NotFound
from annotation_app.refills.models import Refill, RefillRule
from annotation_app.refills.planning import WantedTasks
from annotation_app.refills.schemas import RefillSettings
from annotation_app.refills.selectors import held_by_gates, newest_like, next_seed, plan_for, rule_of, settings_of
from annotation_app.refills.task_makers import TaskMaker, find_suite_maker
from annotation_app.tasks.models import Pool, Task
from annotation_app.tasks.services import tasks_add
from protocol.trajectory.tasks import Task as Definition
from protocol.trajectory.tasks import format_task_kind

NO_BRIDGE_MESSAGE = "The bridge does not answer, so no task can be made."
EXHAUSTED_MESSAGE = "The suite has no more tasks of these kinds: {kinds}."


@transaction.atomic(durable=True)
def refill_set(*, user: User, pool_id: int, settings: RefillSettings) -> None:
    """Set a pool's rule. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    pool = _pool_locked(pool_id)
    before = settings_of(rule_of(pool)).model_dump()
    RefillRule.objects.update_or_create(pool=pool, defaults={**settings.model_dump(), "changed_by": user})
    changes = {name: value for name, value in settings.model_dump().items() if before[name] != value}
    audit_record(actor=user, verb="pool.refill_set", subject=f"pool:{pool.pk}", details=changes)


@transaction.atomic(durable=True)
def refill_request(*, user: User, pool_id: int) -> None:
    """Ask for a refill now, within the rule's bounds, also where it is off. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    pool = _pool_locked(pool_id)
    rule, _ = RefillRule.objects.get_or_create(pool=pool, defaults={"changed_by": user})
    rule.requested_at = timezone.now()
    rule.save(update_fields=["requested_at"])
    audit_record(actor=user, verb="pool.refill_asked", subject=f"pool:{pool.pk}")


@dataclass(frozen=True)
class _Batch:
    """What a maker gave for a kind that was wanted."""

    wanted: WantedTasks
    source: str
    definitions: Sequence[Definition]


def refill_run(*, pool_id: int) -> int:
    """Add what a pool needs now; how many tasks were added. Done twice, or by two at once, it adds no more than the
    quota: what is needed is counted again under the pool's lock. What went wrong stands in the rule."""
    pool = Pool.objects.filter(pk=pool_id).first()
    if pool is None:
        return 0
    began = timezone.now()
    maker = find_suite_maker()
    if maker is None:
        _note(pool, NO_BRIDGE_MESSAGE, looked_at=None)
        return 0
    try:
        batches = [_make(pool, wanted, maker) for wanted in plan_for(pool, rule_of(pool), maker)]
    except ApplicationError as error:
        _note(pool, error.message, looked_at=None)
        return 0
    added = _store(pool_id, batches, maker)
    missing = [batch.wanted for batch in batches if not batch.definitions]
    kinds = ", ".join(format_task_kind(one.kind.suite, one.kind.name, one.kind.level) for one in missing)
    _note(pool, EXHAUSTED_MESSAGE.format(kinds=kinds) if kinds else "", looked_at=began)
    return added


def _make(pool: Pool, wanted: WantedTasks, maker: TaskMaker) -> _Batch:
    like = newest_like(pool, wanted.kind)
    assert like is not None, "the plan names only tasks that the pool has, at other levels maybe"
    held = held_by_gates(wanted.kind.suite)
    made = maker.make(wanted.kind, wanted.count, like=like, first_seed=next_seed(pool, wanted.kind), held=held)
    return _Batch(wanted, maker.source(wanted.kind), made)


@transaction.atomic(durable=True)
def _store(pool_id: int, batches: Sequence[_Batch], maker: TaskMaker) -> int:
    pool = _pool_locked(pool_id)
    wanted: Mapping[object, WantedTasks] = {one.kind: one for one in plan_for(pool, rule_of(pool), maker)}
    added = 0
    for batch in batches:
        still = wanted.get(batch.wanted.kind)
        if still is not None and batch.definitions:
            added += _add(pool, batch, still)
    if added:
        audit_record(
            actor=None, verb="tasks.refilled", subject=f"pool:{pool.pk}", details={"new": added}, part="refills"
        )
    return added


def _add(pool: Pool, batch: _Batch, wanted: WantedTasks) -> int:
    """Add the first tasks of a batch, as many as are still wanted, and note why."""
    chosen = batch.definitions[: wanted.count]
    keys = [definition.id for definition in chosen]
    before = set(Task.objects.filter(pool=pool, key__in=keys).values_list("key", flat=True))
    added = tasks_add(pool=pool, definitions=chosen)
    kind = wanted.kind
    refill = Refill.objects.create(
        pool=pool,
        kind=format_task_kind(kind.suite, kind.name, kind.level),
        source=batch.source,
        revision=pool.policy,
        reason=wanted.reason,
        need=wanted.need,
        made=len(batch.definitions),
        added=added,
        **wanted.counts.model_dump(),
    )
    refill.tasks.set(Task.objects.filter(pool=pool, key__in=set(keys) - before))
    return added


def _note(pool: Pool, error: str, *, looked_at: object) -> None:
    """Write down how a look ended. Without a time it is asked for again at the next one."""
    changes = {"error": error} | ({} if looked_at is None else {"looked_at": looked_at})
    RefillRule.objects.filter(pool=pool).update(**changes)


def _pool_locked(pool_id: int) -> Pool:
    pool = Pool.objects.select_for_update(of=("self",)).filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.", field="pool_id")
    return pool
