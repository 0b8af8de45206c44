"""What only the ledger knows of a ticket: whether it was used, and whether its lease stands."""

import asyncio

import pytest

from vm_bridge.errors import TicketRefused
from vm_bridge.ledger import Ledger
from vm_bridge.tickets import Ticket, TicketClaim, mint, verify

SECRET = "a secret of the tests only"


async def ticket_for(ledger: Ledger, *, ttl: float = 60) -> Ticket:
    await ledger.add("m-1", image="desktop", vnc_socket="/run/m-1")
    claim = await ledger.claim("desktop", holder="h", ttl=ttl, above=0)
    assert claim is not None
    text = mint(
        SECRET,
        TicketClaim(kind="vnc", user="7", episode="e", machine_id=claim.machine_id, fencing_token=claim.token),
    )
    return verify(SECRET, text, "vnc")


async def test_a_ticket_is_good_once(ledger: Ledger) -> None:
    ticket = await ticket_for(ledger)
    await ledger.redeem(ticket)
    with pytest.raises(TicketRefused, match="used"):
        await ledger.redeem(ticket)


async def test_of_many_at_once_one_is_admitted(ledger: Ledger) -> None:
    ticket = await ticket_for(ledger)
    outcomes = await asyncio.gather(*(ledger.redeem(ticket) for _ in range(20)), return_exceptions=True)
    assert outcomes.count(None) == 1


async def test_a_ticket_of_a_released_lease_is_refused(ledger: Ledger) -> None:
    ticket = await ticket_for(ledger)
    await ledger.release("m-1", ticket.claim.fencing_token)
    with pytest.raises(TicketRefused, match="ended"):
        await ledger.redeem(ticket)


async def test_a_ticket_of_a_superseded_lease_is_refused(ledger: Ledger) -> None:
    ticket = await ticket_for(ledger)
    await ledger.release("m-1", ticket.claim.fencing_token)
    await ledger.add("m-1", image="desktop", vnc_socket=None)
    assert await ledger.claim("desktop", holder="other", ttl=60, above=0)
    with pytest.raises(TicketRefused, match="ended"):
        await ledger.redeem(ticket)


async def test_a_ticket_of_a_lease_that_ran_out_is_refused(ledger: Ledger) -> None:
    ticket = await ticket_for(ledger, ttl=0)
    with pytest.raises(TicketRefused, match="ended"):
        await ledger.redeem(ticket)
