"""Single-use passes to a stream: minted by the web app, checked without asking it."""

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
"""Where in the address of a web program its ticket stands; it is taken out at once."""
MAX_TICKET_LENGTH = 2_000
"""Longest ticket looked at (characters)."""


class TicketClaim(FrozenModel):
    """Who may watch what: bound to one lease of one machine by its fencing token."""

    kind: StreamKind
    user: str
    episode: str
    machine_id: str
    fencing_token: int = Field(ge=1)


class Ticket(FrozenModel):
    """A claim, when it was made and when it ends (seconds since the epoch), and the number by which it is used once."""

    claim: TicketClaim
    issued: float = 0.0
    """0 in tickets of earlier releases."""
    expires: float
    nonce: str


def preview_path(machine_id: str) -> str:
    """Below which path of the bridge browsers find the ports of a machine."""
    return f"/sandboxes/{machine_id}/proxy"


def preview_entry_path(machine_id: str) -> str:
    """Below which path a browser exchanges a ticket for a pass: `{entrance}/{port}/{path}`.

    It lies outside `preview_path`, so that no service worker of an earlier lease can answer in its place.
    """
    return f"/sandboxes/{machine_id}/enter"


def mint_ticket(key: str, claim: TicketClaim, *, ttl: float = 30) -> str:
    """A ticket for `claim`, good for `ttl` seconds: text that is safe in a URL. `key` is that of the machine's host."""
    now = time.time()
    ticket = Ticket(claim=claim, issued=now, expires=now + ttl, nonce=secrets.token_urlsafe(12))
    body = _encode(ticket.model_dump_json().encode())
    return f"{body}.{_encode(_sign(key, body))}"


def verify_ticket(keys: tuple[str, ...], text: str, kind: StreamKind) -> Ticket:
    """The ticket that `text` is, if one of these keys signed it, in time, for this kind of stream.

    Whether it was used before and whether its lease still stands, only the ledger knows.
    Raises TicketRefused.
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
