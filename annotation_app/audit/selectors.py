"""Search in the audit log."""

from datetime import datetime, timedelta
from typing import TypedDict, Unpack

from django.db.models import Q, QuerySet

from annotation_app.audit.models import SUBJECT_KIND, AuditEntry
from annotation_app.audit.verbs import Verb

PAGE_SIZE = 50
SEARCHED_ENTRIES = 50_000
"""How many entries one text search covers: the newest that match the other conditions."""
MAX_WORDS = 10
"""Most words of a search. Further ones are ignored."""
CLOCK_SLACK = timedelta(days=1)
"""Entry ids follow the order of their times, except for clock differences between servers below this."""
COMPARED_ENTRIES = 500
"""How many entries at each end of a period are compared with the id beyond it. Ids and times disagree if a clock was
wrong."""
FORMER_KINDS: dict[str, tuple[Verb, ...]] = {
    "machine": ("machine.reclaim", "machine.watch"),
    "host": ("host.drain", "host.undrain"),
    "image": ("image.warm",),
    "quota": ("quota.set",),
}
"""Verbs whose entries of earlier versions name their object without its kind, with that kind. Each verb applies to
objects of one kind only."""
FORMER_VERBS: tuple[Verb, ...] = tuple(verb for verbs in FORMER_KINDS.values() for verb in verbs)


class EntryFilters(TypedDict, total=False):
    """Conditions on entries; None is no condition."""

    verb: str | None
    subject: str | None
    """`kind:id`, or `kind` alone for everything of that kind."""
    actor_id: int | None
    since: datetime | None
    until: datetime | None
    """The end of the period, exclusive."""
    before: int | None
    """Only entries with a smaller id."""


def entries_page(*, words: str = "", **filters: Unpack[EntryFilters]) -> tuple[list[AuditEntry], int | None]:
    """Matching entries, newest first, below `before`; and the cursor of the next page.

    A text search covers at most `SEARCHED_ENTRIES` entries at once. A page may have few entries or none, and still have
    a next page.
    """
    found = entries_matching(**filters)
    unsearched: int | None = None
    if words.split():
        unsearched = found.values_list("pk", flat=True)[SEARCHED_ENTRIES : SEARCHED_ENTRIES + 1].first()
        found = found.filter(_words_condition(words), pk__gt=unsearched or 0)
    rows = list(found[: PAGE_SIZE + 1])
    if len(rows) > PAGE_SIZE:
        return rows[:PAGE_SIZE], rows[PAGE_SIZE - 1].pk
    return rows, None if unsearched is None else unsearched + 1


def entries_matching(**filters: Unpack[EntryFilters]) -> QuerySet[AuditEntry]:
    """Matching entries, newest first."""
    subject = filters.get("subject")
    conditions = Q() if subject is None else _subject_condition(subject)
    compared = (("verb", filters.get("verb")), ("actor_id", filters.get("actor_id")), ("pk__lt", filters.get("before")))
    for name, value in compared:
        if value is not None:
            conditions &= Q(**{name: value})
    rows = AuditEntry.objects.alias(kind=SUBJECT_KIND).select_related("actor").order_by("-pk")
    return rows.filter(conditions & _days_condition(filters.get("since"), filters.get("until")))


def subject_of(entry: AuditEntry) -> str:
    """The subject of an entry as `kind:id`, also if an earlier version stored it without its kind."""
    kind = next((kind for kind, verbs in FORMER_KINDS.items() if entry.verb in verbs), None)
    has_kind = kind is None or entry.subject.startswith(f"{kind}:")
    return entry.subject if has_kind else f"{kind}:{entry.subject}"


def _subject_condition(subject: str) -> Q:
    kind, colon, name = subject.partition(":")
    if not (verbs := FORMER_KINDS.get(kind, ())):
        # The quota of `user:ada` was stored as `user:ada`.
        return (Q(subject=subject) if colon else Q(kind=kind)) & ~Q(verb__in=FORMER_VERBS)
    return Q(subject=subject) | Q(subject=name, verb__in=verbs) if colon else Q(verb__in=verbs)


def _days_condition(since: datetime | None, until: datetime | None) -> Q:
    """Entries of a period. Ids beyond its ends bound what is read if other entries are newer or older. They are not
    used if a wrong clock would make them hide entries."""
    condition = Q()
    ids = AuditEntry.objects.values_list("pk", flat=True)
    if since is not None:
        condition &= Q(at__gte=since)
        last = ids.filter(at__lt=since - CLOCK_SLACK).order_by("-at").first()
        if last is not None and all(pk > last for pk in ids.filter(at__gte=since).order_by("at")[:COMPARED_ENTRIES]):
            condition &= Q(pk__gt=last)
    if until is not None:
        condition &= Q(at__lt=until)
        first = ids.filter(at__gte=until + CLOCK_SLACK).order_by("at").first()
        if first is not None and all(pk < first for pk in ids.filter(at__lt=until).order_by("-at")[:COMPARED_ENTRIES]):
            condition &= Q(pk__lt=first)
    return condition


def _words_condition(words: str) -> Q:
    condition = Q()
    for word in words.split()[:MAX_WORDS]:
        condition &= Q(verb__icontains=word) | Q(subject__icontains=word) | Q(details__icontains=word)
    return condition
