"""Rows of trajectories with a few values replaced by what does not belong there, from a seed."""

import copy
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

WRONG: tuple[Any, ...] = (
    *(None, True, 0, -1, 1.5, float("nan"), float("inf"), 10**30, -(10**30), 10**400, [], {}, [[]], {"a": {}}, [1, 2]),
    *("", " ", "\x00", "\ud83d", "\udce9 x", "x" * 300, "x" * 30_000, "é" * 5_000, "w " * 600_000),
    *("0001-01-01T00:00:00", "9999-12-31T23:59:59.999999+14:00", "2026-13-01", "2026-01-01T00:00:00Z"),
    *("../x", f"images/{'a' * 64}.jpg", "a" * 64, "text/html", "00000000-0000-0000-0000-000000000007"),
    *("click", "human", "policy", "override", "success", {"kind": "click", "x": 1, "y": 2}),
)
NAMES = ("id", "trajectory_id", "session_id", "task_id")
"""What rows are called by."""
Place = tuple[str | int, ...]


def corrupt_rows(rows: Sequence[dict[str, Any]], *, seed: int, count: int) -> Iterator[bytes]:
    """Lines of JSON, each a row of these under a name of its own with one to three faults; the same seed gives the
    same lines."""
    rng = random.Random(seed)
    for number in range(count):
        row = copy.deepcopy(rng.choice(rows))
        row |= {name: f"row {number}" for name in NAMES if name in row}
        for _ in range(rng.choice((1, 1, 2, 3))):
            _corrupt_row(rng, row)
        yield json.dumps(row).encode() + b"\n"


def _corrupt_row(rng: random.Random, row: dict[str, Any]) -> None:
    *above, last = rng.choice(list(_places(row)))
    around: Any = row
    for part in above:
        around = around[part]
    what = rng.random()
    if what < 0.8:
        around[last] = copy.deepcopy(rng.choice(WRONG))
    elif what < 0.9 and len(row) > 1:
        del around[last]
    elif isinstance(around, list):
        around.insert(int(last), copy.deepcopy(around[int(last)]))
    else:
        around[rng.choice(("extra", "format", "other", "\ud83d", "\x00"))] = copy.deepcopy(rng.choice(WRONG))


def _places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Every place in a decoded JSON value, from the outside in."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, below in parts:
        yield (*above, part)
        yield from _places(below, (*above, part))
