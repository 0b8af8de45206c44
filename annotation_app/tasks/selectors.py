"""Reading pools, tasks and assignments."""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import sees_everything
from annotation_app.policies.selectors import policy_ref
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Task, TaskState
from annotation_app.tasks.schemas import PoolSummary


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


def may_annotate(user: User) -> bool:
    """Whether they may claim tasks."""
    return user.has_role(Role.ANNOTATOR)
