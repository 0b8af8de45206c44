"""Searching the audit log."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q

from annotation_app.audit.models import AuditEntry

PAGE_SIZE = 50


def entries_page(
    *,
    words: str = "",
    verb: str | None = None,
    actor: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    before: int | None = None,
) -> tuple[list[AuditEntry], int | None]:
    """Entries with all of these, newest first, below `before`; and what to ask for the page after it with."""
    conditions = Q()
    for word in words.split():
        conditions &= Q(verb__icontains=word) | Q(subject__icontains=word) | Q(details__icontains=word)
    for name, value in (
        ("verb", verb),
        ("actor__username", actor),
        ("at__gte", since),
        ("at__lt", until),
        ("pk__lt", before),
    ):
        if value is not None:
            conditions &= Q(**{name: value})
    rows = list(AuditEntry.objects.filter(conditions).select_related("actor").order_by("-pk")[: PAGE_SIZE + 1])
    return rows[:PAGE_SIZE], rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None


def audit_verbs() -> Iterable[str]:
    """Every verb there is."""
    return AuditEntry.objects.order_by("verb").values_list("verb", flat=True).distinct()
