"""Many hosts and the web tier: `./pilothouse bench hosts`.

One JSON object is the last line; docs/guides/operator/scaling.md says what its keys
mean. What this machine cannot run is null.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from annotation_app.operations.console import Console
from annotation_app.operations.errors import OperationsError
from annotation_app.operations.install.extra_environments import ensure_ray
from benchmarks.parts import nginx
from benchmarks.parts.failover import web_processes
from benchmarks.parts.figures import print_figures, print_progress
from benchmarks.parts.hosts import containers, osworld, virtual_machines
from benchmarks.parts.ray_cluster import node_loss

NOT_MEASURED = (
    "qemu_loadvm_ms",
    "docker_ready_ms",
    "ray_claim_p50_ms",
    "ray_node_loss_double_leases",
    "ray_node_loss_recovery_ms",
    "osworld_task_ok",
    "web_failover_ms",
    "web_failover_lost_steps",
)
"""Every figure, until something below measures it."""


def main() -> int:
    argparse.ArgumentParser(description=__doc__).parse_args()
    figures: dict[str, object] = dict.fromkeys(NOT_MEASURED)
    if nginx.NGINX is None:
        print_progress("nginx is not installed: the failover of web processes is not measured")
    else:
        print_progress("web processes killed behind nginx")
        with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
            figures |= web_processes.measure(Path(folder))
    print_progress("a node of a Ray cluster killed, another frozen")
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        try:
            ensure_ray(Console(sys.stderr))
        except OperationsError as error:
            print_progress(f"Ray could not be installed, so nothing is measured of it: {error}")
        else:
            figures |= node_loss.measure(Path(folder))
    missing = virtual_machines.missing_requirement()
    if missing is not None:
        print_progress(f"{missing}: no virtual machine is measured")
    else:
        print_progress("a virtual machine put back and kept")
        with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
            figures |= virtual_machines.measure(Path(folder))
    missing = containers.missing_requirement()
    if missing is not None:
        print_progress(f"{missing}: no container is measured")
    else:
        print_progress("desktops in containers made and put back")
        with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
            figures |= containers.measure(Path(folder))
    print_progress("a task file of OSWorld's form played on a simulated guest")
    with tempfile.TemporaryDirectory(prefix="pilothouse-bench-") as folder:
        figures |= osworld.measure(Path(folder))
    return print_figures("hosts", figures)


if __name__ == "__main__":
    sys.exit(main())
