"""Search for ended episodes."""

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.contrib.postgres.search import SearchQuery
from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.catalogue.models import Entry, SavedQuery
from annotation_app.catalogue.schemas import Facet, Facets, FoundEpisode, FoundPage, Query, SavedQueryOut
from annotation_app.episodes.models import UNCATALOGUED, Episode, Withdrawal
from annotation_app.episodes.selectors import episode_summaries
from annotation_app.episodes.selectors.trajectories import trajectories_of as trajectories_of_episodes
from annotation_app.errors import Invalid, NotFound
from annotation_app.tasks.models import Pool
from protocol.trajectory.trajectories import Trajectory

MAX_TEXT_CHARACTERS = 200_000
"""Characters of an episode that are searched. A `tsvector` has a size limit of its own."""
_UNSPACED_PATTERN = re.compile("[぀-ヿ㐀-鿿豈-﫿]+")


PAGE_SIZE = 50
MAX_FACET_VALUES = 50
"""Values listed for a facet, the most frequent first."""
SEARCH_CONFIGURATION = "english"
READER_ROLES = (Role.RESEARCHER, Role.ADMIN, Role.REVIEWER)


def reader_check(user: User) -> None:
    """Raises Forbidden for annotators, who may not search the work of others."""
    role_check(user, *READER_ROLES)


def entries_matching(query: Query) -> QuerySet[Entry]:
    """The entries that match a query."""
    conditions = _visible()
    for column, value in (
        ("pool_id", query.pool),
        ("episode__outcome", query.outcome),
        ("episode__task__placement__level", query.level),
        ("episode__review", query.review),
        ("episode__annotator__username", query.annotator),
        ("reward__gte", query.reward_min),
        ("reward__lte", query.reward_max),
        ("steps__gte", query.steps_min),
        ("steps__lte", query.steps_max),
        ("created_at__gte", query.since),
        ("created_at__lt", query.until),
        ("policies__contains", [query.policy] if query.policy else None),
        ("applications__contains", [query.application] if query.application else None),
        ("actions__contains", [query.action] if query.action else None),
        ("decisions__contains", list(query.decisions) or None),
    ):
        if value is not None:
            conditions &= Q(**{column: value})
    found = Entry.objects.filter(conditions)
    if query.text.strip():
        search_query = SearchQuery(to_search_text(query.text), config=SEARCH_CONFIGURATION, search_type="websearch")
        found = found.filter(words=search_query)
    return found


def _visible() -> Q:
    """The entries that can be found: without practice, withdrawn work, and work of people whose work was removed.

    All of these are few, and mostly none. Filtering by their ids avoids joining the tables of the results.
    """
    practice = list(Pool.objects.filter(practice=True).values_list("pk", flat=True))
    removed = list(User.objects.filter(work_removed=True).values_list("pk", flat=True))
    withdrawn = list(Withdrawal.objects.values_list("pk", flat=True))
    visible = ~Q(pool__in=practice)
    if withdrawn:
        visible &= ~Q(episode__in=withdrawn)
    return visible & ~Q(episode__annotator__in=removed) if removed else visible


def found_page(*, user: User, query: Query, after: str | None = None) -> FoundPage:
    """A page of a query's results, newest first. Raises Forbidden, and Invalid for an invalid cursor."""
    reader_check(user)
    matching = entries_matching(query)
    found = matching.order_by("-created_at", "-episode_id")
    if after:
        moment, key = decode_cursor(after)
        found = found.filter(Q(created_at__lt=moment) | Q(created_at=moment, episode_id__lt=key))
    rows = list(found[: PAGE_SIZE + 1])
    page_rows = rows[:PAGE_SIZE]
    entries = {row.pk: row for row in page_rows}
    items = tuple(
        FoundEpisode(
            **dict(summary),
            decisions=tuple(entries[summary.id].decisions),
            policies=tuple(entries[summary.id].policies),
            applications=tuple(entries[summary.id].applications),
            reward=entries[summary.id].reward,
        )
        for summary in episode_summaries(ids=[row.pk for row in page_rows])
    )
    return FoundPage(
        items=items,
        total=matching.count(),
        next=encode_cursor(page_rows[-1].created_at, page_rows[-1].pk) if len(rows) > PAGE_SIZE else None,
    )


FACETS = {
    "pools": "pool__name",
    "outcomes": "episode__outcome",
    "reviews": "episode__review",
    "decisions": "decisions",
    "policies": "policies",
    "applications": "applications",
    "actions": "actions",
}
"""Where an entry stores the value, or the values, of each facet."""
FACET_NAMES = ", ".join(FACETS)
FACETS_SQL = (
    f"SELECT GROUPING({FACET_NAMES}), {FACET_NAMES}, count(*) FROM ({{found}}) AS found({FACET_NAMES})"  # noqa: S608 - names of here
    f" GROUP BY GROUPING SETS ({', '.join(f'({name})' for name in FACETS)}, ())"
)
"""Counts by facet and in total, in one pass, because joining the tables of the results takes longest."""
FACET_BY_GROUPING = {(1 << len(FACETS)) - 1 - (1 << bit): name for bit, name in enumerate(reversed(FACETS))}
"""PostgreSQL's GROUPING has a bit for each column, the lowest for the last column. A bit is 0 if the row groups by that
column."""


