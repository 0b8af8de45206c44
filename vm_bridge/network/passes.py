"""Who may use a machine's web programs: a single-use ticket is exchanged for a pass that ends with the lease."""

import hashlib
import hmac
from dataclasses import dataclass

from starlette.requests import cookie_parser

from vm_bridge.errors import BridgeError, TicketRefused
from vm_bridge.ledger import Ledger
from vm_bridge.network.mount import PASS_COOKIE
from vm_bridge.tickets import TicketClaim, mint, preview_entrance, preview_path, verify

LEASE_COOKIE = "pilothouse-lease"
"""The fencing token of the lease whose programs a browser has stored things of."""
PASS_SECONDS = 12 * 3600.0
"""A pass ends with its lease, and after so long at the latest."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What a browser is given for a ticket."""

    cookies: tuple[str, ...]
    """Values of `Set-Cookie`: the pass, and which lease it is of."""
    new_lease: bool
    """Whether what the browser has stored of the machine may be of programs of an earlier lease."""


class Passes:
    """A pass is a ticket signed with a key of its own, so that neither can stand for the other."""

    def __init__(self, secret: str, ledger: Ledger) -> None:
        self._secret, self._ledger = secret, ledger
        self._own_key = hmac.new(secret.encode(), b"preview pass", hashlib.sha256).hexdigest()

    async def exchange(self, ticket: str, machine_id: str, cookies: str, *, secure: bool) -> Entry:
        """What lets the ticket's bearer in. Raises TicketRefused.

        Args:
            cookies: Those that the browser sent to the entrance.
            secure: Whether the browser speaks TLS.
        """
        verified = verify(self._secret, ticket, "proxy")
        if verified.claim.machine_id != machine_id:
            raise TicketRefused("this ticket is for another machine")
        await self._ledger.redeem(verified)
        value = mint(self._own_key, verified.claim, ttl=PASS_SECONDS)
        # Over HTTPS the page may be shown by one of another site, which then has a jar of its own for it.
        site = "Secure; SameSite=None; Partitioned" if secure else "SameSite=Lax"
        lease = str(verified.claim.fencing_token)
        return Entry(
            cookies=(
                f"{PASS_COOKIE}={value}; Path={preview_path(machine_id)}/; HttpOnly; {site}",
                f"{LEASE_COOKIE}={lease}; Path={preview_entrance(machine_id)}/; HttpOnly; {site}",
            ),
            new_lease=cookie_parser(cookies).get(LEASE_COOKIE) != lease,
        )

    async def claim(self, cookies: str, machine_id: str) -> TicketClaim:
        """Whose pass is among a request's cookies. Raises TicketRefused unless it is good now."""
        held = cookie_parser(cookies).get(PASS_COOKIE)
        if held is None:
            raise TicketRefused("open this page from the desk")
        claim = verify(self._own_key, held, "proxy").claim
        await self.check(claim, machine_id)
        return claim

    async def check(self, claim: TicketClaim, machine_id: str) -> None:
        """Raises TicketRefused when the lease the pass was given under has ended."""
        if claim.machine_id != machine_id:
            raise TicketRefused("this pass is for another machine")
        try:
            await self._ledger.check(machine_id, claim.fencing_token)
        except BridgeError as error:
            raise TicketRefused(f"this pass has ended: {error}") from error
