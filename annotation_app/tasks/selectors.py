"""Reading pools, tasks and assignments."""

from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import sees_everything
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import kinds_evaluated, policy_ref
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Tally, Task, TaskState
from annotation_app.tasks.need import Counts, weight_of
from annotation_app.tasks.schemas import PoolSummary

WEIGHED = 2_000
"""Waiting tasks of a pool that one claim weighs, at most."""


def pools_visible(user: User) -> QuerySet[Pool]:
    """The pools this person may know of."""
    return Pool.objects.all() if sees_everything(user) else Pool.objects.filter(members=user)


def tasks_open_to(user: User) -> QuerySet[Task]:
    """Waiting tasks of their pools that they have not done or skipped before, or since they were opened again
    (practice repeats)."""
    met = Assignment.objects.filter(
        Q(task__reopened_at__isnull=True) | Q(created_at__gt=F("task__reopened_at")),
        task=OuterRef("pk"),
        annotator=user,
        state__in=(AssignmentState.DONE, AssignmentState.SKIPPED),
    )
    return Task.objects.filter(
        Q(pool__practice=True) | ~Exists(met), state=TaskState.WAITING, pool__members=user, pool__paused=False
    )


def pools_of(*, user: User) -> list[PoolSummary]:
    """What waits for this person, pool by pool."""
    waiting = dict(tasks_open_to(user).values_list("pool_id").annotate(n=Count("id")).order_by())
    done = dict(
        Assignment.objects.filter(annotator=user, state=AssignmentState.DONE)
        .values_list("task__pool_id")
        .annotate(n=Count("id"))
        .order_by()
    )
    return [
        PoolSummary(
            id=pool.id,
            name=pool.name,
            description=pool.description,
            platform=pool.platform,
            waiting=waiting.get(pool.id, 0),
            mine_done=done.get(pool.id, 0),
            practice=pool.practice,
            policy=policy_ref(pool.policy),
            paused=pool.paused,
        )
        for pool in pools_visible(user).select_related("policy")
    ]


def revision_of(pool: Pool, episode_id: UUID) -> PolicyRevision | None:
    """Who proposes in an episode now: the pool's one active revision, or the canary in its share of the episodes,
    which always are the same ones."""
    if pool.canary is not None and episode_id.int % 100 < pool.canary_share:
        return pool.canary
    return pool.policy


def counts_by_kind(pool: Pool) -> dict[str, Counts]:
    """What became of the active revision at each kind of task: in this pool's episodes, and in its last evaluation."""
    columns = ("accepted", "overridden", "succeeded", "failed")
    rows = Tally.objects.filter(pool=pool, revision_id=pool.policy_id).values_list("kind", *columns)
    found = {kind: Counts(**dict(zip(columns, counts, strict=True))) for kind, *counts in rows}
    for kind, (successes, attempts) in kinds_evaluated(pool.policy).items():
        seen = found.get(kind, Counts())
        found[kind] = seen.model_copy(
            update={"succeeded": seen.succeeded + successes, "failed": seen.failed + attempts - successes}
        )
    return found


def weights_of(pool: Pool, waiting: QuerySet[Task]) -> dict[int, float]:
    """How much each of the first tasks that wait is needed; the others are weighed when those are done."""
    counts = counts_by_kind(pool)
    first = waiting.filter(pool=pool).order_by("position", "id").values_list("pk", "kind", "done")[:WEIGHED]
    return {task: weight_of(counts.get(kind, Counts()), done) for task, kind, done in first}


def may_annotate(user: User) -> bool:
    """Whether they may claim tasks."""
    return user.has_role(Role.ANNOTATOR)
