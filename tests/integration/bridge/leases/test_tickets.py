"""What only the ledger knows of a ticket: whether it was used, and whether its lease stands."""

import asyncio

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.conftest import FakeInventory
from vm_bridge.api.tickets import Ticket, TicketClaim, mint_ticket, verify_ticket
from vm_bridge.errors import TicketRefused
from vm_bridge.leases import LeaseGuard
from vm_bridge.leases.store import ClaimRequest, LeaseStore
from vm_bridge.machine import Lease

SECRET = "a secret of the tests only"


@pytest.fixture
async def ticket(fake_inventory: FakeInventory, leases: LeaseStore) -> Ticket:
    """Of a lease on m-1."""
    await fake_inventory.put("m-1")
    lease = await leases.claim(ClaimRequest("request-1", "desktop", "h"))
    assert isinstance(lease, Lease)
    bound = TicketClaim(kind="vnc", user="7", episode="e", machine_id="m-1", fencing_token=lease.fencing_token)
    return verify_ticket((SECRET,), mint_ticket(SECRET, bound), "vnc")


async def test_a_ticket_is_good_once(lease_guard: LeaseGuard, ticket: Ticket) -> None:
    await lease_guard.redeem(ticket)
    with pytest.raises(TicketRefused, match="used"):
        await lease_guard.redeem(ticket)


async def test_of_many_at_once_one_is_admitted(lease_guard: LeaseGuard, ticket: Ticket) -> None:
    outcomes = await asyncio.gather(*(lease_guard.redeem(ticket) for _ in range(20)), return_exceptions=True)
    assert outcomes.count(None) == 1


async def test_a_ticket_of_a_released_lease_is_refused(
    lease_guard: LeaseGuard, leases: LeaseStore, ticket: Ticket
) -> None:
    await leases.release("m-1", ticket.claim.fencing_token)
    with pytest.raises(TicketRefused, match="ended"):
        await lease_guard.redeem(ticket)


async def test_a_ticket_of_a_superseded_lease_is_refused(
    lease_guard: LeaseGuard, leases: LeaseStore, fake_inventory: FakeInventory, ticket: Ticket
) -> None:
    await leases.release("m-1", ticket.claim.fencing_token)
    await fake_inventory.put("m-1")
    assert isinstance(await leases.claim(ClaimRequest("request-2", "desktop", "other")), Lease)
    with pytest.raises(TicketRefused, match="ended"):
        await lease_guard.redeem(ticket)


async def test_a_ticket_of_a_lease_that_ran_out_is_refused(
    lease_guard: LeaseGuard, leases: LeaseStore, ticket: Ticket
) -> None:
    await leases.renew([("m-1", ticket.claim.fencing_token)], ttl=0)
    with pytest.raises(TicketRefused, match="ended"):
        await lease_guard.redeem(ticket)


async def test_a_ticket_that_a_lost_lease_store_may_have_seen_used_is_rejected(
    lease_guard: LeaseGuard, leases: LeaseStore, fake_inventory: FakeInventory, ticket: Ticket, operator: Redis
) -> None:
    await operator.flushall()
    await fake_inventory.inventory.register(images=("desktop",), capacity=1)
    await fake_inventory.put("m-1")
    lease = await leases.claim(ClaimRequest("request-2", "desktop", "h"))
    assert isinstance(lease, Lease)
    claim = ticket.claim.model_copy(update={"fencing_token": lease.fencing_token})
    with pytest.raises(TicketRefused, match="lost its data"):
        await lease_guard.redeem(ticket.model_copy(update={"claim": claim, "issued": ticket.issued - 1}))
    await lease_guard.redeem(verify_ticket((SECRET,), mint_ticket(SECRET, claim), "vnc"))
