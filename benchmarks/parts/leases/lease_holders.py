"""A process full of clients that claim, act, renew, release and forget, and write down what they believe.

`python -m benchmarks.parts.leases.lease_holders URL SECRET FILE COUNT`, until it is killed.
"""

import asyncio
import random
import sys
import time
from pathlib import Path

from benchmarks.parts.leases.ownership_log import OwnershipInterval
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError
from vm_bridge.machine import Lease

LEASE_SECONDS = 2.0
CLAIM_TIMEOUT_SECONDS = 5.0


class LeaseHolder:
    """One client; `file` is written through, so that what it believed is known although it is killed."""

    def __init__(self, client: BridgeClient, file: Path, name: str) -> None:
        self._client = client
        self._file = file.open("ab", buffering=0)
        self._name = name

    async def run(self) -> None:
        """Lease after lease, for ever."""
        while True:
            try:
                await self._hold_lease()
            except BridgeError:
                await asyncio.sleep(0.05)

    async def _hold_lease(self) -> None:
        user = f"user-{random.randrange(4)}"
        lease = await self._client.allocate(
            image="desktop", holder=self._name, user=user, ttl=LEASE_SECONDS, wait=CLAIM_TIMEOUT_SECONDS
        )
        self._record_interval(lease, lease.expires_at.timestamp())
        for _ in range(random.randrange(6)):
            await self._client.machine(lease).skip_settle()
            await asyncio.sleep(random.random() * 0.2)
            if random.random() < 0.5:
                lease = await self._client.renew(lease, ttl=LEASE_SECONDS)
                self._record_interval(lease, lease.expires_at.timestamp())
        if random.random() < 0.8:  # the others just forget it
            self._record_interval(lease, time.time())
            await self._client.release(lease)

    def _record_interval(self, lease: Lease, until: float) -> None:
        interval = OwnershipInterval(at=time.time(), until=until, machine=lease.machine_id, token=lease.fencing_token)
        self._file.write(interval.model_dump_json().encode() + b"\n")


async def main(url: str, secret: str, file: Path, count: int) -> None:
    async with BridgeClient(url, secret) as client, asyncio.TaskGroup() as group:
        for number in range(count):
            group.create_task(LeaseHolder(client, file, f"{file.name}-{number}").run())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])))
