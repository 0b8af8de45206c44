"""Keeps a number of hosts placed in a Ray cluster, and immediately reports hosts lost with their node to the lease
store.
"""

import asyncio
import logging
from typing import Any, NamedTuple

import ray
from ray.exceptions import RayError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from vm_bridge.cluster.host_actor import STOP_SECONDS, HostActor
from vm_bridge.cluster.placement import NODE_DIGITS, find_lost_hosts
from vm_bridge.leases.fleet_overview import FleetOverview

logger = logging.getLogger(__name__)

NAMESPACE = "pilothouse"
POLL_SECONDS = 0.25
"""Interval of comparing live nodes with the hosts in the lease store (seconds)."""
OUTAGE_PAUSE_SECONDS = 1.0


class HostResources(NamedTuple):
    """Resources that Ray reserves on a node for one host and all its machines."""

    cpus: float
    memory: int
    """Bytes; 0: not counted."""
    resources: dict[str, float]
    """The operator's custom resources, which select nodes."""


class ClusterController:
    """Stateless: hosts live on in the cluster without it. It may be restarted or run twice."""

    def __init__(self, redis: Redis, host_resources: HostResources) -> None:
        self._overview = FleetOverview(redis)
        self._host_resources = host_resources
        self._actors: list[Any] = []

    def place_hosts(self, count: int) -> None:
        """Place `count` hosts. Hosts that no node has room for yet are placed when one has."""
        host = ray.remote(HostActor)
        self._actors = [
            host.options(
                name=f"ray-{number}",
                namespace=NAMESPACE,
                get_if_exists=True,
                lifetime="detached",
                max_restarts=-1,
                max_concurrency=2,  # `stop` waits
                scheduling_strategy="SPREAD",
                num_cpus=self._host_resources.cpus,
                memory=self._host_resources.memory or None,
                resources=self._host_resources.resources or None,
            ).remote(number)
            for number in range(count)
        ]

    async def run(self) -> None:
        """Runs for ever."""
        while True:
            try:
                await self._report_lost_hosts()
            except (RedisError, RayError, OSError) as error:
                logger.warning("the check of the cluster failed: %s", error)
                await asyncio.sleep(OUTAGE_PAUSE_SECONDS)
            await asyncio.sleep(POLL_SECONDS)

    async def stop_hosts(self) -> None:
        """End every host with its machines. Their holders get the reason."""
        stopping = [asyncio.wrap_future(actor.stop.remote().future()) for actor in self._actors]
        if stopping:
            await asyncio.wait(stopping, timeout=STOP_SECONDS + OUTAGE_PAUSE_SECONDS)
        for actor in self._actors:
            ray.kill(actor)

    async def _report_lost_hosts(self) -> None:
        hosts = await self._overview.hosts()
        nodes = await asyncio.to_thread(list_nodes)
        lost = find_lost_hosts(hosts, nodes)
        for host, reason in lost:
            logger.warning("%s is lost: %s", host, reason)
        if lost:
            await self._overview.mark_hosts_lost(lost)


def list_nodes() -> dict[str, bool]:
    """The nodes that Ray has or had, as `HostPlacement` writes them, and whether each is alive. Ray remembers a
    thousand dead nodes.
    """
    return {node["NodeID"][:NODE_DIGITS]: node["Alive"] for node in ray.nodes()}
