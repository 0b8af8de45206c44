"""Reads notices, webhooks and their messages."""

from typing import cast, get_args
from uuid import UUID

from django.db.models import Count, Q

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.errors import Invalid, NotFound
from annotation_app.notifications.models import Delivery, Notice, Webhook
from annotation_app.notifications.schemas import (
    DeliveryOut,
    DeliveryPage,
    EventKind,
    NoticeKind,
    NoticeOut,
    NoticesOut,
    State,
    WebhookOut,
)

PAGE = 50
"""Messages of a webhook on one page."""
NEWEST_NOTICES = 30
KINDS: tuple[EventKind, ...] = get_args(EventKind)


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
        for one in mine[:NEWEST_NOTICES]
    )
    return NoticesOut(items=items, unread=mine.filter(read_at__isnull=True).count())


def webhook_of(*, user: User, webhook_id: int) -> Webhook:
    """One webhook. Raises Forbidden and NotFound."""
    role_check(user, Role.ADMIN)
    webhook = Webhook.objects.filter(pk=webhook_id).first()
    if webhook is None:
        raise NotFound("There is no such webhook.", field="webhook_id")
    return webhook


def webhooks_list(*, user: User) -> tuple[WebhookOut, ...]:
    """Every webhook. Raises Forbidden."""
    role_check(user, Role.ADMIN)
    waiting = Count("deliveries", filter=Q(deliveries__state="pending"))
    return tuple(webhook_out(one, one.pending) for one in Webhook.objects.annotate(pending=waiting))


def webhook_out(webhook: Webhook, pending: int = 0) -> WebhookOut:
    """A webhook as admins see it."""
    return WebhookOut(
        id=webhook.pk,
        url=webhook.url,
        events=tuple(kind for kind in KINDS if kind in webhook.events),
        enabled=webhook.enabled,
        refusals=webhook.refusals,
        pending=pending,
        created_at=webhook.created_at,
    )


def deliveries_page(*, user: User, webhook_id: int, after: str | None) -> DeliveryPage:
    """A page of a webhook's messages, newest first. Raises Forbidden, NotFound, and Invalid for a cursor nobody
    gave."""
    webhook = webhook_of(user=user, webhook_id=webhook_id)
    found = webhook.deliveries.all()
    if after:
        last = _last(webhook, after)
        found = found.filter(Q(created_at__lt=last.created_at) | Q(created_at=last.created_at, pk__lt=last.pk))
    rows = list(found[: PAGE + 1])
    page = rows[:PAGE]
    following = str(page[-1].pk) if len(rows) > PAGE else None
    return DeliveryPage(items=tuple(map(delivery_out, page)), next=following)


def _last(webhook: Webhook, cursor: str) -> Delivery:
    try:
        return webhook.deliveries.get(pk=UUID(cursor))
    except (ValueError, Delivery.DoesNotExist):
        raise Invalid("This page does not exist; begin at the first one.", code="bad_cursor", field="after") from None


def delivery_out(delivery: Delivery) -> DeliveryOut:
    """A message as admins see it."""
    return DeliveryOut(
        id=delivery.pk,
        event=delivery.event,
        state=cast(State, delivery.state),
        attempts=delivery.attempts,
        status=delivery.status,
        error=delivery.error,
        took_ms=delivery.took_ms,
        created_at=delivery.created_at,
        next_at=delivery.next_at if delivery.state == "pending" else None,
    )
