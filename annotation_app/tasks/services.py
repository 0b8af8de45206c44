"""Claiming tasks and giving them back."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, Max, QuerySet
from django.utils import timezone

import vocabulary.tasks
from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, NotFound
from annotation_app.policies.models import PolicyRevision
from annotation_app.policies.selectors import policies_admin_check
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Sampling, Tally, Task, TaskState
from annotation_app.tasks.need import Counts, drawn
from annotation_app.tasks.selectors import tasks_open_to, weights_of
from vocabulary.proposals import PolicyRef
from vocabulary.tasks import kind_of

ENDS: dict[AssignmentState, TaskState] = {
    AssignmentState.DONE: TaskState.DONE,
    AssignmentState.SKIPPED: TaskState.WAITING,
    AssignmentState.RELEASED: TaskState.WAITING,
    AssignmentState.EXPIRED: TaskState.WAITING,
    AssignmentState.BROKEN: TaskState.BROKEN,
}
"""Where a task stands after its assignment ended so."""


def lease_end(pool: Pool, *, paused: bool = False) -> datetime:
    """When an assignment renewed now runs out."""
    return timezone.now() + (timedelta(hours=pool.pause_hours) if paused else timedelta(minutes=pool.lease_minutes))


def assignment_claim(*, user: User, pool_id: int | None, practice: bool) -> Assignment | None:
    """Claim what waits for this person: work that came back first, then the next task nobody else is
    claiming at this moment. Runs inside the caller's transaction."""
    return _returned_claim(user, pool_id, practice) or _waiting_claim(user, pool_id, practice)


def _returned_claim(user: User, pool_id: int | None, practice: bool) -> Assignment | None:
    held = Assignment.objects.select_for_update(of=("self",)).filter(
        annotator=user, state=AssignmentState.RETURNED, task__pool__practice=practice
    )
    if pool_id is not None:
        held = held.filter(task__pool_id=pool_id)
    returned = held.select_related("task__pool").order_by("created_at").first()
    if returned is None:
        return None
    returned.state = AssignmentState.RELEASED
    returned.save(update_fields=["state"])
    return _assignment_make(user, returned.task)


def _waiting_claim(user: User, pool_id: int | None, practice: bool) -> Assignment | None:
    waiting = tasks_open_to(user).filter(pool__practice=practice)
    if pool_id is not None:
        waiting = waiting.filter(pool_id=pool_id)
    free = waiting.select_for_update(skip_locked=True, of=("self",)).select_related("pool__policy")
    task = free.order_by("position", "id").first()
    if task is not None and task.pool.sampling == Sampling.BY_NEED:
        task = _needed(task.pool, waiting, free) or task
    return None if task is None else _assignment_make(user, task)


def _needed(pool: Pool, waiting: QuerySet[Task], free: QuerySet[Task]) -> Task | None:
    """A task of this pool, drawn by need; one that somebody else is claiming at this moment is passed over. The last
    assignment's number is the seed, so a draw can be repeated from the record."""
    seed = f"{pool.pk}:{Assignment.objects.aggregate(last=Max('id'))['last'] or 0}"
    order = drawn(weights_of(pool, waiting), seed)
    return next((found for key in order if (found := free.filter(pk=key).first()) is not None), None)


def _assignment_make(user: User, task: Task) -> Assignment:
    task.state = TaskState.CLAIMED
    task.save(update_fields=["state"])
    return Assignment.objects.create(task=task, annotator=user, expires_at=lease_end(task.pool))


def assignment_end(*, assignment: Assignment, state: AssignmentState) -> None:
    """End a lease; the task goes where that leads. Runs inside the caller's transaction."""
    assignment.state = state
    assignment.save(update_fields=["state"])
    task = assignment.task
    task.state = TaskState.WAITING if task.pool.practice and state == AssignmentState.DONE else ENDS[state]
    task.done += state == AssignmentState.DONE
    task.save(update_fields=["state", "done"])


