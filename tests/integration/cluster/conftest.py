"""The cluster, and a client of the pool over it."""

from collections.abc import AsyncIterator

import pytest_asyncio

from benchmarks.parts.ray_cluster.cluster import Cluster
from tests.integration.cluster.cluster_helpers import placed as placed
from vm_bridge.api.client import BridgeClient


@pytest_asyncio.fixture
async def client(placed: Cluster) -> AsyncIterator[BridgeClient]:
    """A client that knows the secret; what it still holds in the end is given back."""
    async with BridgeClient(placed.fleet.url, placed.fleet.secret) as client:
        yield client
        for machine in await client.fleet.machines():
            if machine.state == "leased":
                await client.fleet.reclaim(machine.id, reason="the test is over")
