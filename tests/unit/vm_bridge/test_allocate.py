"""How long a machine is waited for: who has as many as they may have is told soon."""

from typing import Literal

import pytest

from vm_bridge.api.client import BridgeClient
from vm_bridge.api.wire import AllocateRequest
from vm_bridge.errors import NoMachine
from vm_bridge.fleet import QueuePosition
from vm_bridge.machine import Lease

Why = Literal["none_free", "user_quota", "pool_quota"]


class FullBridge(BridgeClient):
    """A bridge that has no machine to give, for a reason."""

    def __init__(self, why: Why) -> None:
        super().__init__("http://bridge.test", "secret")
        self._why: Why = why
        self.waits: list[float] = []

    async def claim(self, body: AllocateRequest) -> Lease | QueuePosition:
        self.waits.append(body.wait)
        return QueuePosition(
            request_id=body.request_id, image=body.image, position=1, waiting=1, estimated_seconds=None, why=self._why
        )


@pytest.mark.parametrize(
    ("why", "claims", "told"),
    [
        ("user_quota", 1, "within 2 s; place 1 of 1, as many as you may have"),
        ("pool_quota", 1, "within 2 s; place 1 of 1, as many as the pool may have"),
        ("none_free", 2, "within 45 s; place 1 of 1$"),
    ],
)
async def test_a_full_quota_is_told_before_the_wait_is_over(why: Why, claims: int, told: str) -> None:
    bridge = FullBridge(why)
    with pytest.raises(NoMachine, match=told):
        await bridge.allocate(image="browser", holder="h", request_id="r", wait=45, quota_wait=2)
    assert len(bridge.waits) == claims
    assert bridge.waits[0] == 2


async def test_a_program_without_a_quota_wait_waits_at_once() -> None:
    bridge = FullBridge("user_quota")
    with pytest.raises(NoMachine, match="within 45 s"):
        await bridge.allocate(image="browser", holder="h", request_id="r", wait=45)
    assert bridge.waits == [45]