def facets(*, user: User, query: Query) -> Facets:
    """Facet counts of a query's results. Raises Forbidden."""
    reader_check(user)
    sql, params = entries_matching(query).order_by().values_list(*FACETS.values()).query.sql_with_params()
    counts: dict[str, Counter[str]] = {name: Counter() for name in FACETS}
    total = 0
    with connection.cursor() as cursor:
        cursor.execute(FACETS_SQL.format(found=sql), params)
        for grouping, *columns, count in cursor:
            facet = FACET_BY_GROUPING.get(grouping)
            if facet is None:
                total = count
                continue
            value = dict(zip(FACETS, columns, strict=True))[facet]
            for each in value if isinstance(value, list) else (value,):
                counts[facet][each or ""] += count
    return Facets(total=total, **{name: _most_frequent(found) for name, found in counts.items()})


def _most_frequent(counts: Mapping[str, int]) -> tuple[Facet, ...]:
    known = sorted(((value, count) for value, count in counts.items() if value), key=lambda one: (-one[1], one[0]))
    return tuple(Facet(value=value, count=count) for value, count in known[:MAX_FACET_VALUES])


def exportable_entries(query: Query) -> QuerySet[Entry]:
    """The finished episodes of a query that still have their pictures."""
    return entries_matching(query).filter(episode__status="finished", episode__emptied_at__isnull=True)


def exportable_episodes(query: Query) -> Iterator[tuple[UUID, str]]:
    """Like `exportable_entries`, oldest first, each with the kind of its task."""
    yield from (
        exportable_entries(query)
        .order_by("created_at", "episode_id")
        .values_list("episode_id", "kind")
        .iterator(chunk_size=5_000)
    )


def trajectories_of(ids: Sequence[UUID]) -> Iterator[Trajectory]:
    """Whole trajectories, in this order, read together. Those that were withdrawn meanwhile are left out."""
    usable = Episode.objects.filter(pk__in=ids, annotator__work_removed=False, withdrawal__isnull=True)
    found = usable.select_related("task__pool", "annotator", "assignment", "source")
    episodes = {episode.pk: episode for episode in found}
    yield from trajectories_of_episodes([episodes[key] for key in dict.fromkeys(ids) if key in episodes])


def saved_queries(*, user: User) -> tuple[SavedQueryOut, ...]:
    """All saved queries. They are shared among everyone who may search. Raises Forbidden."""
    reader_check(user)
    return tuple(saved_query_out(row, user) for row in SavedQuery.objects.select_related("owner"))


def saved_query(*, user: User, query_id: int) -> SavedQueryOut:
    """One saved query. Raises Forbidden and NotFound."""
    reader_check(user)
    row = SavedQuery.objects.select_related("owner").filter(pk=query_id).first()
    if row is None:
        raise NotFound("There is no such query.")
    return saved_query_out(row, user)


def saved_query_out(row: SavedQuery, user: User) -> SavedQueryOut:
    """A saved query as this person sees it."""
    return SavedQueryOut(
        id=row.pk,
        name=row.name,
        owner=row.owner.username,
        mine=row.owner_id == user.pk,
        query=Query.model_validate(row.query),
        created_at=row.created_at,
    )


def encode_cursor(moment: datetime, key: UUID) -> str:
    """The cursor of a position in a list ordered by time."""
    return base64.urlsafe_b64encode(f"{moment.isoformat()} {key}".encode()).decode()


def decode_cursor(text: str) -> tuple[datetime, UUID]:
    """The position of a cursor. Raises Invalid for an invalid one."""
    try:
        moment, key = base64.urlsafe_b64decode(text.encode()).decode().split(" ")
        return datetime.fromisoformat(moment), UUID(key)
    except (ValueError, binascii.Error):
        raise Invalid("This page does not exist; begin at the first one.", code="bad_cursor", field="after") from None


def episodes_missing_from_catalogue(*, most: int | None) -> list[UUID]:
    """Ended episodes whose catalogue entries are missing or out of date, those that ended first first."""
    return list(Episode.objects.filter(UNCATALOGUED).order_by("finished_at").values_list("pk", flat=True)[:most])


def catalogued_until() -> datetime:
    """Every episode that ended before this time is in the catalogue."""
    missing = Episode.objects.filter(UNCATALOGUED, catalogued=-1).order_by("finished_at")
    return missing.values_list("finished_at", flat=True).first() or timezone.now()


def to_search_text(text: str) -> str:
    """The text with every run of unspaced characters as overlapping pairs, for both indexing and searching."""
    return _UNSPACED_PATTERN.sub(lambda run: f" {' '.join(_overlapping_pairs(run[0]))} ", text.replace("\x00", " "))[
        :MAX_TEXT_CHARACTERS
    ]


def _overlapping_pairs(run: str) -> list[str]:
    return [run[place : place + 2] for place in range(len(run) - 1)] or [run]
