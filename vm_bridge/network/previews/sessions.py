"""Who may use a machine's web programs: a single-use ticket is exchanged for a pass that ends with the lease."""

import hashlib
import hmac
from dataclasses import dataclass

from starlette.requests import cookie_parser

from vm_bridge.api.tickets import TicketClaim, mint_ticket, preview_entry_path, preview_path, verify_ticket
from vm_bridge.errors import BridgeError, TicketRefused
from vm_bridge.leases import LeaseGuard
from vm_bridge.network.previews.mount import SESSION_COOKIE

LEASE_COOKIE = "pilothouse-lease"
"""The fencing token of the lease whose programs a browser has stored things of."""
SESSION_SECONDS = 12 * 3600.0
"""A pass ends with its lease, and after so long at the latest."""


@dataclass(frozen=True, slots=True)
class PreviewSession:
    """What a browser is given for a ticket."""

    cookies: tuple[str, ...]
    """Values of `Set-Cookie`: the pass, and which lease it is of."""
    new_lease: bool
    """Whether what the browser has stored of the machine may be of programs of an earlier lease."""


class PreviewSessions:
    """A pass is a ticket signed with a key of its own, so that neither can stand for the other.

    Args:
        keys: Of tickets. Passes are signed with one derived from the first, and good with one of any.
    """

    def __init__(self, keys: tuple[str, ...], lease_guard: LeaseGuard) -> None:
        self._keys, self._lease_guard = keys, lease_guard
        self._session_keys = tuple(hmac.new(key.encode(), b"preview pass", hashlib.sha256).hexdigest() for key in keys)

    async def exchange(self, ticket: str, machine_id: str, cookies: str, *, secure: bool) -> PreviewSession:
        """What lets the ticket's bearer in. Raises TicketRefused.

        Args:
            cookies: Those that the browser sent to the entrance.
            secure: Whether the browser speaks TLS.
        """
        verified = verify_ticket(self._keys, ticket, "proxy")
        if verified.claim.machine_id != machine_id:
            raise TicketRefused("this ticket is for another machine")
        await self._lease_guard.redeem(verified)
        value = mint_ticket(self._session_keys[0], verified.claim, ttl=SESSION_SECONDS)
        # Over HTTPS the page may be shown by one of another site, which then has a jar of its own for it.
        site = "Secure; SameSite=None; Partitioned" if secure else "SameSite=Lax"
        lease = str(verified.claim.fencing_token)
        return PreviewSession(
            cookies=(
                f"{SESSION_COOKIE}={value}; Path={preview_path(machine_id)}/; HttpOnly; {site}",
                f"{LEASE_COOKIE}={lease}; Path={preview_entry_path(machine_id)}/; HttpOnly; {site}",
            ),
            new_lease=cookie_parser(cookies).get(LEASE_COOKIE) != lease,
        )

    async def claim(self, cookies: str, machine_id: str) -> TicketClaim:
        """Whose pass is among a request's cookies. Raises TicketRefused unless it is good now."""
        held = cookie_parser(cookies).get(SESSION_COOKIE)
        if held is None:
            raise TicketRefused("open this page from the desk")
        claim = verify_ticket(self._session_keys, held, "proxy").claim
        await self.check(claim, machine_id)
        return claim

    async def check(self, claim: TicketClaim, machine_id: str) -> None:
        """Raises TicketRefused when the lease the pass was given under has ended."""
        if claim.machine_id != machine_id:
            raise TicketRefused("this pass is for another machine")
        try:
            await self._lease_guard.check(machine_id, claim.fencing_token)
        except BridgeError as error:
            raise TicketRefused(f"this pass has ended: {error}") from error
