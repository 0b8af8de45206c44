"""Queries on the graph, its coverage, and the tasks of its cells."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import cast

from django.db.models import Count, Q, QuerySet

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.design.coverage import TARGET_ATTEMPTS, Cell, CoverageNode, gaps, weights
from annotation_app.design.difficulty import LEVELS, RUBRIC_SCALE, Level, guess_rubric, level_of
from annotation_app.design.importance import WEIGHTS, Measures
from annotation_app.design.models import Node, Placement, Suggestion, Writer, Writing
from annotation_app.design.schemas import (
    CellOut,
    DesignPage,
    Gap,
    GraphRow,
    NodeOut,
    PlacedPage,
    PlacedTask,
    SuggestionOut,
    WriterOut,
    WritingOut,
)
from annotation_app.episodes.models import Episode, Review
from annotation_app.errors import NotFound
from annotation_app.tasks.models import Task, TaskState

GAPS = 20
PAGE = 50


def design_check(user: User) -> None:
    """Raises Forbidden for anyone but admins and researchers."""
    role_check(user, Role.ADMIN, Role.RESEARCHER)


def design_page(*, user: User) -> DesignPage:
    """The whole graph. Raises Forbidden."""
    design_check(user)
    nodes = list(Node.objects.all())
    places = [CoverageNode(node.pk, node.parent_id, node.importance) for node in nodes]
    weighed, own = weights(places), _own_cells()
    accepted = _accepted_of(own)
    whole = _summed(places, own)
    return DesignPage(
        nodes=tuple(
            NodeOut(
                id=node.pk,
                parent=node.parent_id,
                name=node.name,
                importance=node.importance,
                measures=measures_of(node),
                measured_by=node.measured_by,
                weight=weighed.get(node.pk, 0.0),
                cells=tuple(
                    CellOut(level=level, tasks=counts[0], done=counts[1], accepted=counts[2])
                    for level in LEVELS
                    if (counts := whole.get((node.pk, level)))
                ),
            )
            for node in nodes
        ),
        gaps=tuple(Gap(node=cell.node, level=cell.level, score=score) for cell, score in gaps(places, accepted)[:GAPS]),
        unplaced=tasks_unplaced().count(),
        writers=tuple(WriterOut(id=one.pk, name=str(one)) for one in Writer.objects.all()),
        wanted=TARGET_ATTEMPTS,
        rubric=RUBRIC_SCALE,
        importance_weights=WEIGHTS,
    )


def placed_page(*, user: User, node_id: int | None, level: int | None, after: int = 0) -> PlacedPage:
    """The tasks under a node and all below it, of one level or of all; without a node those without a place. Raises
    Forbidden and NotFound."""
    design_check(user)
    found = tasks_unplaced()
    if node_id is not None:
        node_of(node_id=node_id)
        found = design_tasks().filter(placement__node__in=below(node_id))
        if level is not None:
            found = found.filter(placement__level=level)
    rows = list(found.filter(pk__gt=after).select_related("pool", "placement").order_by("pk")[: PAGE + 1])
    page = rows[:PAGE]
    accepted = _accepted(page)
    writings = _writings(page)
    return PlacedPage(
        items=tuple(_placed(task, accepted.get(task.pk, 0), writings.get(task.pk)) for task in page),
        after=page[-1].pk if len(rows) > PAGE else None,
    )


def tasks_unplaced() -> QuerySet[Task]:
    """Tasks that are under no node."""
    return design_tasks().filter(Q(placement__isnull=True) | Q(placement__node__isnull=True))


def node_of(*, node_id: int, field: str = "node_id") -> Node:
    """The node that this field of a request names. Raises NotFound."""
    found = Node.objects.filter(pk=node_id).first()
    if found is None:
        raise NotFound("There is no such node.", field=field)
    return found


def below(node_id: int) -> set[int]:
    """A node and all below it."""
    children: dict[int | None, list[int]] = defaultdict(list)
    for key, parent in Node.objects.values_list("pk", "parent_id"):
        children[parent].append(key)
    found, waiting = set[int](), [node_id]
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += children[key]
    return found


def graph_rows(*, user: User) -> Iterator[GraphRow]:
    """Every node by its path. Raises Forbidden."""
    design_check(user)
    paths = node_paths()
    for node in sorted(Node.objects.all(), key=lambda node: paths[node.pk]):
        application, function, part = (*paths[node.pk], "", "")[:3]
        yield GraphRow(
            application=application,
            function=function,
            part=part,
            importance=node.importance,
            frequency=node.frequency,
            benefit=node.benefit,
            transfer=node.transfer,
            source=node.measured_by,
        )


def measures_of(node: Node) -> Measures | None:
    """What a node's importance follows from; None where it is typed."""
    if node.frequency is None or node.benefit is None or node.transfer is None:
        return None
    return Measures(frequency=node.frequency, benefit=node.benefit, transfer=node.transfer)


