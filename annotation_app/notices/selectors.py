"""Reading what somebody is told."""

from typing import cast

from annotation_app.accounts.models import User
from annotation_app.notices.models import Notice
from annotation_app.notices.schemas import NoticeKind, NoticeOut, NoticesOut

SHOWN = 30


def notices_of(*, user: User) -> NoticesOut:
    """Somebody's newest, and how many they have not read."""
    mine = Notice.objects.filter(user=user)
    items = tuple(
        NoticeOut(
            id=one.pk,
            kind=cast(NoticeKind, one.kind),
            subject=one.subject,
            details=one.details,
            created_at=one.created_at,
            read=one.read_at is not None,
        )
        for one in mine[:SHOWN]
    )
    return NoticesOut(items=items, unread=mine.filter(read_at__isnull=True).count())
