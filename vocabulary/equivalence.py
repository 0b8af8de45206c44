"""When two actions mean the same, so that candidates are merged and agreement is counted."""

from typing import Any

from vocabulary.actions import Action, points_of
from vocabulary.inputs import plain

TOLERANCE = 5
"""How far apart two points may lie on either axis and still mean the same (pixels)."""


def equivalent(one: Action, other: Action, *, tolerance: int = TOLERANCE) -> bool:
    """Whether two actions are of one kind, name the same pixels within the tolerance, and say all else alike."""
    one, other = plain(one), plain(other)
    points, others = list(points_of(one)), list(points_of(other))
    if not points:
        return one == other
    near = all(
        abs(a.x - b.x) <= tolerance and abs(a.y - b.y) <= tolerance for a, b in zip(points, others, strict=False)
    )
    return near and len(points) == len(others) and _unplaced(one.model_dump()) == _unplaced(other.model_dump())


def _unplaced(value: Any) -> Any:
    """A dumped action without its coordinates."""
    if isinstance(value, dict):
        return {key: _unplaced(item) for key, item in value.items() if key not in ("x", "y")}
    if isinstance(value, tuple):
        return tuple(map(_unplaced, value))
    return value
