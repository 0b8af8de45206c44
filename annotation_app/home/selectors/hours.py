"""The last day's acts by hour and policy, cached for a minute and shared by all people."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.core.cache import cache
from django.db.models.functions import TruncHour
from redis.exceptions import RedisError

from annotation_app.episodes.models import Step
from annotation_app.home.schemas import Hour, PolicyOverridden
from annotation_app.reports.selectors import STEP_AGGREGATES
from protocol.evaluation.reports import Rate
from protocol.evaluation.statistics import wilson_rate

HOURS = 24
RECENT_HOURS = 6
"""The most recent hours, which are compared with those before them."""
MIN_DECISIONS = 20
"""The least number of decisions in either period for a comparison."""
CACHE_KEY, CACHE_SECONDS = "home:hours", 60


class PolicyHour(NamedTuple):
    """The acts of an hour with proposals by this policy (empty: without proposals)."""

    at: datetime
    policy: str
    acts: int
    judged: int
    refused: int


def policy_hours(now: datetime) -> tuple[PolicyHour, ...]:
    """The rows of the last day, unordered. Practice does not count. Without Redis they are counted every time."""
    known: list[tuple[str, str, int, int, int]] | None = None
    with suppress(RedisError):
        known = cache.get(CACHE_KEY)
    if known is None:
        steps = Step.objects.filter(created_at__gte=first_hour(now), episode__task__pool__practice=False).order_by()
        counts = {name: STEP_AGGREGATES[name] for name in ("steps", "judged", "refused")}
        grouped: Iterable[Any] = steps.annotate(at=TruncHour("created_at")).values("at", "policy").annotate(**counts)
        known = [(row["at"].isoformat(), row["policy"], row["steps"], row["judged"], row["refused"]) for row in grouped]
        with suppress(RedisError):
            cache.set(CACHE_KEY, known, CACHE_SECONDS)
    return tuple(
        PolicyHour(datetime.fromisoformat(at), policy, acts, judged, refused)
        for at, policy, acts, judged, refused in known
    )


def first_hour(now: datetime) -> datetime:
    """The start of the first hour."""
    return now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=HOURS - 1)


def hours_of(rows: Iterable[PolicyHour], now: datetime) -> tuple[Hour, ...]:
    """Every hour, including those without work."""
    acts: defaultdict[datetime, int] = defaultdict(int)
    judged, refused = acts.copy(), acts.copy()
    for row in rows:
        acts[row.at] += row.acts
        judged[row.at] += row.judged
        refused[row.at] += row.refused
    every = (first_hour(now) + timedelta(hours=number) for number in range(HOURS))
    return tuple(Hour(at=at, acts=acts[at], override=_rate(refused[at], judged[at])) for at in every)


def policies_overridden(
    rows: Iterable[PolicyHour], proposing: Iterable[str], now: datetime
) -> Iterator[PolicyOverridden]:
    """Proposing policies (by label) that are overridden significantly more in the last hours than before: the
    confidence intervals of the two rates do not overlap."""
    since = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=RECENT_HOURS - 1)
    by_policy: defaultdict[str, list[PolicyHour]] = defaultdict(list)
    for row in rows:
        by_policy[row.policy].append(row)
    for policy in sorted(set(proposing)):
        recent = [row for row in by_policy[policy] if row.at >= since]
        earlier = [row for row in by_policy[policy] if row.at < since]
        before, after = _total(earlier), _total(recent)
        if before is not None and after is not None and after.low > before.high:
            yield PolicyOverridden(subject=policy, before=before, after=after, since=since)


def _total(rows: list[PolicyHour]) -> Rate | None:
    judged = sum(row.judged for row in rows)
    return _rate(sum(row.refused for row in rows), judged) if judged >= MIN_DECISIONS else None


def _rate(refused: int, judged: int) -> Rate | None:
    return wilson_rate(refused, judged) if judged else None
