"""Several hosts as one: each makes the machines of its own images."""

import asyncio
from collections.abc import Collection, Sequence
from itertools import chain

from vm_bridge.errors import NoMachine
from vm_bridge.sandbox import Host, Sandbox


class CompositeHost:
    """The first host that has an image makes its machines."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._hosts = tuple(hosts)
        self.images = tuple(image for host in hosts for image in host.images)

    async def create(self, image: str) -> Sandbox:
        host = next((host for host in self._hosts if image in host.images), None)
        if host is None:
            raise NoMachine(f"there is no image {image!r}; there are {', '.join(self.images)}")
        return await host.create(image)

    async def adopt(self, ids: Collection[str]) -> list[Sandbox]:
        """All at once: without a host machines end by themselves, and must not wait for those of another kind."""
        return list(chain(*await asyncio.gather(*(host.adopt(ids) for host in self._hosts))))

    async def close(self) -> None:
        await asyncio.gather(*(host.close() for host in self._hosts))
