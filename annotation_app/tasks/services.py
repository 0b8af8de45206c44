"""Claiming tasks and giving them back."""

from collections import Counter
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

import vocabulary.tasks
from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.errors import Conflict, Invalid, NotFound
from annotation_app.policies.models import PolicyRevision
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Task, TaskState
from annotation_app.tasks.selectors import policies_admin_check, tasks_open_to

ENDS: dict[AssignmentState, TaskState] = {
    AssignmentState.DONE: TaskState.DONE,
    AssignmentState.SKIPPED: TaskState.WAITING,
    AssignmentState.RELEASED: TaskState.WAITING,
    AssignmentState.EXPIRED: TaskState.WAITING,
    AssignmentState.BROKEN: TaskState.BROKEN,
}
"""Where a task stands after its assignment ended so."""


@transaction.atomic(durable=True)
def policy_activate(*, user: User, pool_id: int, revision_id: int | None) -> Pool:
    """Make a revision the one that proposes in a pool (None: nobody does); a trial of it ends with that. Episodes take
    it up at their next decision point. Raises Forbidden and NotFound."""
    pool = _pool_locked(user, pool_id)
    before, pool.policy = pool.policy, _revision(revision_id)
    if pool.canary_id == pool.policy_id:
        pool.canary, pool.canary_share = None, 0
    pool.save(update_fields=["policy", "canary", "canary_share"])
    details = {"before": str(before or ""), "after": str(pool.policy or "")}
    audit_record(actor=user, verb="policy.activated", subject=f"pool:{pool.pk}", details=details)
    return pool


@transaction.atomic(durable=True)
def policy_try(*, user: User, pool_id: int, revision_id: int | None, share: int) -> Pool:
    """Let a share (percent) of a pool's episodes try a revision; None or 0 ends the trial. Raises Forbidden, NotFound
    and Invalid."""
    pool = _pool_locked(user, pool_id)
    if not 0 <= share <= 100:
        raise Invalid("A share is 0 to 100 percent.")
    pool.canary = _revision(revision_id) if share else None
    pool.canary_share = share if pool.canary else 0
    pool.save(update_fields=["canary", "canary_share"])
    details = {"canary": str(pool.canary or ""), "share": pool.canary_share}
    audit_record(actor=user, verb="policy.tried", subject=f"pool:{pool.pk}", details=details)
    return pool


def _pool_locked(user: User, pool_id: int) -> Pool:
    policies_admin_check(user)
    pool = Pool.objects.select_for_update(of=("self",)).select_related("policy", "canary").filter(pk=pool_id).first()
    if pool is None:
        raise NotFound("There is no such pool.")
    return pool


def _revision(revision_id: int | None) -> PolicyRevision | None:
    if revision_id is None:
        return None
    found = PolicyRevision.objects.filter(pk=revision_id).first()
    if found is None:
        raise NotFound("There is no such revision.")
    return found


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
