"""Coverage of the graph and its largest gaps. Pure functions."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from annotation_app.design.difficulty import LEVELS, Level

TARGET_ATTEMPTS = 3
"""Accepted attempts that a cell, a node at one level, should have."""


class CoverageNode(NamedTuple):
    """A node of the graph as coverage sees it."""

    id: int
    parent: int | None
    importance: float


class Cell(NamedTuple):
    """A leaf of the graph at one level of difficulty."""

    node: int
    level: Level


def weights(places: Sequence[CoverageNode]) -> dict[int, float]:
    """How much of all work each node stands for: a node's share among its siblings, by their importance, of what its
    parent stands for. The roots are 1 together."""
    children: dict[int | None, list[CoverageNode]] = {}
    for place in places:
        children.setdefault(place.parent, []).append(place)
    found: dict[int, float] = {}
    waiting: list[tuple[int | None, float]] = [(None, 1.0)]
    while waiting:
        parent, whole = waiting.pop()
        siblings = children.get(parent, [])
        total = sum(place.importance for place in siblings)
        for place in siblings:
            found[place.id] = whole * place.importance / total if total else 0.0
            waiting.append((place.id, found[place.id]))
    return found


def gaps(places: Sequence[CoverageNode], accepted: Mapping[Cell, int]) -> list[tuple[Cell, float]]:
    """The cells that lack attempts, the most wanted first: a leaf's weight, times the share of its attempts that are
    missing; among equals the easier."""
    parents = {place.parent for place in places}
    weighed = weights(places)
    cells = [Cell(place.id, level) for place in places if place.id not in parents for level in LEVELS]
    scored = [(cell, weighed.get(cell.node, 0.0) * _missing(accepted.get(cell, 0))) for cell in cells]
    return sorted((one for one in scored if one[1] > 0), key=lambda one: (-one[1], one[0].level, one[0].node))


def _missing(accepted: int) -> float:
    return 1 - min(1.0, accepted / TARGET_ATTEMPTS)
