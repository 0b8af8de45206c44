"""One Ray cluster for all tests of a run that place hosts."""

from collections.abc import Iterator

import pytest

from benchmarks.parts.ray_cluster import Cluster, cluster
from tests.integration.bridge.conftest import SECRET

NODES, MACHINES = 3, 4
GROUP = "ray"
"""They run one after another, in one process: the cluster is one, and its nodes do not come back."""
MARKS = (pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group(GROUP))


@pytest.fixture(scope="session")
def placed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three nodes with a host each, of painted machines."""
    folder = tmp_path_factory.mktemp("r")
    settings = {"PILOTHOUSE_MACHINES": "fake", "PILOTHOUSE_SECRET": SECRET}
    with cluster(folder, nodes=NODES, machines=MACHINES, warm={"desktop": 6}, settings=settings) as running:
        yield running
