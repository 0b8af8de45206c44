"""Searching the audit log."""

from datetime import datetime

from django.db.models import Q

from annotation_app.audit.models import AuditEntry

PAGE_SIZE = 50
SEARCHED_ENTRIES = 50_000
"""Entries that are searched for words at once, the newest that the other conditions leave."""
MAX_WORDS = 10
"""Further words of a search are ignored."""


def entries_page(
    *,
    words: str = "",
    verb: str | None = None,
    subject: str | None = None,
    actor: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: int | None = None,
) -> tuple[list[AuditEntry], int | None]:
    """Entries with all of these, newest first, below `before`; and what to ask for the page after it with.

    Words are searched for in at most `SEARCHED_ENTRIES` entries at once: a page may have few entries, or none, and
    still another page after it.

    Args:
        subject: `kind:id`, or `kind` alone for everything of that kind.
    """
    conditions = Q()
    if subject is not None:
        conditions &= (
            Q(subject=subject) if ":" in subject else Q(subject=subject) | Q(subject__startswith=f"{subject}:")
        )
    for name, value in (
        ("verb", verb),
        ("actor__username", actor),
        ("at__gte", since),
        ("at__lt", until),
        ("pk__lt", before),
    ):
        if value is not None:
            conditions &= Q(**{name: value})
    found = AuditEntry.objects.filter(conditions).select_related("actor").order_by("-pk")
    unsearched: int | None = None
    if words.split():
        unsearched = found.values_list("pk", flat=True)[SEARCHED_ENTRIES : SEARCHED_ENTRIES + 1].first()
        found = found.filter(_words_condition(words), pk__gt=unsearched or 0)
    rows = list(found[: PAGE_SIZE + 1])
    if len(rows) > PAGE_SIZE:
        return rows[:PAGE_SIZE], rows[PAGE_SIZE - 1].pk
    return rows, None if unsearched is None else unsearched + 1


def _words_condition(words: str) -> Q:
    condition = Q()
    for word in words.split()[:MAX_WORDS]:
        condition &= Q(verb__icontains=word) | Q(subject__icontains=word) | Q(details__icontains=word)
    return condition
