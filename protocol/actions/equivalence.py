"""Decides whether two actions mean the same, to merge candidates and count agreement."""

from typing import Any

from protocol.actions.inputs import simplify_action
from protocol.actions.types import Action, action_points

TOLERANCE = 5
"""How far apart two points may lie on either axis and still mean the same (pixels)."""


def equivalent(one: Action, other: Action, *, tolerance: int = TOLERANCE) -> bool:
    """Whether two actions are of one kind, name the same pixels within the tolerance, and say all else alike."""
    one, other = simplify_action(one), simplify_action(other)
    points, others = list(action_points(one)), list(action_points(other))
    if not points:
        return one == other
    near = all(
        abs(a.x - b.x) <= tolerance and abs(a.y - b.y) <= tolerance for a, b in zip(points, others, strict=False)
    )
    return (
        near
        and len(points) == len(others)
        and _without_coordinates(one.model_dump()) == _without_coordinates(other.model_dump())
    )


def _without_coordinates(value: Any) -> Any:
    """A dumped action without its coordinates."""
    if isinstance(value, dict):
        return {key: _without_coordinates(item) for key, item in value.items() if key not in ("x", "y")}
    if isinstance(value, tuple):
        return tuple(map(_without_coordinates, value))
    return value
