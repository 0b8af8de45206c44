"""One Ray cluster for all tests of a run that need one, wherever they are."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from benchmarks.parts.ray_cluster.cluster import Cluster, run_cluster
from tests.integration.bridge.conftest import SECRET

NODES, MACHINES = 3, 4
GROUP = "ray"
"""They run one after another, in one process: the cluster is one, and its nodes do not come back."""
MARKS = (pytest.mark.slow, pytest.mark.timeout(900), pytest.mark.xdist_group(GROUP))
RUNNING = ExitStack()


@pytest.fixture(scope="session")
def placed() -> Iterator[Cluster]:
    """Three nodes with a host each, of painted machines. Each module that imports this has a fixture of its own, and
    all have the same cluster."""
    yield started()
    RUNNING.close()


@cache
def started() -> Cluster:
    """The cluster, started by who asks first."""
    folder = Path(RUNNING.enter_context(tempfile.TemporaryDirectory(prefix="pilothouse-")))
    settings = {"PILOTHOUSE_MACHINES": "fake", "PILOTHOUSE_SECRET": SECRET}
    return RUNNING.enter_context(
        run_cluster(folder, nodes=NODES, machines=MACHINES, warm={"desktop": 6}, settings=settings)
    )
