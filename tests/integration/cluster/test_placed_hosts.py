"""Hosts that Ray placed: where they are, and what their holders hear when a bridge, a node or the network dies."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from benchmarks.parts.processes import command_line, descendant_pids
from benchmarks.parts.ray_cluster.cluster import Cluster
from protocol.actions.types import TypeText
from tests.integration.cluster.cluster_helpers import MACHINES, MARKS, NODES
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import BridgeError, MachineGone
from vm_bridge.machine import Lease
from vm_bridge.simulators.fake.call_log import read_entries

pytestmark = list(MARKS)
BRIDGE = b"\0vm_bridge\0"
"""In the command line of a bridge."""
SECONDS = 240.0
"""Longest that a host may take to be there again, on a machine where everything waits for everything."""


async def claim(client: BridgeClient, holder: str) -> Lease:
    """A machine that answers its holder."""
    lease = await client.allocate(image="desktop", holder=holder, ttl=600, wait=60)
    await client.machine(lease).observe()
    return lease


async def claim_on(client: BridgeClient, cluster: Cluster, count: int) -> tuple[str, list[Lease]]:
    """So many machines; the node that has the first of them, and those it has."""
    leases = [await claim(client, f"holder-{number}") for number in range(count)]
    host_of = {machine.id: machine.host for machine in await client.fleet.machines()}
    host = host_of[leases[0].machine_id]
    return cluster.hosts()[host], [lease for lease in leases if host_of[lease.machine_id] == host]


async def wait_until_rejected(client: BridgeClient, leases: list[Lease]) -> str:
    """Returns when every renewal is refused: the reason, which is one."""
    while True:
        renewals = await client.renew_many(leases, ttl=600)
        if all(renewal.code for renewal in renewals):
            break
        await asyncio.sleep(0.05)
    assert {renewal.code for renewal in renewals} == {MachineGone.code}
    return str(renewals[0].message)


async def test_each_node_has_a_host_and_is_where_its_machines_are_called(placed: Cluster, client: BridgeClient) -> None:
    assert len(set(placed.hosts().values())) == NODES
    urls = {host.id: host.url for host in await client.fleet.hosts()}
    lease = await claim(client, "first")
    (machine,) = [machine for machine in await client.fleet.machines() if machine.id == lease.machine_id]
    assert lease.host_url == urls[machine.host]
    done = await client.machine(lease).perform("command-1", TypeText(text="a"))
    assert done.error is None


async def test_a_bridge_that_is_killed_comes_again_under_its_name_and_address(
    placed: Cluster, client: BridgeClient
) -> None:
    node, leases = await claim_on(client, placed, 1)
    before = {host.id: (host.url, host.last_seen) for host in await client.fleet.hosts()}
    (bridge,) = [pid for pid in descendant_pids(placed.nodes[node]) if BRIDGE in command_line(pid)]
    os.kill(bridge, signal.SIGKILL)
    async with asyncio.timeout(SECONDS):
        refusal = await wait_until_rejected(client, leases)
    assert "did not outlive its bridge" in refusal  # painted machines are part of it
    assert {host.id: host.url for host in await client.fleet.hosts()} == {id: url for id, (url, _) in before.items()}
    await claim(client, "next")


async def test_a_bridge_that_could_not_be_started_is_started_as_soon_as_it_can(
    placed: Cluster, client: BridgeClient
) -> None:
    node, _ = await claim_on(client, placed, 1)
    (name,) = [host for host, on in placed.hosts().items() if on == node]

    def bridges() -> list[int]:
        return [pid for pid in descendant_pids(placed.nodes[node]) if BRIDGE in command_line(pid)]

    def denied() -> bool:
        logs = Path(placed.environment["RAY_TMPDIR"]).glob("**/worker-*.err")
        return any("Is a directory" in log.read_text(errors="replace") for log in logs)

    def heard() -> bool:
        found = {host["id"]: str(host["last_seen"]) for host in placed.fleet.get("hosts")}
        return datetime.fromisoformat(found[name]) > since

    (bridge,) = bridges()
    with unstartable(bridge):
        os.kill(bridge, signal.SIGKILL)
        await eventually(denied, SECONDS)
        assert bridges() == []
    since = datetime.now(UTC)
    await eventually(bridges, SECONDS)
    await eventually(heard, SECONDS)


async def test_a_node_that_dies_takes_its_leases_and_new_claims_land_elsewhere(
    placed: Cluster, client: BridgeClient
) -> None:
    node, lost = await claim_on(client, placed, MACHINES + 1)
    placed.kill(node)
    async with asyncio.timeout(SECONDS):
        assert "died" in await wait_until_rejected(client, lost)
        again = [await claim(client, f"again-{number}") for number in range(len(lost))]
    assert not {lease.machine_id for lease in again} & {lease.machine_id for lease in lost}
    assert node not in placed.hosts().values()
    gone = {loss.machine_id for loss in await client.fleet.losses()}
    assert {lease.machine_id for lease in lost} <= gone
    for lease in lost:
        with pytest.raises(BridgeError):
            await client.machine(lease).observe()
    # Ray starts the host again where there is room.
    await eventually(lambda: len(placed.hosts()) == NODES, SECONDS)


async def test_a_node_that_wakes_after_it_was_given_up_lets_nobody_act(placed: Cluster, client: BridgeClient) -> None:
    node, lost = await claim_on(client, placed, 2)
    before = admitted(placed, lost)
    assert before, "each looked when it was claimed"
    with placed.frozen(node):
        async with asyncio.timeout(SECONDS):
            assert "died" in await wait_until_rejected(client, lost)
            await claim(client, "elsewhere")
    for lease in lost:
        with pytest.raises(BridgeError):
            await client.machine(lease).perform("command-9", TypeText(text="late"))
    assert admitted(placed, lost) == before


@contextmanager
def unstartable(bridge: int) -> Iterator[None]:
    """The system denies the next bridge something while the block runs, as a disk does that is full."""
    environment = Path(f"/proc/{bridge}/environ").read_text().split("\0")
    (data,) = [word for word in environment if word.startswith("PILOTHOUSE_DATA=")]
    note = Path(data.removeprefix("PILOTHOUSE_DATA="), "port")
    aside = note.rename(note.with_name("port.aside"))
    note.mkdir()
    try:
        yield
    finally:
        note.rmdir()
        aside.rename(note)


def admitted(cluster: Cluster, leases: list[Lease]) -> int:
    """How many calls under these leases reached a machine."""
    tokens = {lease.fencing_token for lease in leases}
    return sum(entry.token in tokens and entry.event == "admitted" for entry in read_entries(cluster.fleet.journal))
