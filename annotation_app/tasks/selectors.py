"""Reading pools, tasks and assignments."""

from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import sees_everything
from annotation_app.errors import Forbidden
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policy_of, policy_ref
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Task, TaskState
from annotation_app.tasks.schemas import PoolSummary, RevisionSummary


def pools_visible(user: User) -> QuerySet[Pool]:
    """The pools this person may know of."""
    return Pool.objects.all() if sees_everything(user) else Pool.objects.filter(members=user)


def tasks_open_to(user: User) -> QuerySet[Task]:
    """Waiting tasks of their pools that they have not done or skipped before (practice repeats)."""
    met = Assignment.objects.filter(
        task=OuterRef("pk"), annotator=user, state__in=(AssignmentState.DONE, AssignmentState.SKIPPED)
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


def policies_admin_check(user: User) -> None:
    """Raises Forbidden for anybody but admins."""
    if not user.has_role(Role.ADMIN):
        raise Forbidden("Only admins decide who proposes.")


def policies_page(*, user: User) -> tuple[RevisionSummary, ...]:
    """Every revision, newest first, and the pools it proposes in. Raises Forbidden."""
    policies_admin_check(user)
    found = PolicyRevision.objects.prefetch_related("pools", "tried_in")
    return tuple(
        RevisionSummary(
            id=revision.pk,
            policy=policy_of(revision),
            model=revision.model,
            checkpoint=revision.checkpoint,
            created_at=revision.created_at,
            active_in=tuple(pool.name for pool in revision.pools.all()),
            tried_in=tuple(pool.name for pool in revision.tried_in.all()),
        )
        for revision in found
    )


def may_annotate(user: User) -> bool:
    """Whether they may claim tasks."""
    return user.has_role(Role.ANNOTATOR)
