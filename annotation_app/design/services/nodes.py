"""Changing the graph; each change is in the audit log."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.design.difficulty import guess_rubric, level_of
from annotation_app.design.graph import GraphFormat, graph_read
from annotation_app.design.importance import MEASURES, Measures, importance_of
from annotation_app.design.models import Node, Placement
from annotation_app.design.schemas import DEEPEST, GraphReport, GraphRow, NodeChange, NodeIn
from annotation_app.design.selectors import node_of, node_paths, tasks_unplaced
from annotation_app.errors import Conflict
from protocol.trajectory.tasks import Task

NAME_TAKEN = "There is a node of this name already."
BATCH = 500
WEIGHT_FIELDS = ("importance", *MEASURES, "measured_by")


@transaction.atomic(durable=True)
def node_make(*, user: User, wanted: NodeIn) -> Node:
    """A new node. Raises Forbidden, NotFound and Conflict."""
    role_check(user, Role.ADMIN)
    if wanted.parent is not None:
        node_of(node_id=wanted.parent, field="parent")
        if len(node_paths()[wanted.parent]) >= DEEPEST:
            raise Conflict("A part of a function has no parts of its own.", code="too_deep")
    try:
        with transaction.atomic():
            fields = weight_fields(wanted.importance, wanted.measures, wanted.measured_by)
            node = Node.objects.create(parent_id=wanted.parent, name=wanted.name, **fields)
    except IntegrityError:
        raise Conflict(NAME_TAKEN, code="name_taken", field="name") from None
    audit_record(actor=user, verb="design.node_made", subject=f"node:{node.pk}", details=wanted.model_dump())
    return node


@transaction.atomic(durable=True)
def node_change(*, user: User, node_id: int, wanted: NodeChange) -> Node:
    """Name it otherwise, or weigh it otherwise. Raises Forbidden, NotFound and Conflict."""
    role_check(user, Role.ADMIN)
    node = node_of(node_id=node_id)
    before = {"name": node.name, "importance": node.importance}
    node.name = wanted.name
    fields = weight_fields(wanted.importance, wanted.measures, wanted.measured_by)
    for field, value in fields.items():
        setattr(node, field, value)
    try:
        with transaction.atomic():
            node.save(update_fields=["name", *fields])
    except IntegrityError:
        raise Conflict(NAME_TAKEN, code="name_taken", field="name") from None
    details = {"before": before, "after": wanted.model_dump()}
    audit_record(actor=user, verb="design.node_changed", subject=f"node:{node.pk}", details=details)
    return node


@transaction.atomic(durable=True)
def node_delete(*, user: User, node_id: int) -> None:
    """Remove a node and all below it from the graph; its tasks have no place then. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    node = node_of(node_id=node_id)
    path = "/".join(node_paths()[node_id])
    node.delete()
    audit_record(actor=user, verb="design.node_deleted", subject=f"node:{node_id}", details={"path": path})


@transaction.atomic(durable=True)
def graph_import(*, user: User, data: bytes, form: GraphFormat, preview: bool) -> GraphReport:
    """Add the nodes of a file and take over its importances; what the file does not name stays. With a fault nothing is
    changed. Raises Forbidden, and Conflict where somebody else adds nodes meanwhile."""
    role_check(user, Role.ADMIN)
    rows, faults = graph_read(data, form)
    if faults:
        return GraphReport(added=0, changed=0, placed=0, faults=faults)
    added = changed = 0
    with _growing() as known:
        weighed = {node["pk"]: node for node in Node.objects.values("pk", *WEIGHT_FIELDS)}
        for row in sorted(rows, key=lambda row: len(_path(row))):
            there = _path(row) in known
            node = _node_ensure(_path(row), known)
            added += not there
            fields = weight_fields(row.importance, row.measures, row.source)
            if _differs(fields, weighed.get(node)):
                changed += there
                Node.objects.filter(pk=node).update(**fields)
        if preview:
            transaction.set_rollback(True)
    if not preview:
        audit_record(actor=user, verb="design.imported", subject="graph", details={"added": added, "changed": changed})
    return GraphReport(added=added, changed=changed, placed=0, faults=())


@transaction.atomic(durable=True)
def suites_derive(*, user: User) -> GraphReport:
    """Give every task of a bundled suite that stands nowhere its place: the suite, the task's family, its kind. Raises
    Forbidden, and Conflict where somebody else adds nodes meanwhile."""
    role_check(user, Role.ADMIN)
    with _growing() as known:
        before, placed = len(known), 0
        for task in tasks_unplaced().iterator(chunk_size=BATCH):
            path = path_of(task.definition)
            if path is None:
                continue
            rubric = guess_rubric(task.definition)
            node, level = _node_ensure(path, known), level_of(rubric)
            Placement.objects.update_or_create(
                task=task,
                defaults={"node_id": node},
                create_defaults={"node_id": node, "rubric": rubric, "level": level},
            )
            placed += 1
        added = len(known) - before
    audit_record(actor=user, verb="design.derived", subject="graph", details={"added": added, "placed": placed})
    return GraphReport(added=added, changed=0, placed=placed, faults=())


def weight_fields(importance: float, measures: Measures | None, measured_by: str) -> dict[str, Any]:
    """A node's importance and what it follows from, as columns."""
    if measures is None:
        return {"importance": importance, **dict.fromkeys(MEASURES), "measured_by": ""}
    return {"importance": importance_of(measures), **measures.model_dump(), "measured_by": measured_by}


def _differs(fields: Mapping[str, Any], before: Mapping[str, Any] | None) -> bool:
    """Whether a row of a file changes a node. One without measures, as in older files, changes only the importance:
    where that is what it was, the node keeps its measures."""
    if before is None:
        return True
    names = WEIGHT_FIELDS if fields["frequency"] is not None else ("importance",)
    return any(fields[name] != before[name] for name in names)


def path_of(task: Task) -> tuple[str, ...] | None:
    """Where a task of a suite belongs: `web`, `shop`, `buy` for the name `shop/buy`; None for one of no suite."""
    if not task.suite or not task.name:
        return None
    family, _, rest = task.name.replace(".", "/").partition("/")
    return tuple(part[:100] for part in (task.suite, family, rest) if part)


@contextmanager
def _growing() -> Iterator[dict[tuple[str, ...], int]]:
    """The nodes by their paths, for many to be added, all or none. Raises Conflict where somebody else added the same
    meanwhile."""
    try:
        with transaction.atomic():
            yield {path: key for key, path in node_paths().items()}
    except IntegrityError:
        raise Conflict("Another person is changing the graph; try again.", code="graph_changed") from None


def _path(row: GraphRow) -> tuple[str, ...]:
    return tuple(part for part in (row.application, row.function, row.part) if part)


def _node_ensure(path: tuple[str, ...], known: dict[tuple[str, ...], int]) -> int:
    """The node of a path, made with all above it where it is not there."""
    if path not in known:
        parent = _node_ensure(path[:-1], known) if len(path) > 1 else None
        known[path] = Node.objects.create(parent_id=parent, name=path[-1]).pk
    return known[path]
