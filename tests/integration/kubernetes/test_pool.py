"""Pods behind a whole bridge: the warm pool, leases and fencing of every machine, and replacement between leases."""

from pathlib import Path
from typing import Any

import pytest

from protocol.actions.types import ReadFile, WriteFile
from tests.integration.bridge.conftest import RunningBridge
from tests.integration.bridge.conftest import bridge as bridge
from tests.integration.bridge.conftest import bridge_redis as bridge_redis
from tests.integration.bridge.conftest import client as client
from tests.integration.bridge.conftest import private_redis as private_redis
from tests.integration.kubernetes.machines import MARKS, POD, pod_host
from tests.waiting import eventually
from vm_bridge.api.client import BridgeClient
from vm_bridge.errors import MachineGone, PodImageUnavailable, StaleLease
from vm_bridge.hosts.kubernetes.host import KubernetesHost
from vm_bridge.simulators.kubernetes.cluster import Cluster

pytestmark = list(MARKS)


@pytest.fixture
def fake_host(cluster: Cluster, data: Path) -> KubernetesHost:
    """Machines of the bridge under test: pods."""
    return pod_host(data / "pool", cluster)


@pytest.fixture
def bridge_settings() -> dict[str, Any]:
    return {"warm_pool": {POD: 1}, "max_machines": 2}


async def test_a_lease_ends_with_its_pod_and_the_next_one_finds_nothing_of_it(
    bridge: RunningBridge, client: BridgeClient, cluster: Cluster
) -> None:
    await eventually(lambda: cluster.node.running >= 1)
    first = await client.allocate(image=POD, holder="first", wait=60)
    done = await client.machine(first).perform("command-1", WriteFile(path="a.txt", text="mine"))
    assert done.error is None
    used = {pod["metadata"]["name"] for pod in cluster.pods()}
    await client.release(first)
    with pytest.raises((StaleLease, MachineGone)):
        await client.machine(first).observe()
    second = await client.allocate(image=POD, holder="second", wait=60)
    machine = client.machine(second)
    done = await machine.perform("command-2", ReadFile(path="a.txt"))
    assert done.error is not None
    assert {pod["metadata"]["name"] for pod in cluster.pods()} != used


async def test_the_holder_of_an_evicted_pod_is_told_and_gets_another(
    bridge: RunningBridge, client: BridgeClient, cluster: Cluster, data: Path
) -> None:
    lease = await client.allocate(image=POD, holder="first", wait=60)
    await client.machine(lease).observe()
    for pod in cluster.pods():
        cluster.end(pod["metadata"]["name"], {"reason": "Evicted"})
    with pytest.raises(MachineGone):
        await client.machine(lease).observe()
    again = await client.allocate(image=POD, holder="second", wait=60)
    assert (await client.machine(again).observe()).width == 1280


async def test_a_claim_is_told_the_code_of_what_the_cluster_refuses(
    bridge: RunningBridge, client: BridgeClient, cluster: Cluster
) -> None:
    await eventually(lambda: cluster.node.running == 2)  # a free machine, and the pod that stands ready
    cluster.node.images.clear()
    for pod in cluster.pods():
        cluster.end(pod["metadata"]["name"], {"reason": "Evicted"})
    with pytest.raises(PodImageUnavailable, match="ImagePullBackOff"):
        await client.allocate(image=POD, holder="first", wait=60)
