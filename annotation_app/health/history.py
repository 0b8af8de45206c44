"""What health checks remember from one time to the next: since when a part is as it is, and how the disk filled.

It is kept in Redis and lost with it: then the parts are as they are since now.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast
from urllib.parse import quote

from django.core.cache import cache

from annotation_app.health.part_status import SILENT_PROBLEMS
from annotation_app.health.schemas import Check

DAY_SECONDS = 86_400.0
SAMPLE_INTERVAL_SECONDS = 600.0
"""Seconds between two notes of how full the disk is."""
MIN_SPAN_SECONDS = 3_600.0
"""Over less time than this nothing is said of how fast a disk fills (seconds)."""
CACHE_SECONDS = 7 * DAY_SECONDS
STATES_KEY, DISK_KEY, NOTICED_KEY = "health:states", "health:disk", "health:noticed"
CHECKS_KEY = "health:checks"
MAX_KEY_CHARACTERS = 200
LOOKS_BEFORE_NOTICE = 2
NOTICE_INTERVAL_SECONDS = 3_600
"""People are told of one part in one state at most so often (seconds)."""
DiskSample = tuple[float, int]
"""When, and how many bytes were in use."""


def states_since(states: dict[str, str], now: datetime) -> dict[str, datetime]:
    """Since when each part has been in the state it is in; what changed has changed now."""
    known = cast(dict[str, list[str]], cache.get(STATES_KEY) or {})
    states_now = {
        name: known[name] if name in known and known[name][0] == state else [state, now.isoformat()]
        for name, state in states.items()
    }
    if states_now != known:
        cache.set(STATES_KEY, states_now, CACHE_SECONDS)
    return {name: datetime.fromisoformat(at) for name, (_state, at) in states_now.items()}


def record_checks(at: datetime, checks: Sequence[Check]) -> None:
    """Cache the checks of all parts, for pages that must not wait for new ones."""
    cache.set(CHECKS_KEY, [at.isoformat(), *(check.model_dump_json() for check in checks)], CACHE_SECONDS)


def last_checks() -> tuple[datetime, tuple[Check, ...]] | None:
    """The last checks of all parts and their time; None where the cache has none."""
    known = cast("list[str] | None", cache.get(CHECKS_KEY))
    if known is None:
        return None
    at, *checks = known
    return datetime.fromisoformat(at), tuple(map(Check.model_validate_json, checks))


def silent_parts() -> frozenset[str]:
    """The parts by their names that did not report at the last look. Raises RedisError."""
    known = last_checks()
    return frozenset() if known is None else frozenset(one.name for one in known[1] if one.problem in SILENT_PROBLEMS)


def states_to_notice(states: dict[str, str]) -> frozenset[str]:
    """The parts that are in a bad state for the second look in a row, and of which nobody was told in the last hour
    that they are in it: while programs start, parts are down for one look. Only one process calls it: the look of
    every minute, and not the page."""
    known = cast(dict[str, list[Any]], cache.get(NOTICED_KEY) or {})
    looks = {
        name: [state, known[name][1] + 1 if name in known and known[name][0] == state else 1]
        for name, state in states.items()
    }
    cache.set(NOTICED_KEY, looks, CACHE_SECONDS)
    due = (name for name, (_state, count) in looks.items() if count == LOOKS_BEFORE_NOTICE)
    return frozenset(name for name in due if cache.add(_notice_key(name, states[name]), 1, NOTICE_INTERVAL_SECONDS))


def _notice_key(name: str, state: str) -> str:
    """Names of parts may hold spaces, of which Django's cache warns."""
    return f"{NOTICED_KEY}:{quote(name)}:{state}"[:MAX_KEY_CHARACTERS]


def record_disk_usage(now: float, used: int) -> tuple[DiskSample, ...]:
    """Note how full the disk is, now and then; what was noted of the last day."""
    samples: tuple[DiskSample, ...] = tuple(
        (at, bytes_used) for at, bytes_used in cast(list[DiskSample], cache.get(DISK_KEY) or [])
    )
    if not samples or now - samples[-1][0] >= SAMPLE_INTERVAL_SECONDS:
        samples = (*(sample for sample in samples if now - sample[0] < DAY_SECONDS), (now, used))
        cache.set(DISK_KEY, samples, CACHE_SECONDS)
    return samples


def disk_growth(samples: Sequence[DiskSample], now: float, used: int) -> float | None:
    """Bytes a day by which the disk fills; None while too little is known."""
    if not samples or now - samples[0][0] < MIN_SPAN_SECONDS:
        return None
    return (used - samples[0][1]) / (now - samples[0][0]) * DAY_SECONDS
