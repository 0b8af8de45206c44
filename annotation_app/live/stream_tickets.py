"""Tickets that let a browser reach an episode's machine past the web app: streams, web programs, the debugger."""

from urllib.parse import quote
from uuid import UUID

from django.conf import settings

from annotation_app.episodes import selectors
from annotation_app.errors import Conflict
from annotation_app.live.schemas import IceServerOut
from annotation_app.public_urls import public_url
from vm_bridge.api.tickets import PREVIEW_PARAMETER, StreamKind, TicketClaim, mint_ticket, preview_entry_path
from vm_bridge.host_keys import derive_key, key_name
from vm_bridge.ice import ICE_SERVERS, with_credentials
from vm_bridge.machine import Lease

PREVIEWS_DISABLED_MESSAGE = "Web programs of machines are off here. An operator can set PILOTHOUSE_PREVIEW_URL."
TICKET_TTL_SECONDS = 30.0
"""Lifetime of a stream ticket (seconds)."""
PROGRAM_TICKET_TTL_SECONDS = 300.0
"""Lifetime of a ticket that a person copies into a program of their own (seconds)."""


def ticket_mint(*, kind: StreamKind, user: str, episode_id: UUID, host: str) -> tuple[str, str]:
    """A ticket for the picture of this episode's machine, and where to redeem it. Raises Conflict."""
    lease = _lease_of(episode_id)
    if kind not in lease.capabilities.streams:
        raise Conflict(f"This machine has no {kind} picture.", code="no_stream")
    ticket = ticket_for_lease(kind, user, episode_id, lease)
    return ticket, stream_url(kind, ticket, host=host, bridge=lease.host)


def ice_servers(user: str) -> tuple[IceServerOut, ...]:
    """The STUN and TURN servers that connect this person's browser to a bridge, with personal credentials."""
    return tuple(
        IceServerOut(
            urls=(server.urls,) if isinstance(server.urls, str) else tuple(server.urls),
            username=server.username or "",
            credential=server.credential or "",
        )
        for server in with_credentials(ICE_SERVERS.validate_json(settings.ENV.ice_servers), user)
    )


def preview_mint(*, user: str, episode_id: UUID, port: int, path: str, host: str) -> tuple[str, str]:
    """A ticket for the web programs of this episode's machine, and the address of one of them with the ticket. Raises
    Conflict."""
    if not settings.PREVIEWS:
        raise Conflict(PREVIEWS_DISABLED_MESSAGE, code="previews_off")
    lease = _lease_of(episode_id)
    ticket = ticket_for_lease("proxy", user, episode_id, lease)
    origin = public_url(
        settings.ENV.preview_url or settings.ENV.bridge_public_url,
        host=host,
        bridge=lease.host,
        machine=lease.machine_id,
    )
    page, _, query = path.lstrip("/").partition("?")
    query_prefix = f"{query}&" if query else ""
    entry = f"{origin}{preview_entry_path(lease.machine_id)}"
    address = f"{entry}/{port}/{page}?{query_prefix}{PREVIEW_PARAMETER}={quote(ticket)}"
    return ticket, address


def cdp_mint(*, user: str, episode_id: UUID, host: str) -> tuple[str, str]:
    """A ticket for a program that connects to this episode's browser, and its WebSocket address with the ticket.

    Raises Conflict.
    """
    lease = _lease_of(episode_id)
    if "navigate" not in lease.capabilities.kinds:
        raise Conflict("This machine is no browser.", code="no_browser")
    ticket = ticket_for_lease("cdp", user, episode_id, lease, ttl=PROGRAM_TICKET_TTL_SECONDS)
    address = f"{stream_url('cdp', ticket, host=host, bridge=lease.host)}?token={quote(ticket)}"
    return ticket, address.replace("http", "ws", 1)


def _lease_of(episode_id: UUID) -> Lease:
    stored = selectors.machine_of(episode_id=episode_id)
    if not stored.lease:
        raise Conflict("This episode has no machine now.", code="machine_gone")
    return Lease.model_validate_json(stored.lease)


def ticket_for_lease(
    kind: StreamKind, user: str, episode_id: UUID, lease: Lease, *, ttl: float = TICKET_TTL_SECONDS
) -> str:
    """A ticket for the machine of this lease. The caller must check that the user may see it."""
    claim = TicketClaim(
        kind=kind,
        user=user,
        episode=str(episode_id),
        machine_id=lease.machine_id,
        fencing_token=lease.fencing_token,
    )
    return mint_ticket(host_key(lease.host), claim, ttl=ttl)


def pictured_lease(machine: str) -> Lease | None:
    """The lease on an episode's machine, from its stored text; None if it has none, or its machine has no picture."""
    lease = Lease.model_validate_json(machine) if machine else None
    return lease if lease is not None and "stills" in lease.capabilities.streams else None


def host_key(host_id: str) -> str:
    """The key that signs tickets for the machines of a bridge host."""
    return derive_key(settings.ENV.bridge_master, key_name(host_id))


def stream_url(kind: StreamKind, ticket: str, *, host: str, bridge: str) -> str:
    """The address of a machine's stream on this bridge host, under the host name that the browser used for this
    server."""
    if kind == "vnc":
        return f"{public_url(settings.ENV.vnc_public_url, host=host, bridge=bridge)}/?token={quote(ticket)}"
    return f"{public_url(settings.ENV.bridge_public_url, host=host, bridge=bridge)}/streams/{kind}"
