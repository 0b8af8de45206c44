"""Where a pool's active policy needs people: states at which it was overridden, or failed."""

from uuid import UUID

from django.db.models import QuerySet

from annotation_app.accounts.models import User
from annotation_app.episodes.models import Branch, Episode, Step
from annotation_app.episodes.schemas import NeedReason, StateOfNeed
from annotation_app.episodes.selectors import ENDED_STATUSES, succeeded
from annotation_app.errors import NotFound
from annotation_app.policies.selectors import policies_admin_check, policy_ref
from annotation_app.tasks.models import Pool, TaskState
from annotation_app.tasks.need import REFUSED, Counts, weight_of
from annotation_app.tasks.selectors import counts_by_kind

LOOKED_AT = 200
"""Overridden steps, and finished episodes, that are looked at: the last ones."""


def states_of_need(*, user: User, pool_id: int, most: int = 50) -> tuple[StateOfNeed, ...]:
    """Where the active revision was overridden last, or proposed last in an attempt that failed; what is needed most
    comes first. Raises Forbidden and NotFound."""
    policies_admin_check(user)
    pool = Pool.objects.select_related("policy").filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.")
    return _states_of(pool)[:most]


def states_to_begin_at(pool: Pool) -> tuple[StateOfNeed, ...]:
    """The states of ended episodes that a task of this pool could be begun at, and none was yet; each task once, the
    most needed first."""
    states = [state for state in _states_of(pool) if state.done]
    over = Episode.objects.filter(pk__in={state.episode for state in states}, status__in=ENDED_STATUSES)
    ended, had = set(over.values_list("pk", flat=True)), set(_begun_at(pool))
    first: dict[int, StateOfNeed] = {}
    for state in states:
        if state.episode in ended and state.episode not in had:
            first.setdefault(state.task, state)
    return tuple(first.values())


def _begun_at(pool: Pool) -> QuerySet[Branch, UUID]:
    return Branch.objects.filter(episode__task__pool=pool).values_list("episode_id", flat=True)


def _states_of(pool: Pool) -> tuple[StateOfNeed, ...]:
    active, counts = policy_ref(pool.policy), counts_by_kind(pool)
    steps = Step.objects.filter(episode__task__pool=pool, undoing__isnull=True).select_related("episode__task")
    refused = steps.filter(decision__in=REFUSED).order_by("-id")[:LOOKED_AT]
    finished = Episode.objects.filter(task__pool=pool, status="finished").order_by("-created_at")[:LOOKED_AT]
    failed = [episode.pk for episode in finished if succeeded(episode) is False]
    last = Step.objects.filter(episode__in=failed, undoing__isnull=True).order_by("episode_id", "-index")
    ends = steps.filter(pk__in=last.distinct("episode_id").values("pk"))
    reasons: tuple[tuple[NeedReason, QuerySet[Step]], ...] = (("overridden", refused), ("failed", ends))
    found = {
        (row.episode_id, row.index): StateOfNeed(
            episode=row.episode_id,
            step=row.index,
            reason=reason,
            weight=weight_of(counts.get(row.episode.task.kind, Counts()), row.episode.task.done),
            task=row.episode.task_id,
            kind=row.episode.task.kind,
            waiting=row.episode.task.state == TaskState.WAITING,
            done=row.episode.task.state == TaskState.DONE,
        )
        for reason, rows in reasons
        for row in rows
        if row.document.policy == active
    }
    return tuple(sorted(found.values(), key=lambda state: -state.weight))
