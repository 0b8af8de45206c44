"""Set the place of tasks in the graph, and their difficulty."""

from django.db import transaction

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.design.difficulty import guess_rubric, level_of
from annotation_app.design.models import Placement
from annotation_app.design.schemas import PlacementIn
from annotation_app.design.selectors import node_of
from annotation_app.errors import NotFound
from annotation_app.tasks.models import Task


@transaction.atomic(durable=True)
def tasks_place(*, user: User, wanted: PlacementIn) -> None:
    """Place tasks, all or none. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    if wanted.node is not None:
        node_of(node_id=wanted.node, field="node")
    tasks = Task.objects.in_bulk(wanted.tasks)
    if len(tasks) < len(set(wanted.tasks)):
        raise NotFound("There is no such task.", field="tasks")
    for task in tasks.values():
        task_place(task=task, node_id=wanted.node, wanted=wanted)
    details = {"tasks": sorted(tasks), "node": wanted.node, "rubric": wanted.rubric and wanted.rubric.model_dump()}
    audit_record(actor=user, verb="design.placed", subject=f"node:{wanted.node or ''}", details=details)


def task_place(*, task: Task, node_id: int | None, wanted: PlacementIn) -> None:
    """Runs inside the caller's transaction."""
    rubric = wanted.rubric or guess_rubric(task.definition)
    made = {"node_id": node_id, "rubric": rubric, "level": level_of(rubric), "guessed": wanted.rubric is None}
    defaults: dict[str, object] = {} if node_id is None else {"node_id": node_id}
    if wanted.rubric is not None:
        defaults |= {"rubric": rubric, "level": level_of(rubric), "guessed": False}
    Placement.objects.update_or_create(task=task, defaults=defaults, create_defaults=made)