def node_paths() -> dict[int, tuple[str, ...]]:
    """The names from the root to each node."""
    nodes = {node.pk: node for node in Node.objects.all()}

    def path(node: Node) -> tuple[str, ...]:
        return (node.name,) if node.parent_id is None else (*path(nodes[node.parent_id]), node.name)

    return {key: path(node) for key, node in nodes.items()}


def design_tasks() -> QuerySet[Task]:
    """Every task but those of practice."""
    return Task.objects.filter(pool__practice=False)


def accepted_by_cell() -> dict[Cell, int]:
    """Accepted attempts of each node at each level, without what is below it."""
    return _accepted_of(_own_cells())


def _accepted_of(own: dict[tuple[int, int], tuple[int, int, int]]) -> dict[Cell, int]:
    return {Cell(node, cast(Level, level)): counts[2] for (node, level), counts in own.items()}


def _own_cells() -> dict[tuple[int, int], tuple[int, int, int]]:
    """Tasks, tasks done, and accepted attempts of each node at each level, without what is below it."""
    placed = Placement.objects.filter(node__isnull=False, task__pool__practice=False).order_by()
    counted = placed.values_list("node", "level").annotate(
        tasks=Count("pk"), finished=Count("pk", filter=Q(task__state=TaskState.DONE))
    )
    attempts = {
        (node, level): count
        for node, level, count in Episode.objects.filter(
            review=Review.ACCEPTED, status="finished", task__placement__node__isnull=False, task__pool__practice=False
        )
        .order_by()
        .values_list("task__placement__node", "task__placement__level")
        .annotate(count=Count("pk"))
    }
    return {(node, level): (tasks, done, attempts.get((node, level), 0)) for node, level, tasks, done in counted}


def _summed(
    places: Iterable[CoverageNode], own: dict[tuple[int, int], tuple[int, int, int]]
) -> dict[tuple[int, int], tuple[int, int, int]]:
    parents = {place.id: place.parent for place in places}
    whole: dict[tuple[int, int], tuple[int, int, int]] = defaultdict(lambda: (0, 0, 0))
    for (node, level), counts in own.items():
        at: int | None = node
        while at is not None:
            tasks, done, accepted = whole[at, level]
            whole[at, level] = (tasks + counts[0], done + counts[1], accepted + counts[2])
            at = parents[at]
    return dict(whole)


def _accepted(tasks: list[Task]) -> dict[int, int]:
    found = Episode.objects.filter(task__in=tasks, review=Review.ACCEPTED, status="finished").order_by()
    return dict(found.values_list("task").annotate(count=Count("pk")))


def _writings(tasks: list[Task]) -> dict[int, Writing]:
    found = Writing.objects.filter(task__in=tasks).order_by("task_id", "-created_at").distinct("task_id")
    return {one.task_id: one for one in found.select_related("writer")}


def writing_out(writing: Writing) -> WritingOut:
    """A request with the wordings that wait."""
    waiting = Suggestion.objects.filter(writing=writing, decided_at__isnull=True)
    return WritingOut(
        id=writing.pk,
        writer=str(writing.writer),
        status=writing.status,
        error=writing.error,
        suggestions=tuple(SuggestionOut(id=one.pk, text=one.text) for one in waiting),
    )


def _placed(task: Task, accepted: int, writing: Writing | None) -> PlacedTask:
    placement: Placement | None = getattr(task, "placement", None)
    rubric = placement.rubric if placement else guess_rubric(task.definition)
    return PlacedTask(
        id=task.pk,
        pool=task.pool.name,
        key=task.key,
        instruction=task.definition.instruction,
        state=task.state,
        level=level_of(rubric),
        rubric=rubric,
        guessed=placement.guessed if placement else True,
        variant_of=placement.variant_of_id if placement else None,
        accepted=accepted,
        writing=writing_out(writing) if writing else None,
    )
