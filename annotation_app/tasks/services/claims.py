"""Claiming and returning tasks."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import cache

from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotation_app.accounts.models import User
from annotation_app.audit.services import audit_record
from annotation_app.audit.sources import Part
from annotation_app.compiled_queries import CompiledQuery
from annotation_app.errors import Conflict, NotFound
from annotation_app.policies.selectors import policies_admin_check
from annotation_app.tasks.models import Assignment, AssignmentState, Pool, Sampling, Task, TaskState
from annotation_app.tasks.selectors import pools_with_tasks, tasks_open_in, unseen_gold_tasks, weights_of
from annotation_app.tasks.task_sampling import seeded_chance, weighted_order


def lease_end(pool: Pool, claimed_at: datetime, *, paused: bool = False) -> datetime:
    """When an assignment renewed now runs out; its time limit counts from when it was claimed."""
    until = timezone.now() + (timedelta(hours=pool.pause_hours) if paused else timedelta(minutes=pool.lease_minutes))
    return until if pool.minutes is None else min(until, claimed_at + timedelta(minutes=pool.minutes))


def state_of(task: Task) -> TaskState:
    """Where a task stands by its counts."""
    if task.state in (TaskState.BROKEN, TaskState.WITHDRAWN):
        return TaskState(task.state)
    if task.gold_id is not None or task.finished >= task.pool.overlap:
        return TaskState.DONE
    return TaskState.CLAIMED if task.held + task.finished >= task.pool.overlap else TaskState.WAITING


def assignment_claim(*, user: User, held: Mapping[int, str], pool_id: int | None, practice: bool) -> Assignment | None:
    """Claim what waits for this person: of what they hold (see `assignments_held`) the work that came back, then the
    next task nobody else is claiming at this moment, from the pool that comes first. Runs inside the caller's
    transaction. Raises Conflict where they have to agree to something before."""
    back = [key for key, state in held.items() if state == AssignmentState.RETURNED]
    return (_returned_claim(user, back) if back else None) or _waiting_claim(user, pool_id, practice)


def _returned_claim(user: User, back: list[int]) -> Assignment | None:
    waiting = Assignment.objects.select_for_update(of=("self",)).filter(
        pk__in=back, state=AssignmentState.RETURNED, task__pool__stopped_at__isnull=True
    )
    returned = waiting.select_related("task__pool").order_by("created_at").first()
    if returned is None:
        return None
    returned.state = AssignmentState.RELEASED
    returned.save(update_fields=["state"])
    return _assignment_make(user, returned.task)


def _waiting_claim(user: User, pool_id: int | None, practice: bool) -> Assignment | None:
    for pool in pools_with_tasks(user, pool_id=pool_id, practice=practice):
        task = _gold_task(pool, user) or _next_task(pool, user)
        if task is not None:
            if pool.consent and not pool.agreed:  # type: ignore[attr-defined]  # annotated by pools_giving
                raise _consent_needed(pool)
            task.pool = pool
            if task.gold_id is None:
                task.held += 1
                task.state = state_of(task)
                task.save(update_fields=["held", "state"])
            return _assignment_make(user, task)
    return None


def _consent_needed(pool: Pool) -> Conflict:
    return Conflict(
        f"Tasks of {pool.name} are given to people who agreed to its terms.",
        code="consent_needed",
        extra={"pool": pool.pk, "name": pool.name, "version": pool.consent_version, "text": pool.consent},
    )


def _next_task(pool: Pool, user: User) -> Task | None:
    values = {"pool": pool.pk, "user": user.pk}
    task = next(iter(_first_open_task(pool.practice, True).instances(**values)), None)
    if task is None and pool.overlap > 1:  # what somebody claims at this moment may have room for one more
        task = next(iter(_first_open_task(pool.practice, False).instances(**values)), None)
    if task is not None and pool.sampling == Sampling.BY_NEED:
        waiting = tasks_open_in(pool, user)
        return _most_needed_task(pool, waiting, _unlocked(waiting)) or task
    return task


def _unlocked(waiting: QuerySet[Task]) -> QuerySet[Task]:
    return waiting.select_for_update(skip_locked=True, of=("self",))


@cache
def _first_open_task(practice: bool, skip_locked: bool) -> CompiledQuery[Task]:
    """The first task of a pool that this person can take, locked; with `skip_locked` the first that nobody locks."""

    def build(pool: int, user: int) -> QuerySet[Task]:
        waiting = tasks_open_in(Pool(pk=pool, practice=practice), User(pk=user))
        return waiting.select_for_update(skip_locked=skip_locked, of=("self",)).order_by("position", "id")[:1]

    return CompiledQuery(build, pool=-1, user=-2)


def _most_needed_task(pool: Pool, waiting: QuerySet[Task], free: QuerySet[Task]) -> Task | None:
    """A task of this pool, drawn by need; one that somebody else is claiming at this moment is passed over. The last
    assignment's number is the seed, so a draw can be repeated from the record."""
    seed = f"{pool.pk}:{Assignment.objects.aggregate(last=Max('id'))['last'] or 0}"
    order = weighted_order(weights_of(pool, waiting), seed)
    return next((found for key in order if (found := free.filter(pk=key).first()) is not None), None)


