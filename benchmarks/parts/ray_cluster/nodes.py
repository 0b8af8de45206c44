"""A Ray cluster of several nodes on this machine, small and on the loopback, until standard input ends.

`python -m benchmarks.parts.ray_cluster.nodes NODES`, in Ray's environment, `RAY_TMPDIR` its folder. One JSON object
comes out: the cluster's address, and of each node its id and the process that all others of it depend on. The head,
which is none of these, has room for nothing.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from ray.cluster_utils import Cluster

from benchmarks.parts.processes import descendant_pids

CPUS = 4
"""What Ray counts, not cores: the last node that is left still has room for tasks beside all hosts."""
MAX_TRIES = 5
OBJECTS = 100_000_000
"""Bytes; the least that Ray is content with is some 75 MB."""
HEALTH = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 5000,
    "health_check_failure_threshold": 4,
}
"""Ray counts a node whose connection broke as dead after two seconds, and one that hangs after twenty. By default it
asks every three seconds, five times, and waits ten for each answer."""


def main(count: int) -> None:
    data = Path(os.environ["PILOTHOUSE_DATA"])
    limits = {
        "node_ip_address": "127.0.0.1",
        "object_store_memory": OBJECTS,
        "include_dashboard": False,
        "include_log_monitor": False,
    }
    cluster = Cluster()
    try:
        add_node(cluster, num_cpus=0, _system_config=HEALTH, **limits)
        nodes = []
        for number in range(count):
            os.environ["PILOTHOUSE_DATA"] = str(data / f"node-{number}")
            nodes.append(add_node(cluster, num_cpus=CPUS, **limits))
        print(json.dumps({"address": cluster.address, "nodes": dict(map(node_of, nodes))}), flush=True)
        sys.stdin.read()
    finally:
        cluster.shutdown()


def add_node(cluster: Cluster, **settings: object) -> Any:
    """One node more. Ray gives up on one that has not started after half a minute, which a busy machine may need."""
    for _ in range(MAX_TRIES - 1):
        others = set(descendant_pids(os.getpid()))
        try:
            return cluster.add_node(wait=False, **settings)
        except Exception as error:  # noqa: BLE001  Ray raises no narrower one
            print(f"once more: {error}", file=sys.stderr)
            for pid in set(descendant_pids(os.getpid())) - others:
                os.kill(pid, signal.SIGKILL)
    return cluster.add_node(wait=False, **settings)


def node_of(node: Any) -> tuple[str, int]:
    """A node's id and its first process."""
    (raylet,) = node.all_processes["raylet"]
    return node.node_id, raylet.process.pid


if __name__ == "__main__":
    main(int(sys.argv[1]))
