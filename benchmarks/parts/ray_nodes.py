"""A Ray cluster of several nodes on this machine, small and on the loopback, until standard input ends.

`python -m benchmarks.parts.ray_nodes NODES`, in Ray's environment, `RAY_TMPDIR` its folder. One JSON object
comes out: the cluster's address, and of each node its id and the process that all others of it depend on. The head,
which is none of these, has room for nothing.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

CPUS = 2
START_SECONDS = 120
OBJECTS = 100_000_000
"""Bytes; the least that Ray is content with is some 75 MB."""
SOON = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 500, "health_check_timeout_ms": 1000}
MISSES = 4
"""A node that does not answer is dead after so many questions: some seconds where Ray's default is half a minute."""


def main(count: int) -> None:
    data = Path(os.environ["PILOTHOUSE_DATA"])
    limits = {
        "node_ip_address": "127.0.0.1",
        "object_store_memory": OBJECTS,
        "include_dashboard": False,
        "include_log_monitor": False,
    }
    cluster = Cluster()
    cluster.add_node(num_cpus=0, _system_config={**SOON, "health_check_failure_threshold": MISSES}, **limits)
    try:
        nodes = []
        for number in range(count):
            os.environ["PILOTHOUSE_DATA"] = str(data / f"node-{number}")
            nodes.append(cluster.add_node(wait=False, num_cpus=CPUS, **limits))
        cluster.wait_for_nodes(timeout=START_SECONDS)
        print(json.dumps({"address": cluster.address, "nodes": dict(map(node_of, nodes))}), flush=True)
        sys.stdin.read()
    finally:
        cluster.shutdown()


def node_of(node: Any) -> tuple[str, int]:
    """A node's id and its first process."""
    (raylet,) = node.all_processes["raylet"]
    return node.node_id, raylet.process.pid


if __name__ == "__main__":
    main(int(sys.argv[1]))
