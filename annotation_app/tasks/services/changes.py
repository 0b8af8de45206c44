"""Changing tasks that are there: edited, withdrawn, deleted, marked to become gold."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

import protocol.trajectory.tasks
from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.audit.verbs import Verb
from annotation_app.errors import Conflict, NotFound
from annotation_app.tasks.models import Assignment, Task, TaskState
from annotation_app.tasks.services.claims import state_of


def _locked(pool_id: int, task_ids: Collection[int]) -> QuerySet[Task]:
    tasks = Task.objects.select_for_update(of=("self",)).select_related("pool")
    return tasks.filter(pool_id=pool_id, pk__in=task_ids).order_by("pk")


def _untried(tasks: QuerySet[Task]) -> QuerySet[Task]:
    """Those of them that nobody was ever given; every episode belongs to an assignment."""
    return tasks.filter(~Exists(Assignment.objects.filter(task=OuterRef("pk"))))


@transaction.atomic(durable=True)
def task_change(*, user: User, task_id: int, changes: dict[str, Any]) -> Task:
    """Change the instruction, steps or hosts of a task that nobody has been given: its episodes show what they were
    done for. Raises Forbidden, NotFound, and Conflict for a task that somebody has, or has done."""
    role_check(user, Role.ADMIN)
    task = Task.objects.select_for_update(of=("self",)).filter(pk=task_id).first()
    if task is None:
        raise NotFound("There is no such task.", field="task_id")
    if not _untried(Task.objects.filter(pk=task_id)).exists():
        raise Conflict(
            "This task was given to an annotator, so it cannot change. Withdraw it and add another.", code="task_tried"
        )
    before = task.definition.model_dump(mode="json", include=set(changes))
    task.definition = protocol.trajectory.tasks.Task.model_validate(task.definition.model_dump() | changes)
    task.save(update_fields=["definition"])
    after = task.definition.model_dump(mode="json", include=set(changes))
    audit_record(actor=user, verb="task.changed", subject=f"task:{task.pk}", details={"before": before, "after": after})
    return task


@transaction.atomic(durable=True)
def tasks_withdraw(*, user: User, pool_id: int, task_ids: Collection[int], withdrawn: bool) -> int:
    """Give these tasks to nobody any more, or give them out again; how many that changed. Who has one may finish it.
    Broken tasks stay broken. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    found = _locked(pool_id, task_ids).exclude(state=TaskState.BROKEN)
    tasks = list(found.exclude(state=TaskState.WITHDRAWN) if withdrawn else found.filter(state=TaskState.WITHDRAWN))
    for task in tasks:
        task.state = TaskState.WITHDRAWN if withdrawn else TaskState.WAITING
        task.state = state_of(task)
    Task.objects.bulk_update(tasks, ["state"])
    verb: Verb = "tasks.withdrawn" if withdrawn else "tasks.restored"
    audit_record(actor=user, verb=verb, subject=f"pool:{pool_id}", details={"tasks": [task.key for task in tasks]})
    return len(tasks)


@transaction.atomic(durable=True)
def tasks_delete(
    *, user: User, pool_id: int, task_ids: Collection[int]
) -> tuple[tuple[protocol.trajectory.tasks.Task, ...], int]:
    """Delete those of these tasks that nobody was ever given: their definitions, and how many others are kept. Raises
    Forbidden."""
    role_check(user, Role.ADMIN)
    locked = list(_locked(pool_id, task_ids))
    untried = _untried(Task.objects.filter(pk__in=[task.pk for task in locked]))
    definitions = tuple(task.definition for task in untried.order_by("position", "pk"))
    untried.delete()
    keys = [definition.id for definition in definitions]
    audit_record(actor=user, verb="tasks.deleted", subject=f"pool:{pool_id}", details={"tasks": keys})
    return definitions, len(locked) - len(definitions)


@transaction.atomic(durable=True)
def gold_want(*, user: User, pool_id: int, task_ids: Collection[int], wanted: bool) -> int:
    """Mark tasks whose first episode that a reviewer accepts becomes the reference, or take the mark away; how many
    that changed. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    tasks = _locked(pool_id, task_ids).filter(gold_wanted=not wanted)
    keys = [task.key for task in tasks]
    Task.objects.filter(pool_id=pool_id, key__in=keys).update(gold_wanted=wanted)
    details = {"tasks": keys, "wanted": wanted}
    audit_record(actor=user, verb="tasks.gold_wanted", subject=f"pool:{pool_id}", details=details)
    return len(keys)


def gold_adopt(*, actor: User, task_id: int, episode_id: UUID) -> None:
    """Let an accepted episode show how its task is done, where the task is marked and has no reference yet. Runs inside
    the caller's transaction. Does nothing while somebody else has the task."""
    task = Task.objects.select_for_update(of=("self",)).select_related("pool").get(pk=task_id)
    if not task.gold_wanted or task.gold_id is not None or task.held:
        return
    task.gold_id, task.gold_wanted = episode_id, False
    task.state = state_of(task)
    task.save(update_fields=["gold", "gold_wanted", "state"])
    details = {"episode": str(episode_id)}
    audit_record(actor=actor, verb="task.gold_set", subject=f"task:{task.pk}", details=details)
