"""Hosts that are lost: what claims and renewals say, and when the host comes back."""

from typing import Any

import pytest

from tests.integration.bridge.conftest import Shelf
from vm_bridge.errors import MachineGone
from vm_bridge.ledger.leases import Ask, Leases
from vm_bridge.ledger.overview import Overview
from vm_bridge.ledger.scripts import Scripts
from vm_bridge.machine import Lease

DIED = "the node of its host died"


async def claim(leases: Leases, request: str) -> Lease:
    lease = await leases.claim(Ask(request, "desktop", "h"))
    assert isinstance(lease, Lease)
    return lease


async def test_a_renewal_is_one_with_its_answer(
    leases: Leases, shelf: Shelf, overview: Overview, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host is lost as soon as the ledger has renewed, before the answer is made."""
    await shelf.put("m-1")
    lease = await claim(leases, "r-1")
    run = Scripts.run

    async def run_then_lose(self: Scripts, name: str, *arguments: Any) -> Any:
        answer = await run(self, name, *arguments)
        await run(self, "quit", "host-1", DIED)
        return answer

    with monkeypatch.context() as patch:
        patch.setattr(Scripts, "run", run_then_lose)
        renewed = await leases.extend("m-1", lease.fencing_token, ttl=600)
    assert (renewed.machine_id, renewed.host) == ("m-1", "host-1")
    assert renewed.expires_at > lease.expires_at
    with pytest.raises(MachineGone, match=DIED):
        await leases.extend("m-1", lease.fencing_token, ttl=600)
