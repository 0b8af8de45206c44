"""What somebody sees of what they are told."""

from datetime import datetime
from typing import Literal

from pydantic import JsonValue

from protocol.base import FrozenModel

NoticeKind = Literal[
    "export.finished",
    "export.failed",
    "import.finished",
    "import.failed",
    "review.returned",
    "task.lost",
    "machine.taken",
    "webhook.disabled",
]


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
