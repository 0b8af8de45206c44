"""The composition root: the one place where the web app meets the layers below."""

from urllib.parse import quote

from django.conf import settings

from annotation_app.episodes.models import Episode
from annotation_app.errors import Conflict
from vm_bridge.machine import Lease
from vm_bridge.tickets import StreamKind, TicketClaim, mint

TICKET_TTL = 30.0
"""How long a stream ticket holds (seconds)."""


def ticket_mint(*, kind: StreamKind, user: str, episode: Episode, host: str) -> tuple[str, str]:
    """A ticket for the picture of this episode's machine, and where to redeem it. Raises Conflict."""
    if not episode.machine:
        raise Conflict("This episode has no machine now.", code="machine_gone")
    lease = Lease.model_validate_json(episode.machine)
    if kind not in lease.capabilities.streams:
        raise Conflict(f"This machine has no {kind} picture.", code="no_stream")
    claim = TicketClaim(
        kind=kind,
        user=user,
        episode=str(episode.id),
        machine_id=lease.machine_id,
        fencing_token=lease.fencing_token,
    )
    ticket = mint(settings.ENV.secret, claim, ttl=TICKET_TTL)
    return ticket, _stream_url(kind, ticket, host.rpartition(":")[0] or host)


def _stream_url(kind: StreamKind, ticket: str, host: str) -> str:
    """Where the browser finds a stream, under the host name it used for us."""
    if kind == "vnc":
        return f"{settings.ENV.vnc_public_url.replace('{host}', host)}/?token={quote(ticket)}"
    return f"{settings.ENV.bridge_public_url.replace('{host}', host)}/streams/{kind}"