def _gold_task(pool: Pool, user: User) -> Task | None:
    """Now and then, a task whose answer is known and that they have not seen. How many tasks they had decides when: so
    a claim that failed and is made again is the same one."""
    if pool.gold_percent == 0:
        return None
    had = Assignment.objects.filter(annotator=user, task__pool=pool).count()
    if not seeded_chance(f"gold:{pool.pk}:{user.pk}:{had}", pool.gold_percent):
        return None
    return unseen_gold_tasks(user, pool).order_by("position", "id").first()


def _assignment_make(user: User, task: Task) -> Assignment:
    return Assignment.objects.create(task=task, annotator=user, expires_at=lease_end(task.pool, timezone.now()))


def assignment_end(*, assignment: Assignment, state: AssignmentState) -> None:
    """End a lease; the task goes where that leads. Runs inside the caller's transaction."""
    assignment.state = state
    assignment.save(update_fields=["state"])
    task = _task_locked(assignment.task_id)
    if state == AssignmentState.BROKEN:
        task.state = TaskState.BROKEN
    if task.gold_id is None:
        task.held = max(0, task.held - 1)
        task.finished += state == AssignmentState.DONE and not task.pool.practice
    task.done += state == AssignmentState.DONE
    task.state = state_of(task)
    task.save(update_fields=["held", "finished", "done", "state"])


def assignment_return(*, assignment: Assignment) -> None:
    """Keep a finished task for its annotator, who is to do it again. Runs inside the caller's transaction."""
    Assignment.objects.create(
        task=assignment.task,
        annotator_id=assignment.annotator_id,
        state=AssignmentState.RETURNED,
        expires_at=assignment.expires_at,
    )
    task = _task_locked(assignment.task_id)
    if task.gold_id is None:
        task.held += 1
        task.finished = max(0, task.finished - 1)
        task.state = state_of(task)
        task.save(update_fields=["held", "finished", "state"])


def _task_locked(task_id: int) -> Task:
    return Task.objects.select_for_update(of=("self",)).select_related("pool").get(pk=task_id)


@transaction.atomic(durable=True)
def task_reopen(*, user: User, task_id: int) -> Task:
    """Let a task be done again, by anybody. One that waits or is being done is left as it is. Raises Forbidden,
    NotFound, and Conflict for a broken one."""
    policies_admin_check(user)
    return task_open_again(actor=user, task_id=task_id)


def task_open_again(*, actor: User | None, task_id: int, part: Part | None = None) -> Task:
    """See `task_reopen`; without an actor this part of the platform does it. Runs inside the caller's transaction."""
    task = Task.objects.select_for_update(of=("self",)).select_related("pool").filter(pk=task_id).first()
    if task is None:
        raise NotFound("There is no such task.", field="task_id")
    if task.state == TaskState.BROKEN:
        raise Conflict("The task is broken.", code="task_broken")
    if task.state == TaskState.DONE and task.gold_id is None:
        task.finished, task.reopened_at = 0, timezone.now()
        task.state = state_of(task)
        task.save(update_fields=["state", "finished", "reopened_at"])
        audit_record(actor=actor, part=part, verb="task.reopened", subject=f"task:{task.pk}")
    return task
