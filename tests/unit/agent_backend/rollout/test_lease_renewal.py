"""A lease of an attempt is renewed through a bridge that is away for a moment, and no longer than it holds."""

import asyncio
from typing import cast

import pytest

from agent_backend.rollout import attempts
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, BridgeUnavailable
from vm_bridge.machine import Lease


class Bridge:
    """Is away once, then answers, then says that the lease is over."""

    def __init__(self) -> None:
        self.asked = 0

    async def renew(self, lease: Lease, *, ttl: float) -> Lease:
        self.asked += 1
        if self.asked == 1:
            raise BridgeUnavailable("it is started anew")
        if self.asked == 3:
            raise BridgeError("the lease is over")
        return lease


async def test_a_bridge_that_is_away_once_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "LEASE_SECONDS", 0.03)
    bridge = Bridge()
    keeping = asyncio.create_task(attempts.renew_lease(cast(BridgeClient, bridge), cast(Lease, None)))
    await eventually(keeping.done)
    await keeping
    assert bridge.asked == 3
