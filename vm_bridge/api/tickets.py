"""Single-use stream tickets: the web app mints them, and the bridge checks them without calling the web app."""

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from typing import Literal

from pydantic import Field, ValidationError

from protocol.base import FrozenModel
from vm_bridge.errors import TicketRefused

StreamKind = Literal["webrtc", "vnc", "stills", "thumbnails", "terminal", "proxy", "cdp"]
PREVIEW_PARAMETER = "pilothouse-ticket"
"""Query parameter of a web program's ticket. It is removed from the address immediately."""
MAX_TICKET_LENGTH = 2_000
"""Longest ticket that is checked (characters)."""


class TicketClaim(FrozenModel):
    """The permission to watch a stream: bound to one lease of one machine by its fencing token."""

    kind: StreamKind
    user: str
    episode: str
    machine_id: str
    fencing_token: int = Field(ge=1)


class Ticket(FrozenModel):
    """A claim, its creation and expiry (seconds since the epoch), and the nonce that makes it single-use."""

    claim: TicketClaim
    issued: float = 0.0
    """0 in tickets of earlier releases."""
    expires: float
    nonce: str


def preview_path(machine_id: str) -> str:
    """The path prefix on the bridge for the ports of a machine."""
    return f"/sandboxes/{machine_id}/proxy"


def preview_entry_path(machine_id: str) -> str:
    """The path prefix where a browser exchanges a ticket for a pass: `{entrance}/{port}/{path}`.

    It lies outside `preview_path`, so that no service worker of an earlier lease can answer in its place.
    """
    return f"/sandboxes/{machine_id}/enter"


def mint_ticket(key: str, claim: TicketClaim, *, ttl: float = 30) -> str:
    """A URL-safe ticket for `claim`, valid for `ttl` seconds. `key` is that of the machine's host."""
    now = time.time()
    ticket = Ticket(claim=claim, issued=now, expires=now + ttl, nonce=secrets.token_urlsafe(12))
    body = _encode(ticket.model_dump_json().encode())
    return f"{body}.{_encode(_sign(key, body))}"


def verify_ticket(keys: tuple[str, ...], text: str, kind: StreamKind) -> Ticket:
    """Decode a ticket, if one of these keys signed it, it has not expired, and it is for this kind of stream.

    The lease store alone knows whether it was used before and whether its lease is valid. Raises TicketRefused.
    """
    body, _, signature = text[:MAX_TICKET_LENGTH].partition(".")
    signed = [hmac.compare_digest(_encode(_sign(key, body)).encode(), signature.encode()) for key in keys]
    if not any(signed):
        raise TicketRefused("this ticket is forged")
    try:
        ticket = Ticket.model_validate_json(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (binascii.Error, ValidationError):
        raise TicketRefused("this ticket cannot be read") from None
    if ticket.expires < time.time():
        raise TicketRefused("this ticket has expired")
    if ticket.claim.kind != kind:
        raise TicketRefused(f"this ticket is for {ticket.claim.kind}, not for {kind}")
    return ticket


def _sign(key: str, body: str) -> bytes:
    return hmac.new(key.encode(), b"ticket:" + body.encode(), hashlib.sha256).digest()


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
