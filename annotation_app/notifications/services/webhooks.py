"""Webhooks and their messages. Only these services write to their tables."""

import json
import time
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation_app.accounts.models import Role, User
from annotation_app.accounts.selectors import role_check
from annotation_app.audit.services import audit_record
from annotation_app.client.signatures import generate_secret, signed_headers
from annotation_app.encryption import decrypt_value, encrypt_value
from annotation_app.errors import Conflict, Invalid
from annotation_app.notifications import http_delivery
from annotation_app.notifications.models import Delivery, DeliveryState, Webhook
from annotation_app.notifications.schemas import PING, WebhookChange, WebhookIn
from annotation_app.notifications.selectors import webhook_of
from annotation_app.notifications.services.notices import admins_notify
from annotation_app.notifications.webhook_events import WebhookEvent

RETRY_DELAYS = tuple(timedelta(seconds=seconds) for seconds in (10, 60, 300, 1_800, 7_200, 21_600))
"""Between the attempts at a message; after the last one it has failed."""
CLAIM_DURATION = timedelta(minutes=2)
"""A worker that took a message and says nothing for so long is taken for dead."""
MAX_FAILURES = 20
"""Attempts that fail one after the other until a webhook is switched off."""
HTTP_GONE = 410
BATCH_SIZE = 50
"""Webhooks, and messages that are handed to workers in one go."""
DELIVERY_RETENTION = timedelta(days=30)


def event_emit(event: WebhookEvent) -> None:
    """Store a message for every webhook that asks for the event, in the transaction that makes it true."""
    data = event.model_dump(mode="json", exclude={"kind"})
    for webhook in Webhook.objects.filter(enabled=True, events__contains=[event.kind]):
        _message(webhook, event.kind, data)


@transaction.atomic(durable=True)
def webhook_add(*, user: User, requested: WebhookIn) -> tuple[Webhook, str]:
    """A webhook and its secret. Raises Forbidden, Invalid and Conflict."""
    role_check(user, Role.ADMIN)
    _address_check(requested.url)
    if Webhook.objects.count() >= BATCH_SIZE:
        raise Conflict(f"There may be {BATCH_SIZE} webhooks; remove some first.", code="too_many_webhooks")
    secret = generate_secret()
    webhook = Webhook.objects.create(
        url=requested.url, events=sorted(set(requested.events)), secret=encrypt_value(secret)
    )
    details = {"url": webhook.url, "events": webhook.events}
    audit_record(actor=user, verb="webhook.added", subject=f"webhook:{webhook.pk}", details=details)
    return webhook, secret


@transaction.atomic(durable=True)
def webhook_change(*, user: User, webhook_id: int, change: WebhookChange) -> Webhook:
    """Change the given settings. A webhook that is switched on again starts with no failures.

    Raises Forbidden, NotFound and Invalid.
    """
    webhook = webhook_of(user=user, webhook_id=webhook_id)
    requested = change.model_dump(exclude_none=True, mode="json")
    if change.url is not None:
        _address_check(change.url)
    for name, value in requested.items():
        setattr(webhook, name, sorted(set(value)) if name == "events" else value)
    if change.enabled:
        webhook.refusals = 0
    webhook.save(update_fields=["url", "events", "enabled", "refusals"])
    audit_record(actor=user, verb="webhook.changed", subject=f"webhook:{webhook.pk}", details=requested)
    return webhook


@transaction.atomic(durable=True)
def webhook_secret(*, user: User, webhook_id: int) -> tuple[Webhook, str]:
    """Another secret; messages are signed with it from now on. Raises Forbidden and NotFound."""
    webhook = webhook_of(user=user, webhook_id=webhook_id)
    secret = generate_secret()
    webhook.secret = encrypt_value(secret)
    webhook.save(update_fields=["secret"])
    audit_record(actor=user, verb="webhook.secret_changed", subject=f"webhook:{webhook.pk}")
    return webhook, secret


@transaction.atomic(durable=True)
def webhook_remove(*, user: User, webhook_id: int) -> None:
    """Remove a webhook with its messages. Raises Forbidden and NotFound."""
    webhook = webhook_of(user=user, webhook_id=webhook_id)
    audit_record(actor=user, verb="webhook.removed", subject=f"webhook:{webhook.pk}", details={"url": webhook.url})
    webhook.delete()


