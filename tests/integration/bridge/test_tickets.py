"""What only the ledger knows of a ticket: whether it was used, and whether its lease stands."""

import asyncio

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.conftest import Shelf
from vm_bridge.errors import TicketRefused
from vm_bridge.ledger import Ledger
from vm_bridge.ledger.leases import Ask, Leases
from vm_bridge.machine import Lease
from vm_bridge.tickets import Ticket, TicketClaim, mint, verify

SECRET = "a secret of the tests only"


@pytest.fixture
async def ticket(shelf: Shelf, leases: Leases) -> Ticket:
    """Of a lease on m-1."""
    await shelf.put("m-1")
    lease = await leases.claim(Ask("request-1", "desktop", "h"))
    assert isinstance(lease, Lease)
    bound = TicketClaim(kind="vnc", user="7", episode="e", machine_id="m-1", fencing_token=lease.fencing_token)
    return verify(SECRET, mint(SECRET, bound), "vnc")


async def test_a_ticket_is_good_once(ledger: Ledger, ticket: Ticket) -> None:
    await ledger.redeem(ticket)
    with pytest.raises(TicketRefused, match="used"):
        await ledger.redeem(ticket)


async def test_of_many_at_once_one_is_admitted(ledger: Ledger, ticket: Ticket) -> None:
    outcomes = await asyncio.gather(*(ledger.redeem(ticket) for _ in range(20)), return_exceptions=True)
    assert outcomes.count(None) == 1


async def test_a_ticket_of_a_released_lease_is_refused(ledger: Ledger, leases: Leases, ticket: Ticket) -> None:
    await leases.release("m-1", ticket.claim.fencing_token)
    with pytest.raises(TicketRefused, match="ended"):
        await ledger.redeem(ticket)


async def test_a_ticket_of_a_superseded_lease_is_refused(
    ledger: Ledger, leases: Leases, shelf: Shelf, ticket: Ticket
) -> None:
    await leases.release("m-1", ticket.claim.fencing_token)
    await shelf.put("m-1")
    assert isinstance(await leases.claim(Ask("request-2", "desktop", "other")), Lease)
    with pytest.raises(TicketRefused, match="ended"):
        await ledger.redeem(ticket)


async def test_a_ticket_of_a_lease_that_ran_out_is_refused(ledger: Ledger, leases: Leases, ticket: Ticket) -> None:
    await leases.renew([("m-1", ticket.claim.fencing_token)], ttl=0)
    with pytest.raises(TicketRefused, match="ended"):
        await ledger.redeem(ticket)


async def test_a_ticket_that_a_lost_ledger_may_have_seen_used_is_refused(
    ledger: Ledger, leases: Leases, shelf: Shelf, ticket: Ticket, operator: Redis
) -> None:
    await operator.flushall()
    await shelf.shelves.register(images=("desktop",), capacity=1)
    await shelf.put("m-1")
    lease = await leases.claim(Ask("request-2", "desktop", "h"))
    assert isinstance(lease, Lease)
    claim = ticket.claim.model_copy(update={"fencing_token": lease.fencing_token})
    with pytest.raises(TicketRefused, match="lost its data"):
        await ledger.redeem(ticket.model_copy(update={"claim": claim, "issued": ticket.issued - 1}))
    await ledger.redeem(verify(SECRET, mint(SECRET, claim), "vnc"))
