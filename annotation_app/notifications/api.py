"""HTTP routes of a person's own notices, and of webhooks for admins."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.http_api import ShortText
from annotation_app.notifications import selectors
from annotation_app.notifications.schemas import (
    DeliveryOut,
    DeliveryPage,
    NoticesOut,
    WebhookChange,
    WebhookIn,
    WebhookMade,
    WebhookOut,
)
from annotation_app.notifications.services import notices, webhooks
from protocol.base import FrozenModel

notices_router = Router(tags=["notices"])
webhooks_router = Router(tags=["webhooks"], auth=TOKEN_OR_SESSION_AUTH)
WebhookId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


class ReadIn(FrozenModel):
    """The newest that was seen."""

    until: Annotated[int, Field(ge=0, le=2**63 - 1)]


@notices_router.get("/notices", response=NoticesOut)
def notices_list(request: HttpRequest) -> NoticesOut:
    """The newest notices of the person who asks."""
    return selectors.notices_of(user=user_of(request))


@notices_router.post("/notices/read", response={204: None})
def notices_read(request: HttpRequest, body: ReadIn) -> Status[None]:
    """Note that one has read them, up to this one."""
    notices.notices_read(user=user_of(request), until=body.until)
    return Status(204, None)


@webhooks_router.get("/webhooks", response=list[WebhookOut])
def webhooks_list(request: HttpRequest) -> list[WebhookOut]:
    """Every webhook."""
    return list(selectors.webhooks_list(user=user_of(request)))


@webhooks_router.post("/webhooks", response={201: WebhookMade})
def webhook_add(request: HttpRequest, body: WebhookIn) -> Status[WebhookMade]:
    """Register an address; its secret is in this answer only."""
    webhook, secret = webhooks.webhook_add(user=user_of(request), requested=body)
    return Status(201, WebhookMade(webhook=selectors.webhook_out(webhook), secret=secret))


@webhooks_router.patch("/webhooks/{webhook_id}", response=WebhookOut)
def webhook_change(request: HttpRequest, webhook_id: WebhookId, body: WebhookChange) -> WebhookOut:
    """Change an address, its events, or whether it is told anything."""
    webhook = webhooks.webhook_change(user=user_of(request), webhook_id=webhook_id, change=body)
    return selectors.webhook_out(webhook)


@webhooks_router.post("/webhooks/{webhook_id}/secret", response=WebhookMade)
def webhook_secret(request: HttpRequest, webhook_id: WebhookId) -> WebhookMade:
    """Make another secret; the old one signs nothing any more."""
    webhook, secret = webhooks.webhook_secret(user=user_of(request), webhook_id=webhook_id)
    return WebhookMade(webhook=selectors.webhook_out(webhook), secret=secret)


@webhooks_router.delete("/webhooks/{webhook_id}", response={204: None})
def webhook_remove(request: HttpRequest, webhook_id: WebhookId) -> Status[None]:
    """Remove a webhook with its messages."""
    webhooks.webhook_remove(user=user_of(request), webhook_id=webhook_id)
    return Status(204, None)


@webhooks_router.post("/webhooks/{webhook_id}/ping", response={202: DeliveryOut})
def webhook_ping(request: HttpRequest, webhook_id: WebhookId) -> Status[DeliveryOut]:
    """Try the address with a message that says nothing; it is sent within seconds."""
    return Status(202, selectors.delivery_out(webhooks.webhook_ping(user=user_of(request), webhook_id=webhook_id)))


@webhooks_router.get("/webhooks/{webhook_id}/deliveries", response=DeliveryPage)
def deliveries_list(request: HttpRequest, webhook_id: WebhookId, after: ShortText | None = None) -> DeliveryPage:
    """A page of its messages, newest first, and what became of each."""
    return selectors.deliveries_page(user=user_of(request), webhook_id=webhook_id, after=after)
