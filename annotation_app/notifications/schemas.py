"""Notices and webhooks as the HTTP API shows them."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import AfterValidator, Field, HttpUrl, JsonValue, StringConstraints, TypeAdapter

from protocol.base import FrozenModel

NoticeKind = Literal[
    "export.finished",
    "export.failed",
    "import.finished",
    "import.failed",
    "review.returned",
    "review.rejected",
    "help.requested",
    "help.note",
    "task.lost",
    "machine.taken",
    "webhook.disabled",
    "policy.degraded",
    "part.failed",
    "disk.filling",
]
EventKind = Literal[
    "export.finished",
    "export.failed",
    "import.finished",
    "import.failed",
    "episode.finished",
    "review.decided",
    "policy.promoted",
]
State = Literal["pending", "delivered", "failed"]
PING: Literal["ping"] = "ping"
HTTP_URL: TypeAdapter[HttpUrl] = TypeAdapter(HttpUrl)


def _address(url: str) -> str:
    parts = HTTP_URL.validate_python(url)
    if parts.username or parts.password or parts.fragment:
        raise ValueError("an address holds no name, password or fragment: pages show it")
    return url


Address = Annotated[str, StringConstraints(max_length=500, pattern=r"^[\x21-\x7e]+$"), AfterValidator(_address)]
Events = Annotated[tuple[EventKind, ...], Field(min_length=1, max_length=20)]


class WebhookIn(FrozenModel):
    """An address, and what it is told of."""

    url: Address
    events: Events


class WebhookChange(FrozenModel):
    """What is to be different."""

    url: Address | None = None
    events: Events | None = None
    enabled: bool | None = None


class WebhookOut(FrozenModel):
    """A webhook; `refusals` is how many attempts have failed one after the other."""

    id: int
    url: str
    events: tuple[EventKind, ...]
    enabled: bool
    refusals: int
    pending: int
    created_at: datetime


class WebhookMade(FrozenModel):
    """A webhook with its secret, which is not shown again."""

    webhook: WebhookOut
    secret: str


class DeliveryOut(FrozenModel):
    """A message, and what became of it."""

    id: UUID
    event: str
    state: State
    attempts: int
    status: int | None
    error: str
    took_ms: float | None
    created_at: datetime
    next_at: datetime | None


class DeliveryPage(FrozenModel):
    """A page, newest first."""

    items: tuple[DeliveryOut, ...]
    next: str | None


class NoticeOut(FrozenModel):
    """One of them; `subject` names what it is about, as `kind:id`."""

    id: int
    kind: NoticeKind
    subject: str
    details: dict[str, JsonValue]
    created_at: datetime
    read: bool


class NoticesOut(FrozenModel):
    """The newest, and how many of all are unread."""

    items: tuple[NoticeOut, ...]
    unread: int
