"""What an act of the sandbox gives, and how one fails."""

from dataclasses import dataclass
from typing import Any

MAX_OUTPUT = 64 * 1024
"""Longest text an act gives (bytes); what lies beyond is cut and said so."""

Action = dict[str, Any]


class ActFailed(Exception):
    """The act was tried and did not work; `code` is stable, `text` is what came out before."""

    def __init__(self, code: str, message: str, text: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.text = text


@dataclass(frozen=True)
class Attachment:
    """Bytes that an act brings out."""

    data: bytes
    media_type: str


@dataclass(frozen=True)
class Given:
    """What an act gives beside the frame after it."""

    text: str | None = None
    attachment: Attachment | None = None


def bounded_text(data: bytes) -> str:
    """Output as text, cut where it is too long."""
    text = data[:MAX_OUTPUT].decode("utf-8", "replace")
    return f"{text}\n[cut after {MAX_OUTPUT} bytes]" if len(data) > MAX_OUTPUT else text