@transaction.atomic(durable=True)
def webhook_ping(*, user: User, webhook_id: int) -> Delivery:
    """A message that says nothing, to try the address. Raises Forbidden, NotFound and Conflict."""
    webhook = webhook_of(user=user, webhook_id=webhook_id)
    if not webhook.enabled:
        raise Conflict("This webhook is switched off.", code="switched_off")
    return _message(webhook, PING, {})


@transaction.atomic(durable=True)
def deliveries_claim() -> tuple[UUID, ...]:
    """The messages that are due, each for one worker; what is long over, or was for a webhook that is off, is
    forgotten."""
    now = timezone.now()
    Delivery.objects.filter(created_at__lt=now - DELIVERY_RETENTION).exclude(
        state=DeliveryState.PENDING, webhook__enabled=True
    ).delete()
    due = Delivery.objects.filter(state=DeliveryState.PENDING, next_at__lte=now, webhook__enabled=True)
    chosen = due.select_for_update(skip_locked=True, of=("self",)).order_by("next_at")
    keys = tuple(chosen.values_list("pk", flat=True)[:BATCH_SIZE])
    Delivery.objects.filter(pk__in=keys).update(next_at=now + CLAIM_DURATION)
    return keys


def delivery_send(*, delivery_id: UUID) -> None:
    """Try to deliver a message, and note what came of it. A worker that dies meanwhile leaves it to the next: the
    receiver may get it twice, under the same id."""
    delivery = Delivery.objects.select_related("webhook").filter(pk=delivery_id, state=DeliveryState.PENDING).first()
    if delivery is None or not delivery.webhook.enabled:
        return
    body = delivery.body.encode()
    try:
        secret = decrypt_value(delivery.webhook.secret)
    except ValueError:
        sent = http_delivery.DeliveryResult(None, "Its secret was sealed with another key; make another one.", 0)
    else:
        headers = signed_headers(secret, str(delivery.pk), body, at=int(time.time()))
        sent = http_delivery.post_message(
            delivery.webhook.url, body, headers, private=settings.ENV.webhooks_allow_private
        )
    _record_result(delivery_id, sent)


@transaction.atomic(durable=True)
def _record_result(delivery_id: UUID, sent: http_delivery.DeliveryResult) -> None:
    delivery = Delivery.objects.select_for_update().filter(pk=delivery_id, state=DeliveryState.PENDING).first()
    if delivery is None:
        return
    now = timezone.now()
    delivery.attempts += 1
    delivery.status, delivery.error, delivery.took_ms = sent.status, sent.error[:200], sent.took_ms
    if not sent.error:
        delivery.state, delivery.ended_at = DeliveryState.DELIVERED, now
    elif delivery.attempts > len(RETRY_DELAYS):
        delivery.state, delivery.ended_at = DeliveryState.FAILED, now
    else:
        delivery.next_at = now + RETRY_DELAYS[delivery.attempts - 1]
    delivery.save()
    _count(delivery, sent)


def _count(delivery: Delivery, sent: http_delivery.DeliveryResult) -> None:
    """Switch a webhook off that takes nothing, or says that it is gone."""
    mine = Webhook.objects.filter(pk=delivery.webhook_id)
    if not sent.error:
        mine.update(refusals=0)
        return
    mine.update(refusals=F("refusals") + 1)
    webhook = mine.get()
    if webhook.enabled and (webhook.refusals >= MAX_FAILURES or sent.status == HTTP_GONE):
        mine.update(enabled=False)
        subject, details = f"webhook:{webhook.pk}", {"url": webhook.url, "reason": sent.error}
        audit_record(actor=None, part="webhooks", verb="webhook.disabled", subject=subject, details=details)
        admins_notify(kind="webhook.disabled", subject=subject, details=details)


def _message(webhook: Webhook, kind: str, data: dict[str, Any]) -> Delivery:
    body = json.dumps({"type": kind, "timestamp": timezone.now().isoformat(), "data": data})
    return Delivery.objects.create(webhook=webhook, event=kind, body=body)


def _address_check(url: str) -> None:
    """Refuse at once what would never be sent to; it is checked again at each message. Raises Invalid."""
    try:
        http_delivery.safe_address(url, private=settings.ENV.webhooks_allow_private)
    except http_delivery.UnsafeAddress as error:
        raise Invalid(str(error), code="address_private", field="url") from None
    except OSError:
        raise Invalid("The name of this address is unknown.", code="address_unknown", field="url") from None
