"""Several hosts as one."""

import asyncio
from collections.abc import Collection

import pytest

from vm_bridge.errors import NoMachine
from vm_bridge.hosts.composite import CompositeHost
from vm_bridge.sandbox import Sandbox
from vm_bridge.simulators.fake.sandbox import FakeHost


class Together(FakeHost):
    """Adopts when the others do."""

    def __init__(self, image: str, meeting: asyncio.Barrier) -> None:
        super().__init__((image,))
        self._meeting = meeting

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        await self._meeting.wait()
        return await super().adopt(ids)


async def test_no_host_adopts_after_another() -> None:
    meeting = asyncio.Barrier(2)
    hosts = [Together("desktop", meeting), Together("phone", meeting)]
    left = [await host.create(host.images[0]) for host in hosts]
    async with asyncio.timeout(10):
        adopted = await CompositeHost(hosts).adopt([sandbox.id for sandbox in left])
    assert adopted == left


async def test_the_host_that_has_an_image_makes_it() -> None:
    hosts = CompositeHost([FakeHost(("desktop",)), FakeHost(("phone",))])
    assert (await hosts.create("phone")).image == "phone"
    with pytest.raises(NoMachine, match="there are desktop, phone"):
        await hosts.create("toaster")
