"""A pool over a Ray cluster: how long a claim takes, and what a node's death costs those who hold its machines."""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.parts.concurrency import in_background
from benchmarks.parts.figures import percentile, print_progress
from benchmarks.parts.leases.ownership_log import (
    OwnershipInterval,
    count_overlaps,
    count_rejected_holders,
    count_token_regressions,
    read_intervals,
)
from benchmarks.parts.ray_cluster.cluster import Cluster, run_cluster
from benchmarks.parts.waiting import wait_until
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, MachineGone
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.call_log import read_entries

NODES, MACHINES, HOLDERS = 3, 8, 9
CLAIMS = 200
LEASE_SECONDS = 60.0
LOSS_SECONDS = 120.0
"""Longest until everybody who lost a machine holds another."""
PAUSE = 0.02
RECOVERY_PAUSE_SECONDS = 3.0
"""How long all hold their machines before and after a node dies (seconds)."""


def measure(folder: Path) -> dict[str, object]:
    """Claims through the typed client; a node killed and another frozen while all their machines are in use."""
    settings = {"PILOTHOUSE_MACHINES": "fake"}
    with run_cluster(
        folder / "ray", nodes=NODES, machines=MACHINES, warm={"desktop": HOLDERS}, settings=settings
    ) as placed:
        claims, losses, event_times = asyncio.run(_measure_loss(placed, folder))
        seen = read_entries(placed.fleet.journal)
    held = read_intervals(folder.glob("ray-believed-*"))
    double = count_overlaps(held) + count_token_regressions(seen) + count_rejected_holders(seen, held)
    print_progress(f"{len(held)} leases, {len(losses)} lost with their nodes, {double} doubly held")
    return {
        "ray_claim_p50_ms": percentile(claims, 0.5),
        "ray_claim_p99_ms": percentile(claims, 0.99),
        "ray_node_loss_leases": len(losses),
        "ray_node_loss_double_leases": double,
        "ray_node_loss_told_ms": max(event_times),
        "ray_node_loss_recovery_ms": max(losses),
    }


@dataclass(slots=True)
class LeaseHolder:
    """One who holds a machine all the time, and another as soon as the first is lost."""

    client: BridgeClient
    name: str
    file: Path
    lease: Lease
    event_times: list[float] = field(default_factory=list)
    """When it heard that its machine is gone, and when the next one answered it (seconds)."""
    replaced: asyncio.Event = field(default_factory=asyncio.Event)

    async def hold(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                self.lease = await self.client.renew(self.lease, ttl=LEASE_SECONDS)
                self.record_interval(self.lease.expires_at.timestamp())
            except MachineGone:
                self.record_interval(time.time())
                self.event_times.append(time.monotonic())
                await self.claim()
                self.event_times.append(time.monotonic())
                self.replaced.set()
            await asyncio.sleep(PAUSE)

    async def claim(self) -> None:
        """Another machine, that answers."""
        self.lease = await claim_machine(self.client, self.name)
        self.record_interval(self.lease.expires_at.timestamp())

    def record_interval(self, until: float) -> None:
        """Write down that the machine is ours."""
        interval = OwnershipInterval(
            at=time.time(), until=until, machine=self.lease.machine_id, token=self.lease.fencing_token
        )
        with self.file.open("ab", buffering=0) as file:
            file.write(interval.model_dump_json().encode() + b"\n")


async def claim_machine(client: BridgeClient, name: str) -> Lease:
    """A machine that answers."""
    return await client.allocate(image="desktop", holder=name, ttl=LEASE_SECONDS, wait=LOSS_SECONDS)


async def _measure_loss(placed: Cluster, folder: Path) -> tuple[list[float], list[float], list[float]]:
    """How long claims took, and after a node's end each holder there until it had another machine, and until it heard
    of it (ms)."""
    async with BridgeClient(placed.fleet.url, placed.fleet.secret) as client:
        claims = [await _time_claim(client) for _ in range(CLAIMS)]
        holders = []
        for number in range(HOLDERS):
            lease = await claim_machine(client, f"holder-{number}")
            holders.append(LeaseHolder(client, f"holder-{number}", folder / f"ray-believed-{number}", lease))
            holders[-1].record_interval(lease.expires_at.timestamp())
        async with in_background(*(holder.hold() for holder in holders)):
            await asyncio.sleep(RECOVERY_PAUSE_SECONDS)
            killed, heard = await _end_node(client, placed, holders, freeze=False)
            frozen, _ = await _end_node(client, placed, holders, freeze=True)
            await asyncio.sleep(RECOVERY_PAUSE_SECONDS)
    print_progress(f"a frozen node's machines were replaced after {max(frozen) / 1000:.1f} s")
    return claims, killed, heard


def _without_replacement(lost: list[LeaseHolder]) -> list[str]:
    """Those who have not replaced the machine they lost."""
    return [holder.name for holder in lost if not holder.replaced.is_set()]


async def _time_claim(client: BridgeClient) -> float:
    began = time.perf_counter()
    lease = await client.allocate(image="desktop", holder="warm")
    took = (time.perf_counter() - began) * 1000
    await client.release(lease)
    return took


async def _end_node(
    client: BridgeClient, placed: Cluster, holders: list[LeaseHolder], *, freeze: bool
) -> tuple[list[float], list[float]]:
    """End the node that most machines in use are on."""
    host_of = {machine.id: machine.host for machine in await client.fleet.machines()}
    hosts = placed.hosts()
    by_node: dict[str, list[LeaseHolder]] = {}
    for holder in holders:
        by_node.setdefault(hosts[host_of[holder.lease.machine_id]], []).append(holder)
    node, lost = max(by_node.items(), key=lambda each: len(each[1]))
    late = [(holder, holder.lease) for holder in lost]
    for holder in lost:
        holder.event_times.clear()
        holder.replaced.clear()
    began = time.monotonic()
    with placed.frozen(node) if freeze else contextlib.nullcontext():
        if not freeze:
            placed.kill(node)
        await wait_until(
            lambda: not _without_replacement(lost),
            LOSS_SECONDS,
            lambda: f"{_without_replacement(lost)} hold another machine",
        )
    for holder, lease in late:  # whoever wakes there must let nobody in
        with contextlib.suppress(BridgeError):
            await holder.client.machine(lease).skip_settle()
    recovered = [round((holder.event_times[1] - began) * 1000, 1) for holder in lost]
    return recovered, [round((holder.event_times[0] - began) * 1000, 1) for holder in lost]
