"""Claiming tasks and giving them back."""

from collections import Counter
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

import vocabulary.tasks
from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, NotFound
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Task, TaskState
from annotation_app.tasks.selectors import tasks_open_to

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
    task = (
        waiting.select_for_update(skip_locked=True, of=("self",))
        .select_related("pool")
        .order_by("position", "id")
        .first()
    )
    return None if task is None else _assignment_make(user, task)


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
    task.save(update_fields=["state"])


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
        Task(pool=pool, key=definition.id, definition=definition, position=position)
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
