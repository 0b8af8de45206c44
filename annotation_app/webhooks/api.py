"""Webhooks over HTTP, for admins."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Status
from pydantic import Field

from annotation_app.accounts.selectors import user_of
from annotation_app.accounts.tokens import TOKEN_OR_SESSION_AUTH
from annotation_app.http_api import ShortText
from annotation_app.webhooks import selectors, services
from annotation_app.webhooks.schemas import (
    DeliveryOut,
    DeliveryPage,
    WebhookChange,
    WebhookIn,
    WebhookMade,
    WebhookOut,
)

router = Router(tags=["webhooks"], auth=TOKEN_OR_SESSION_AUTH)
WebhookId = Annotated[int, Path(), Field(ge=1, le=2**31 - 1)]


@router.get("/webhooks", response=list[WebhookOut])
def webhooks_list(request: HttpRequest) -> list[WebhookOut]:
    """Every webhook."""
    return list(selectors.webhooks_list(user=user_of(request)))


@router.post("/webhooks", response={201: WebhookMade})
def webhook_add(request: HttpRequest, body: WebhookIn) -> Status[WebhookMade]:
    """Register an address; its secret is in this answer only."""
    webhook, secret = services.webhook_add(user=user_of(request), requested=body)
    return Status(201, WebhookMade(webhook=selectors.webhook_out(webhook), secret=secret))


@router.patch("/webhooks/{webhook_id}", response=WebhookOut)
def webhook_change(request: HttpRequest, webhook_id: WebhookId, body: WebhookChange) -> WebhookOut:
    """Change an address, its events, or whether it is told anything."""
    webhook = services.webhook_change(user=user_of(request), webhook_id=webhook_id, change=body)
    return selectors.webhook_out(webhook)


@router.post("/webhooks/{webhook_id}/secret", response=WebhookMade)
def webhook_secret(request: HttpRequest, webhook_id: WebhookId) -> WebhookMade:
    """Make another secret; the old one signs nothing any more."""
    webhook, secret = services.webhook_secret(user=user_of(request), webhook_id=webhook_id)
    return WebhookMade(webhook=selectors.webhook_out(webhook), secret=secret)


@router.delete("/webhooks/{webhook_id}", response={204: None})
def webhook_remove(request: HttpRequest, webhook_id: WebhookId) -> Status[None]:
    """Remove a webhook with its messages."""
    services.webhook_remove(user=user_of(request), webhook_id=webhook_id)
    return Status(204, None)


@router.post("/webhooks/{webhook_id}/ping", response={202: DeliveryOut})
def webhook_ping(request: HttpRequest, webhook_id: WebhookId) -> Status[DeliveryOut]:
    """Try the address with a message that says nothing; it is sent within seconds."""
    return Status(202, selectors.delivery_out(services.webhook_ping(user=user_of(request), webhook_id=webhook_id)))


@router.get("/webhooks/{webhook_id}/deliveries", response=DeliveryPage)
def deliveries_list(request: HttpRequest, webhook_id: WebhookId, after: ShortText | None = None) -> DeliveryPage:
    """A page of its messages, newest first, and what became of each."""
    return selectors.deliveries_page(user=user_of(request), webhook_id=webhook_id, after=after)
