"""What health checks remember from one time to the next: since when a part is as it is, and how the disk filled.

It is kept in Redis and lost with it: then the parts are as they are since now.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import cast

from django.core.cache import cache

DAY = 86_400.0
SAMPLE_EVERY = 600.0
"""Seconds between two notes of how full the disk is."""
SHORTEST = 3_600.0
"""Over less time than this nothing is said of how fast a disk fills (seconds)."""
KEPT = 7 * DAY
STATES, DISK = "health:states", "health:disk"
Sample = tuple[float, int]
"""When, and how many bytes were in use."""


def since(states: dict[str, str], now: datetime) -> dict[str, datetime]:
    """Since when each part has been in the state it is in; what changed has changed now."""
    known = cast(dict[str, list[str]], cache.get(STATES) or {})
    told = {
        name: known[name] if name in known and known[name][0] == state else [state, now.isoformat()]
        for name, state in states.items()
    }
    if told != known:
        cache.set(STATES, told, KEPT)
    return {name: datetime.fromisoformat(at) for name, (_state, at) in told.items()}


def disk_note(now: float, used: int) -> tuple[Sample, ...]:
    """Note how full the disk is, now and then; what was noted of the last day."""
    samples: tuple[Sample, ...] = tuple(
        (at, bytes_used) for at, bytes_used in cast(list[Sample], cache.get(DISK) or [])
    )
    if not samples or now - samples[-1][0] >= SAMPLE_EVERY:
        samples = (*(sample for sample in samples if now - sample[0] < DAY), (now, used))
        cache.set(DISK, samples, KEPT)
    return samples


def growth(samples: Sequence[Sample], now: float, used: int) -> float | None:
    """Bytes a day by which the disk fills; None while too little is known."""
    if not samples or now - samples[0][0] < SHORTEST:
        return None
    return (used - samples[0][1]) / (now - samples[0][0]) * DAY
