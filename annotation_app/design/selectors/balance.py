"""Reading how tasks are spread over the levels of difficulty."""

from collections import defaultdict

from django.db.models import Count, Q, QuerySet

from annotation_app.accounts.models import User
from annotation_app.design.application_schemas import BalanceLevel, BalancePage, BalanceScope, SuggestedPlace
from annotation_app.design.balance import EVEN, TOLERANCE, WantedShares, balance_of
from annotation_app.design.coverage import CoverageNode, gaps
from annotation_app.design.models import DifficultyTarget, Node, Placement
from annotation_app.design.selectors import accepted_by_cell, design_check, design_tasks, node_paths
from annotation_app.errors import NotFound
from annotation_app.tasks.models import Pool, Task, TaskState

PLACES = 3
"""Leaves that are suggested for a level."""
GONE = (TaskState.WITHDRAWN, TaskState.BROKEN)
"""Tasks in these states are not given out, and do not count."""


def balance_page(*, user: User, pool_id: int | None) -> BalancePage:
    """The tasks of a pool, or of all but practice, by level. Raises Forbidden and NotFound."""
    design_check(user)
    if pool_id is not None:
        pool_of(pool_id=pool_id)
    tasks = balanced_tasks(pool_id=pool_id)
    counted = {
        level: (count, guessed)
        for level, count, guessed in tasks.filter(placement__isnull=False)
        .order_by()
        .values_list("placement__level")
        .annotate(count=Count("pk"), guesses=Count("pk", filter=Q(placement__guessed=True)))
    }
    wanted, own = wanted_shares(pool_id=pool_id)
    places = _places()
    levels = balance_of({level: count for level, (count, _) in counted.items()}, wanted)
    return BalancePage(
        pool=pool_id,
        pools=tuple(BalanceScope(id=pk, name=name) for pk, name in _pools().values_list("pk", "name")),
        levels=tuple(
            BalanceLevel(
                **one.model_dump(), guessed=counted.get(one.level, (0, 0))[1], places=places.get(one.level, ())
            )
            for one in levels
        ),
        tasks=sum(count for count, _ in counted.values()),
        unrated=tasks.filter(placement__isnull=True).count(),
        wanted=wanted,
        own=own,
        tolerance=TOLERANCE,
    )


def balanced_tasks(*, pool_id: int | None) -> QuerySet[Task]:
    """The tasks that count: those that can be done or were, without practice."""
    found = design_tasks().exclude(state__in=GONE)
    return found if pool_id is None else found.filter(pool=pool_id)


def wanted_shares(*, pool_id: int | None) -> tuple[WantedShares, bool]:
    """A pool's own shares or those of all pools, and whether they were set for what was asked for."""
    asked = Q(pool__isnull=True) | Q(pool=pool_id)
    found = {target.pool_id: target.shares for target in DifficultyTarget.objects.filter(asked)}
    return found.get(pool_id) or found.get(None) or EVEN, pool_id in found


def pool_of(*, pool_id: int) -> Pool:
    """Raises NotFound."""
    found = _pools().filter(pk=pool_id).first()
    if found is None:
        raise NotFound("There is no such pool.", field="pool")
    return found


def _pools() -> QuerySet[Pool]:
    return Pool.objects.filter(practice=False).order_by("name")


def _places() -> dict[int, tuple[SuggestedPlace, ...]]:
    """Leaves that lack attempts, by level, the most wanted first."""
    nodes = [CoverageNode(node.pk, node.parent_id, node.importance) for node in Node.objects.all()]
    own = {
        (node, level): count
        for node, level, count in Placement.objects.filter(node__isnull=False, task__in=balanced_tasks(pool_id=None))
        .order_by()
        .values_list("node", "level")
        .annotate(count=Count("pk"))
    }
    paths = node_paths()
    found: dict[int, list[SuggestedPlace]] = defaultdict(list)
    for cell, _ in gaps(nodes, accepted_by_cell()):
        path, tasks = " / ".join(paths[cell.node]), own.get((cell.node, cell.level), 0)
        found[cell.level].append(SuggestedPlace(node=cell.node, path=path, tasks=tasks))
    return {level: _first_places(places) for level, places in found.items()}


def _first_places(places: list[SuggestedPlace]) -> tuple[SuggestedPlace, ...]:
    """The most wanted, one of them with tasks that can be worded otherwise, if there is any."""
    with_tasks = next((at for at, place in enumerate(places) if place.tasks), 0)
    last = max(PLACES - 1, with_tasks)
    return (*places[: PLACES - 1], *places[last : last + 1])
