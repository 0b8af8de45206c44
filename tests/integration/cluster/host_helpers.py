"""A machine of the pool for tests that ask a host for one: all they have of it is a lease."""

from dataclasses import dataclass

from vm_bridge.api.client import BridgeClient
from vm_bridge.machine import Lease, Machine

SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Leased:
    """One lease, under its own token whatever is asked for."""

    client: BridgeClient
    lease: Lease

    def bind(self, fencing_token: int) -> Machine:
        return self.client.machine(self.lease)


class LeasingHost:
    """Claims what it is asked to make, and gives it back in the end."""

    images: tuple[str, ...] = ("desktop",)

    def __init__(self, url: str, secret: str) -> None:
        self._client = BridgeClient(url, secret)
        self._leases: list[Lease] = []

    async def create(self, image: str) -> Leased:
        lease = await self._client.allocate(image=image, holder="contract", ttl=600, wait=SECONDS)
        self._leases.append(lease)
        return Leased(self._client, lease)

    async def close(self) -> None:
        for lease in self._leases:
            await self._client.release(lease)
        await self._client.__aexit__(None, None, None)
