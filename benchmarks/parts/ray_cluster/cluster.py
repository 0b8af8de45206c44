"""A pool over a Ray cluster of several nodes on this machine: Redis, a manager, nodes, and what places hosts there."""

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.install.extra_environments import ensure_ray
from annotation_app.operations.runtime.ports import free_ports
from annotation_app.operations.runtime.redis import Redis
from annotation_app.operations.runtime.stack import ROOT
from benchmarks.parts.leases.simulated_fleet import SimulatedFleet, count_free_machines, port_is_open, run_process
from benchmarks.parts.processes import descendant_pids
from benchmarks.parts.waiting import log_tail, read_line, wait_for
from vm_bridge.cluster.placement import HostPlacement

READY_SECONDS = 300.0
NODES_SECONDS = 900.0
"""Longest until all nodes have started: Ray gives each half a minute, five times."""
STOP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Cluster:
    """The pool, the cluster below it, and the process of each node that all others of the node depend on."""

    fleet: SimulatedFleet
    address: str
    nodes: Mapping[str, int]
    environment: Mapping[str, str]
    """What a program needs that speaks to the pool or the cluster."""

    def hosts(self) -> dict[str, str]:
        """The placed hosts that the ledger knows, each with the node it is on."""
        found = {}
        for host in self.fleet.get("hosts"):
            name = str(host["id"])
            if place := HostPlacement.read(name):
                found[name] = next(node for node in self.nodes if node.startswith(place.node))
        return found

    def kill(self, node: str) -> None:
        """A node with all that runs on it is no more, as when its power fails."""
        _signal(self._processes(node), signal.SIGKILL)

    @contextlib.contextmanager
    def frozen(self, node: str) -> Iterator[None]:
        """A node stands still with all that runs on it, as when its network fails, while the block runs."""
        processes = self._processes(node)
        _signal(processes, signal.SIGSTOP)
        try:
            yield
        finally:
            _signal(processes, signal.SIGCONT)

    def _processes(self, node: str) -> list[int]:
        first = self.nodes[node]
        return [first, *descendant_pids(first)]


@contextlib.contextmanager
def run_cluster(
    folder: Path, *, nodes: int, machines: int, warm: Mapping[str, int], settings: Mapping[str, str]
) -> Iterator[Cluster]:
    """A host with room for so many machines on each node; as many as `warm` says stand ready when the block begins."""
    python = str(ensure_ray(Console(sys.stderr)))
    folder.mkdir(parents=True, exist_ok=True)
    redis_port, manager_port = free_ports(2)
    redis = Redis(folder / "redis", redis_port, secrets.token_hex(8))
    redis.create()
    secret, journal = settings.get("PILOTHOUSE_SECRET", secrets.token_hex(16)), folder / "journal"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "RAY_USAGE_STATS_ENABLED": "0",
        # Off, Ray takes the loopback for the address of a node, here too.
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "PILOTHOUSE_SECRET": secret,
        "PILOTHOUSE_REDIS_URL": redis.url,
        "PILOTHOUSE_DATA": str(folder),
        "PILOTHOUSE_FAKE_MACHINE_LOG": str(journal),
        "PILOTHOUSE_MAX_MACHINES": str(machines),
        **settings,
    }
    manager = {
        **environment,
        "PILOTHOUSE_ROLE": "manager",
        "PILOTHOUSE_WARM_POOL": json.dumps(warm),
        "PILOTHOUSE_BRIDGE_BIND": f"127.0.0.1:{manager_port}",
    }
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(run_process(redis.program().command, dict(os.environ), folder / "redis.log"))
        wait_for(lambda: port_is_open(redis_port), READY_SECONDS, "Redis listens", {folder / "redis.log": store})
        # Ray's sockets have long names, and the path of a socket has at most 107 letters.
        short = stack.enter_context(tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True))
        environment["RAY_TMPDIR"] = short
        bridge = (sys.executable, "-m", "vm_bridge")
        process = stack.enter_context(run_process(bridge, manager, folder / "manager.log"))
        address, found = stack.enter_context(_nodes(python, nodes, environment, folder / "nodes.log"))
        place = (python, "-m", "vm_bridge.cluster", "--ray", address, "--hosts", str(nodes), "--cpus", "1")
        placing = stack.enter_context(run_process(place, environment, folder / "cluster.log"))
        url = f"http://127.0.0.1:{manager_port}"
        fleet = SimulatedFleet(url, secret, redis.url, journal, process.pid)
        wait_for(
            lambda: count_free_machines(fleet) >= sum(warm.values()) and len(fleet.get("hosts")) == nodes,
            READY_SECONDS, f"{nodes} hosts are placed and {sum(warm.values())} machines are free",
            {folder / "redis.log": store, folder / "manager.log": process, folder / "cluster.log": placing},
        )  # fmt: skip
        yield Cluster(fleet, address, found, environment)


@contextlib.contextmanager
def _nodes(python: str, count: int, environment: Mapping[str, str], log: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """The cluster's address and its nodes."""
    command = (python, "-m", "benchmarks.parts.ray_cluster.nodes", str(count))
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command, env=environment, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
        )
    try:
        try:
            told = json.loads(read_line(process, "{", NODES_SECONDS))
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {log_tail(log)}") from None
        yield told["address"], told["nodes"]
    finally:
        try:
            process.communicate(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            _signal([*descendant_pids(process.pid), process.pid], signal.SIGKILL)
            process.wait()


def _signal(processes: list[int], number: signal.Signals) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
