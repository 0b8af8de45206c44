"""What an operator sees of a machine's cost, over a real Redis."""

import asyncio

import pytest
from redis.asyncio import Redis

from tests.integration.bridge.pool_helpers import bridge_over, sandbox_of
from vm_bridge.sandbox import Usage
from vm_bridge.simulators.fake.sandbox import FakeHost, FakeSandbox


@pytest.mark.parametrize("measured", [True, False], ids=["measured", "not measured"])
async def test_an_operator_sees_what_a_machine_costs(
    redis: Redis, monkeypatch: pytest.MonkeyPatch, measured: bool
) -> None:
    async def usage(_: FakeSandbox) -> Usage:
        return Usage()

    if not measured:
        monkeypatch.setattr(FakeSandbox, "usage", usage)
    host = FakeHost(("desktop", "phone"), capacity=2)
    async with bridge_over(host, redis) as bridge:
        lease = await bridge.lease()
        await (await bridge.machine(lease)).observe()
        seen: list[tuple[int | None, float | None]] = []

        async def look() -> None:
            while not seen:
                (machine,) = await bridge.manager.overview.machines()
                if machine.last_act is not None:
                    seen.append((machine.memory_bytes, machine.cpu_share))
                await asyncio.sleep(0.05)

        await asyncio.wait_for(look(), 15)
        ((memory, share),) = seen
        assert memory == (sandbox_of(host, lease).screen.nbytes if measured else None)
        assert (share is None) is not measured
