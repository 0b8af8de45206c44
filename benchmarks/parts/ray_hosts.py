"""A pool over a Ray cluster: how long a claim takes, and what a node's death costs those who hold its machines."""

import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.parts.beliefs import Belief, barred, beliefs, fallen, shared
from benchmarks.parts.concurrency import in_background
from benchmarks.parts.figures import percentile, say
from benchmarks.parts.ray_cluster import Cluster, cluster
from benchmarks.parts.waiting import until
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, MachineGone
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.call_log import read_entries

NODES, MACHINES, HOLDERS = 3, 8, 9
CLAIMS = 200
TTL = 60.0
LOSS_SECONDS = 120.0
"""Longest until everybody who lost a machine holds another."""
PAUSE = 0.02
BREATH = 3.0
"""How long all hold their machines before and after a node dies (seconds)."""


def measure(folder: Path) -> dict[str, object]:
    """Claims through the typed client; a node killed and another frozen while all their machines are in use."""
    settings = {"PILOTHOUSE_MACHINES": "fake"}
    with cluster(
        folder / "ray", nodes=NODES, machines=MACHINES, warm={"desktop": HOLDERS}, settings=settings
    ) as placed:
        claims, losses, told = asyncio.run(_measured(placed, folder))
        seen = read_entries(placed.fleet.journal)
    held = beliefs(folder.glob("ray-believed-*"))
    double = shared(held) + fallen(seen) + barred(seen, held)
    say(f"{len(held)} leases, {len(losses)} lost with their nodes, {double} doubly held")
    return {
        "ray_claim_p50_ms": percentile(claims, 0.5),
        "ray_claim_p99_ms": percentile(claims, 0.99),
        "ray_node_loss_leases": len(losses),
        "ray_node_loss_double_leases": double,
        "ray_node_loss_told_ms": max(told),
        "ray_node_loss_recovery_ms": max(losses),
    }


@dataclass(slots=True)
class Holder:
    """One who holds a machine all the time, and another as soon as the first is lost."""

    client: BridgeClient
    name: str
    file: Path
    lease: Lease
    told: list[float] = field(default_factory=list)
    """When it heard that its machine is gone, and when the next one answered it (seconds)."""
    replaced: asyncio.Event = field(default_factory=asyncio.Event)

    async def hold(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                self.lease = await self.client.renew(self.lease, ttl=TTL)
                self.believe(self.lease.expires_at.timestamp())
            except MachineGone:
                self.believe(time.time())
                self.told.append(time.monotonic())
                await self.claim()
                self.told.append(time.monotonic())
                self.replaced.set()
            await asyncio.sleep(PAUSE)

    async def claim(self) -> None:
        """Another machine, that answers."""
        self.lease = await claimed(self.client, self.name)
        self.believe(self.lease.expires_at.timestamp())

    def believe(self, until: float) -> None:
        """Write down that the machine is ours."""
        belief = Belief(at=time.time(), until=until, machine=self.lease.machine_id, token=self.lease.fencing_token)
        with self.file.open("ab", buffering=0) as file:
            file.write(belief.model_dump_json().encode() + b"\n")


async def claimed(client: BridgeClient, name: str) -> Lease:
    """A machine that answers."""
    return await client.allocate(image="desktop", holder=name, ttl=TTL, wait=LOSS_SECONDS)


async def _measured(placed: Cluster, folder: Path) -> tuple[list[float], list[float], list[float]]:
    """How long claims took, and after a node's end each holder there until it had another machine, and until it heard
    of it (ms)."""
    async with BridgeClient(placed.fleet.url, placed.fleet.secret) as client:
        claims = [await _claim(client) for _ in range(CLAIMS)]
        holders = []
        for number in range(HOLDERS):
            lease = await claimed(client, f"holder-{number}")
            holders.append(Holder(client, f"holder-{number}", folder / f"ray-believed-{number}", lease))
            holders[-1].believe(lease.expires_at.timestamp())
        async with in_background(*(holder.hold() for holder in holders)):
            await asyncio.sleep(BREATH)
            killed, heard = await _ended(client, placed, holders, freeze=False)
            frozen, _ = await _ended(client, placed, holders, freeze=True)
            await asyncio.sleep(BREATH)
    say(f"a frozen node's machines were replaced after {max(frozen) / 1000:.1f} s")
    return claims, killed, heard


def _waiting(lost: list[Holder]) -> list[str]:
    """Those who have not replaced the machine they lost."""
    return [holder.name for holder in lost if not holder.replaced.is_set()]


async def _claim(client: BridgeClient) -> float:
    began = time.perf_counter()
    lease = await client.allocate(image="desktop", holder="warm")
    took = (time.perf_counter() - began) * 1000
    await client.release(lease)
    return took


async def _ended(
    client: BridgeClient, placed: Cluster, holders: list[Holder], *, freeze: bool
) -> tuple[list[float], list[float]]:
    """End the node that most machines in use are on."""
    host_of = {machine.id: machine.host for machine in await client.fleet.machines()}
    hosts = placed.hosts()
    by_node: dict[str, list[Holder]] = {}
    for holder in holders:
        by_node.setdefault(hosts[host_of[holder.lease.machine_id]], []).append(holder)
    node, lost = max(by_node.items(), key=lambda each: len(each[1]))
    late = [(holder, holder.lease) for holder in lost]
    for holder in lost:
        holder.told.clear()
        holder.replaced.clear()
    began = time.monotonic()
    with placed.frozen(node) if freeze else contextlib.nullcontext():
        if not freeze:
            placed.kill(node)
        await until(lambda: not _waiting(lost), LOSS_SECONDS, lambda: f"{_waiting(lost)} hold another machine")
    for holder, lease in late:  # whoever wakes there must let nobody in
        with contextlib.suppress(BridgeError):
            await holder.client.machine(lease).skip_settle()
    recovered = [round((holder.told[1] - began) * 1000, 1) for holder in lost]
    return recovered, [round((holder.told[0] - began) * 1000, 1) for holder in lost]
