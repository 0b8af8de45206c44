"""Searching the audit log."""

from datetime import datetime

from django.db.models import Q

from annotation_app.audit.models import AuditEntry

PAGE_SIZE = 50


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

    Args:
        subject: `kind:id`, or `kind` alone for everything of that kind.
    """
    conditions = Q()
    for word in words.split():
        conditions &= Q(verb__icontains=word) | Q(subject__icontains=word) | Q(details__icontains=word)
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
    rows = list(AuditEntry.objects.filter(conditions).select_related("actor").order_by("-pk")[: PAGE_SIZE + 1])
    return rows[:PAGE_SIZE], rows[PAGE_SIZE - 1].pk if len(rows) > PAGE_SIZE else None