def tally_add(*, task: Task, counts: Mapping[PolicyRef, Counts]) -> None:
    """Count what became of the policies' proposals in an episode of this task that ended. Runs inside the caller's
    transaction; rows are taken in one order, so that two ends at once do not wait for each other in a circle."""
    named = {(policy.name, policy.revision): count for policy, count in counts.items()}
    revisions = PolicyRevision.objects.filter(name__in={name for name, _ in named}).order_by("pk")
    for revision in revisions:
        count = named.get((revision.name, revision.revision))
        if count is not None:
            row, _ = Tally.objects.get_or_create(pool_id=task.pool_id, revision=revision, kind=task.kind)
            more = {column: F(column) + value for column, value in count.model_dump().items()}
            Tally.objects.filter(pk=row.pk).update(**more)


@transaction.atomic(durable=True)
def task_reopen(*, user: User, task_id: int) -> Task:
    """Let a task be done again, by anybody. One that waits or is being done is left as it is. Raises Forbidden,
    NotFound, and Conflict for a broken one."""
    policies_admin_check(user)
    return task_open_again(actor=user, task_id=task_id)


def task_open_again(*, actor: User | None, task_id: int) -> Task:
    """See `task_reopen`; without an actor the platform does it. Runs inside the caller's transaction."""
    task = Task.objects.select_for_update(of=("self",)).select_related("pool").filter(pk=task_id).first()
    if task is None:
        raise NotFound("There is no such task.")
    if task.state == TaskState.BROKEN:
        raise Conflict("The task is broken.", code="task_broken")
    if task.state == TaskState.DONE:
        task.state, task.reopened_at = TaskState.WAITING, timezone.now()
        task.save(update_fields=["state", "reopened_at"])
        audit_record(actor=actor, verb="task.reopened", subject=f"task:{task.pk}")
    return task


def assignment_return(*, assignment: Assignment) -> None:
    """Keep a finished task for its annotator, who is to do it again. Runs inside the caller's transaction."""
    Assignment.objects.create(
        task=assignment.task,
        annotator_id=assignment.annotator_id,
        state=AssignmentState.RETURNED,
        expires_at=assignment.expires_at,
    )
    Task.objects.filter(pk=assignment.task_id).update(state=TaskState.CLAIMED)


def pool_ensure(*, name: str, members: list[User], **settings: object) -> Pool:
    """The pool of this name, made with these settings where there is none."""
    pool, made = Pool.objects.get_or_create(name=name, defaults=settings)
    if made:
        pool.members.set(members)
    return pool


def tasks_add(*, pool: Pool, definitions: list[vocabulary.tasks.Task]) -> int:
    """Add the definitions the pool does not have yet behind its others, in this order; how many were new."""
    known = set(pool.tasks.values_list("key", flat=True))
    last = pool.tasks.aggregate(last=Max("position"))["last"]
    new = [definition for definition in definitions if definition.id not in known]
    Task.objects.bulk_create(
        Task(pool=pool, key=definition.id, definition=definition, position=position, kind=kind_of(definition))
        for position, definition in enumerate(new, start=0 if last is None else last + 1)
    )
    return len(new)


@transaction.atomic(durable=True)
def tasks_load(*, pool_name: str, definitions: list[vocabulary.tasks.Task]) -> int:
    """Add tasks to the pool of this name; how many it did not have yet. Raises NotFound, and Conflict for an id
    given twice."""
    pool = Pool.objects.select_for_update().filter(name=pool_name).first()
    if pool is None:
        raise NotFound(f"There is no pool {pool_name!r}.")
    twice = [key for key, count in Counter(definition.id for definition in definitions).items() if count > 1]
    if twice:
        raise Conflict(f"The id {twice[0]!r} is there twice.", code="duplicate_task")
    new = tasks_add(pool=pool, definitions=definitions)
    audit_record(actor=None, verb="tasks.loaded", subject=f"pool:{pool.pk}", details={"new": new})
    return new
