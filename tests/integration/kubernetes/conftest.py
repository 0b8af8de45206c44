"""A simulated cluster for all tests of this folder, and hosts over it."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.integration.kubernetes.machines import pod_host, pod_settings, role_verbs, running_cluster
from vm_bridge.hosts.kubernetes.host import KubernetesHost
from vm_bridge.simulators.kubernetes.cluster import Cluster

MakeHost = Callable[..., KubernetesHost]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def shared_cluster(data: Path) -> Iterator[Cluster]:
    """Whose role is that of the manifests."""
    with running_cluster(data, role_verbs()) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Iterator[Cluster]:
    """Without a fault."""
    images = dict(shared_cluster.node.images)
    yield shared_cluster
    shared_cluster.node.images.update(images)
    shared_cluster.away, shared_cluster.quota, shared_cluster.busy = False, None, 0
    shared_cluster.node.full = shared_cluster.brief = False
    shared_cluster.verbs = role_verbs()


@pytest_asyncio.fixture
async def make_host(cluster: Cluster, data: Path) -> AsyncIterator[MakeHost]:
    """Makes bridge hosts by name, and ends them."""
    hosts: list[KubernetesHost] = []

    def make(name: str = "h1", **settings: Any) -> KubernetesHost:
        hosts.append(pod_host(data / name, cluster, pod_settings(name, **settings)))
        return hosts[-1]

    yield make
    cluster.away = False
    for host in hosts:
        await host.close()
